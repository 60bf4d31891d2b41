"""Every program of examples/ runs as its first lines say: with MoDe, less of the mass is to be seen.

What pages show of their output is what they print. The macros of examples/root are tested in tests/root, the recipes and weaver in tests/recipes, salt in tests/salt.
"""

import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from programs import run
from shown import shown_blocks

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DOCS = EXAMPLES.with_name("docs")
PYTHON = ["train_classes.py", "train_jax.py", "train_keras.py", "train_numpy.py", "train_pytorch.py"]
COMPILERS = {".c": ["-std=c99", "CC", "cc", "-lm"], ".cpp": ["-std=c++11", "CXX", "c++"]}
TRAININGS = [*PYTHON, "train.c", "train.cpp", "go/main.go"]
SLOW = ["train_classes.py", "train_keras.py"]
PROGRAMS = ["analysis.py", "fairness.py", *TRAININGS]
# What ROOT's SOFIE reads in the versions that have no Swish.
SOFIE = {"Gemm", "MatMul", "Add", "Mul", "Sigmoid", "Relu", "Tanh"}


def test_all_are_tested_and_listed():
    files = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.*") if "__pycache__" not in path.parts}
    assert {name for name in files if not name.startswith(("root/", "recipes/", "salt/", "weaver/"))} == {
        "README.md",
        *PROGRAMS,
    }
    listed = re.findall(r"\]\(([\w/.]+)\) \| ", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == sorted([*PROGRAMS, "recipes", "root", "salt", "weaver"])


def compiled(name, directory):
    """What a program in C, C++ or Go prints, compiled as the documents say."""
    if name.endswith(".go"):
        return run("go", "run", f"./examples/{Path(name).parent}", cwd=EXAMPLES.parent)
    standard, variable, default, *more = COMPILERS[Path(name).suffix]
    compiler = [*shlex.split(os.environ.get(variable, default)), standard, "-Wall", "-Wextra", "-Werror"]
    flags = shlex.split(run(Path(sys.executable).with_name("libmode-config"), "--cflags", "--libs"))
    run(*compiler, EXAMPLES / name, *flags, *more, "-o", directory / "program")
    return run(directory / "program")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in TRAININGS])
def test_it_runs(name, tmp_path):
    printed = run(sys.executable, "-W", "error", EXAMPLES / name) if name in PYTHON else compiled(name, tmp_path)
    heads = re.findall(r"^(strength +\d+|without MoDe|with MoDe): ", printed, re.MULTILINE)
    assert len(heads) == 2 and heads[0] == "without MoDe" or heads[0].split() == ["strength", "0"]
    seen = [abs(float(number)) for number in re.findall(r"(?:residual|MoDe) (-?[\d.]+)", printed)]
    without, with_mode = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert without and all(after < before / 2 for before, after in zip(without, with_mode, strict=True))


@pytest.mark.full
def test_the_analysis_runs_to_its_end(tmp_path):
    """With few events; what the page shows is its output with all of them, so that the words are the same."""
    import onnx

    printed = run(sys.executable, EXAMPLES / "analysis.py", "5000", cwd=tmp_path)
    assert (tmp_path / "analysis.png").stat().st_size > 10_000
    differs = float(re.search(r"differs by at most (\S+)", printed)[1])
    assert differs < 1e-5
    model = onnx.load(tmp_path / "network.onnx")
    assert {opset.version for opset in model.opset_import if not opset.domain} < set(range(1, 24))
    assert {node.op_type for node in model.graph.node} <= SOFIE
    page = (DOCS / "analysis.md").read_text()
    shown, words = "".join(shown_blocks(page)), re.compile(r"[-+]?[\d.]+(e-\d+)?f?")
    assert words.sub("#", printed).split() == words.sub("#", shown).split()
