"""Every Python, C and Go block of README.md and docs/ runs as written, and every program and command of docs/cpp.md.

A block that is marked as text, after one of Python, is what that one prints.
"""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from libmode import prefix
from programs import run
from shown import assert_alike, shown_after

ROOT = Path(__file__).resolve().parents[2]
# But for the one whose programs tests/install/test_newcomer.py runs, in environments of their own.
PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "five-minutes.md"})]


def blocks(language):
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in PAGES
        for number, block in enumerate(re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL), 1)
    ]


def test_the_table_of_options_is_that_of_the_package():
    run(sys.executable, ROOT / "docs" / "write_options.py", "--check")


#: Runs the blocks of a page, each as if it were alone. Importing a framework takes longer than most blocks.
IN_TURN = """
import sys

for number, block in enumerate(sys.argv[1:], 1):
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(67280421310721)  # with which PyTorch begins
    print("\\x1e", end="")
    exec(compile(block, f"block {number}", "exec"), {"__name__": "__main__"})
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page, tmp_path):
    text, of_process = page.read_text(), {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        (framework, *_) = *re.findall(r"import (?:keras|jax|torch|xgboost|lightgbm)\b|libmode\.keras", block), ""
        of_process.setdefault(framework, []).append(block)
    of_joblib = "ignore:Could not find the number of physical cores"  # on a machine without lscpu
    of_trees = "ignore:nothing judges whether the background is flat"  # of few events
    for blocks in of_process.values():
        printed = run(
            sys.executable, "-W", "error", "-W", of_joblib, "-W", of_trees, "-c", IN_TURN, *blocks, cwd=tmp_path
        )
        for block, said in zip(blocks, printed.split("\x1e")[1:], strict=True):
            shown = shown_after(text, block)
            if shown is not None:
                assert_alike(said, shown)


@pytest.mark.parametrize("block", blocks("c"))
def test_c_block(block, tmp_path):
    (tmp_path / "block.c").write_text(block)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", *shlex.split(prefix.cflags())]
    run(*compiler, *flags, "block.c", *shlex.split(prefix.libs()), "-o", "block", cwd=tmp_path)
    assert "loss" in run(tmp_path / "block")


@pytest.mark.parametrize("block", blocks("go"))
def test_go_block(block, tmp_path):
    (tmp_path / "main.go").write_text(block)
    assert "loss" in run("go", "run", tmp_path / "main.go", cwd=ROOT)


def alias(directory, name, command):
    """A program of this name that runs a command."""
    program, *arguments = shlex.split(command)
    (directory / name).write_text(f'#!/bin/sh\nexec {shlex.join([shutil.which(program), *arguments])} "$@"\n')
    (directory / name).chmod(0o755)


def test_cpp_page(tmp_path):
    """The programs of docs/cpp.md, in files of the names in their first lines; and its commands, run beside them."""
    text = (ROOT / "docs" / "cpp.md").read_text()
    found = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
    programs = {re.match(r"\W+([\w.]+)", block)[1]: block for language, block in found if language not in ("sh", "go")}
    programs = {name: block for name, block in programs.items() if not name.endswith(".C")}  # macros: tests/root
    assert set(programs) == {"loss.c", "train.cpp", "CMakeLists.txt"}
    for name, block in programs.items():
        (tmp_path / name).write_text(block)
    # The page's names for the compilers, whichever they are, and for this package's command.
    (tmp_path / "bin").mkdir()
    alias(tmp_path / "bin", "cc", os.environ.get("CC", "cc"))
    alias(tmp_path / "bin", "c++", os.environ.get("CXX", "c++"))
    alias(tmp_path / "bin", "libmode-config", f"{sys.executable} -m libmode.prefix")
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX")}
    environment["PATH"] = f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment["CMAKE_GENERATOR"] = "Ninja"
    with_config, with_cmake = (
        run("bash", "-euo", "pipefail", "-c", block, cwd=tmp_path, env=environment)
        for language, block in found
        if language == "sh"
    )
    assert re.fullmatch(r"loss 0\.\d+\n(-?[\d.e-]+ ){2}0 (-?[\d.e-]+ ){4}-?[\d.e-]+\n", with_config)
    without, with_constraint = [
        tuple(map(float, weights)) for weights in re.findall(r"constraint: weights (\S+) (\S+)", with_cmake)
    ]
    # The law changes the scale of the logits, so the ratio of the weights counts.
    assert abs(with_constraint[1] / with_constraint[0]) < without[1] / without[0] / 4
    said = re.search("Without the constraint the weight" + 4 * r".*? (\d\.\d+)", text, re.DOTALL)
    assert [*without[::-1], *with_constraint[::-1]] == pytest.approx(list(map(float, said.groups())), abs=0.01)
