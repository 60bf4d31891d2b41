"""Every program of examples/ is short, and runs as its first lines say: with MoDe, less of the mass is to be seen.

The macros of examples/root are tested in tests/root.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PYTHON = ["train_jax.py", "train_keras.py", "train_numpy.py", "train_pytorch.py"]
COMPILED = {"train.c": ["-std=c99", "CC", "cc", "-lm"], "train.cpp": ["-std=c++11", "CXX", "c++"]}
PROGRAMS = [*PYTHON, *COMPILED, "go/main.go"]


def output(command, directory=EXAMPLES):
    done = subprocess.run(list(map(str, command)), cwd=directory, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compiled(name, out):
    """Compiles a program of C or C++ as the documents say, and returns the command that runs it."""
    standard, variable, default, *more = COMPILED[name]
    compiler = [*shlex.split(os.environ.get(variable, default)), standard, "-Wall", "-Wextra", "-Werror"]
    flags = shlex.split(output([Path(sys.executable).with_name("libmode-config"), "--cflags", "--libs"]))
    output([*compiler, EXAMPLES / name, *flags, *more, "-o", out])
    return [out]


def test_there_is_one_for_each_language_and_framework():
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.*") if "__pycache__" not in path.parts}
    assert {name for name in files if not name.startswith("root/")} == {"README.md", *PROGRAMS}
    listed = re.findall(r"\]\(([\w/.]+)\) \| ", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == sorted([*PROGRAMS, "root"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_read_in_a_minute(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs(name, tmp_path):
    if name in PYTHON:
        printed = output([sys.executable, "-W", "error", EXAMPLES / name])
    elif name in COMPILED:
        printed = output(compiled(name, tmp_path / "train"))
    else:
        printed = output(["go", "run", "./examples/go"], EXAMPLES.parent)
    assert re.findall(r"^strength +(\d+): ", printed, re.MULTILINE) in (["0", "10"], ["0", "100"])
    without, with_mode = map(float, re.findall(r"(?:residual|MoDe) (-?[\d.]+)", printed))
    assert abs(with_mode) < without / 2
