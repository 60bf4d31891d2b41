"""What CONTRIBUTING.md says of a new option is all that it takes, in a copy of the tree."""

import os
import re
import sys

import pytest
from places import ROOT, copy_of_the_tree
from programs import run

PYTHON = """if True:
    import numpy as np, libmode, pytest, torch
    from libmode.torch import MoDeLoss
    rng = np.random.default_rng(0)
    score, mass = rng.random(1000), rng.exponential(size=1000)
    loss, grad = libmode.mode_loss_and_grad(score, mass, order=0)
    twice, twice_grad = libmode.mode_loss_and_grad(score, mass, order=0, factor=2)
    assert twice == 2 * loss and (twice_grad == 2 * grad).all()
    assert libmode.mode_loss(score, mass, order=0, factor=1) == loss
    for options, error, text in (
        ({"factor": 0}, ValueError, "factor = 0 must be greater than 0"),
        ({"factor": "2"}, TypeError, "factor = '2' must be a number"),
        ({"factor": 2, "loss": "disco"}, TypeError, "unknown option 'factor'"),
    ):
        with pytest.raises(error, match=text):
            libmode.mode_loss(score, mass, **({"order": 0} if "loss" not in options else {}), **options)
    with pytest.raises(ValueError, match="factor = 2.0: on_device = True has no such form"):
        MoDeLoss(order=0, factor=2, on_device=True)
    assert "factor : float" in libmode.mode_loss.__doc__
    assert "factor" in open(f"{libmode.__path__[0]}/../../docs/options.md").read()
"""
CPP = """
#include <mode.hpp>
int main() {
    const double score[] = {0.1, 0.4, 0.3, 0.9}, mass[] = {60, 70, 80, 90};
    const mode::events<double> events({score, 4}, {}, {mass, 4});
    const mode::handle two("bins=2 factor=2"), one("bins=2 factor=1");
    return mode::loss(two, events) == 2 * mode::loss(one, events) ? 0 : 1;
}
"""


def changes():
    """The files of the diff, each with its changes: the text that is there, and what it becomes."""
    (diff,) = re.findall(r"^```diff\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    for name, lines in re.findall(r"^--- (\S+)\n((?:[ +-](?!-- ).*\n)+)", diff, re.MULTILINE):
        for change in re.findall(r"(?:^[ -].*\n)+(?:^\+.*\n)+", lines, re.MULTILINE):
            old, new = (
                "".join(line[1:] + "\n" for line in change.splitlines() if line[0] in signs) for signs in (" -", " +")
            )
            yield name, old, new


@pytest.mark.full
def test_an_option_is_what_contributing_says(tmp_path):
    tree = copy_of_the_tree(tmp_path / "tree")
    build = (tree / "build.sh", "install", "--prefix", tree / "python" / "libmode")
    run(*build, cwd=tree, LIBMODE_VENV=sys.prefix)  # what Go keeps of it must not come back after the changes
    changed = set()
    for name, old, new in changes():
        text = (tree / name).read_text()
        assert text.count(old) == 1, f"{name} has not once:\n{old}"
        (tree / name).write_text(text.replace(old, new))
        changed.add(name)
    assert len(changed) == 5  # the field, the row, the plan, the stage and the sentence for users
    run(sys.executable, "docs/write_options.py", cwd=tree)
    run(*build, cwd=tree, LIBMODE_VENV=sys.prefix)
    assert run(sys.executable, "-c", PYTHON, PYTHONPATH=str(tree / "python")) == ""
    (tmp_path / "factor.cpp").write_text(CPP)
    lib = tree / "python" / "libmode" / "lib"
    compiler = os.environ.get("CXX", "c++").split()
    flags = ["-std=c++11", f"-I{tree / 'include'}", f"-L{lib}", "-lmode", f"-Wl,-rpath,{lib}"]
    run(*compiler, tmp_path / "factor.cpp", *flags, "-o", tmp_path / "factor")
    run(tmp_path / "factor")
