"""The header that QuantileMap writes, compiled and compared with Python."""

import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from libmode.posthoc import QuantileMap
from programs import run

PROGRAM = """\
#include "map.h"
#include "map.h"
#include <cstdio>
#include <vector>

int main(int, char **arguments) {
  std::vector<double> in(%(n)d * (1 + %(d)d)), out(%(n)d);
  std::FILE *file = std::fopen(arguments[1], "rb");
  if (!file || std::fread(in.data(), 8, in.size(), file) != in.size()) return 1;
  for (int i = 0; i < %(n)d; ++i) out[i] = ddt(in[i], &in[%(n)d + i * %(d)d]);
  file = std::fopen(arguments[2], "wb");
  return std::fwrite(out.data(), 8, out.size(), file) == out.size() && !std::fclose(file) ? 0 : 1;
}
"""


def compiler():
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(shlex.split(name)[0]):
            return shlex.split(name)
    return [sys.executable, "-m", "ziglang", "c++"]


CASES = [(None, 1), (0, 1), (2, 1), (16, 1), (None, 2), (0, 3)]


@pytest.mark.parametrize(("order", "variables"), CASES)
@pytest.mark.parametrize("n_fitted", [200, 20_000])
def test_it_returns_what_python_does(order, variables, n_fitted, tmp_path):
    """Also of maps with weights of both signs, which leave H nearly flat: there they once differed by .05."""
    rng = np.random.default_rng(1)
    mass = rng.exponential(1, (n_fitted, variables))
    score = rng.normal(mass.sum(axis=1), 1)
    weight = rng.choice([1.0, -1.0], n_fitted, p=[0.7, 0.3])
    fitted = QuantileMap(order).fit(score, mass, sample_weight=weight)
    fitted.to_cpp(tmp_path / "map.h", "ddt")
    n = 5000
    masses = rng.exponential(1.5, (n, variables))  # some beyond those of the fit
    scores = rng.normal(masses.sum(axis=1), 2)
    np.concatenate([scores, masses.ravel()]).tofile(tmp_path / "in.bin")
    (tmp_path / "main.cpp").write_text(PROGRAM % {"n": n, "d": variables})
    warnings = ["-Wall", "-Wextra", "-Werror"]
    run(*compiler(), "-std=c++11", "-O1", *warnings, "-o", "main", "main.cpp", cwd=tmp_path)
    run(tmp_path / "main", "in.bin", "out.bin", cwd=tmp_path)
    # The numbers of docs/posthoc.md.
    tolerance = 1e-14 if order is None else 1e-9 * np.ptp(score)
    np.testing.assert_allclose(
        np.fromfile(tmp_path / "out.bin"), fitted.transform(scores, masses), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize("name", ["class", "double", "xor", "co_await", "main", "std", "NAN"])
def test_a_name_that_does_not_compile_is_refused(name, tmp_path):
    """The compiler says which."""
    fitted = QuantileMap(1).fit(np.linspace(0, 1, 200), np.linspace(3, 5, 200) ** 2)
    fitted.to_cpp(tmp_path / "map.h", "classes")
    text = (tmp_path / "map.h").read_text()
    for use, is_right in (("classes", True), (name, False)):
        (tmp_path / "map.cpp").write_text(text.replace("classes", use))
        done = subprocess.run(
            [*compiler(), "-std=c++20", "-fsyntax-only", "map.cpp"], cwd=tmp_path, capture_output=True
        )
        assert (done.returncode == 0) is is_right
    with pytest.raises(ValueError, match=f"name = '{name}': has a meaning in C"):
        fitted.to_cpp(tmp_path / "map.h", name)


def test_no_text_of_a_map_is_in_its_header(tmp_path):
    """A line break in what was said to be the order once ended a comment, so that what followed was compiled."""
    fitted = QuantileMap(1).fit(np.linspace(0, 1, 200), np.linspace(3, 5, 200) ** 2)
    with pytest.raises(ValueError, match="name = 'a map': must be a name in C"):
        fitted.to_cpp(tmp_path / "map.h", "a map")
    fitted.to_cpp(tmp_path / "map.h", "ddt")
    header = (tmp_path / "map.h").read_text()
    fitted.order = "1\n#error injected\n//"
    fitted.to_cpp(tmp_path / "map.h", "ddt")
    assert (tmp_path / "map.h").read_text() == header
