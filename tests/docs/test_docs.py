"""Every Python, C and Go block of README.md and docs/ runs as written, and every program and command of docs/cpp.md.

A block that is marked as text, after one of Python, is what that one prints.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from libmode import prefix
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


def run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_table_of_options_is_that_of_the_package():
    subprocess.run([sys.executable, ROOT / "docs" / "write_options.py", "--check"], check=True)


@pytest.mark.parametrize("block", blocks("python"))
def test_python_block(block, tmp_path):
    of_joblib = "ignore:Could not find the number of physical cores"  # on a machine without lscpu
    printed = run([sys.executable, "-W", "error", "-W", of_joblib, "-c", block], tmp_path)
    page = next(text for text in (page.read_text() for page in PAGES) if block in text)
    shown = shown_after(page, block)
    if shown is not None:
        assert_alike(printed, shown)


@pytest.mark.parametrize("block", blocks("c"))
def test_c_block(block, tmp_path):
    (tmp_path / "block.c").write_text(block)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", *shlex.split(prefix.cflags())]
    run([*compiler, *flags, "block.c", *shlex.split(prefix.libs()), "-o", "block"], tmp_path)
    assert "loss" in run(["./block"], tmp_path)


@pytest.mark.parametrize("block", blocks("go"))
def test_go_block(block, tmp_path):
    (tmp_path / "main.go").write_text(block)
    assert "loss" in run(["go", "run", tmp_path / "main.go"], ROOT)


class CppPage:
    """docs/cpp.md in a directory: its programs in files of their own names, its commands to be run there."""

    def __init__(self, directory):
        self.directory = directory
        self.text = (ROOT / "docs" / "cpp.md").read_text()
        found = re.findall(r"```(\w+)\n(.*?)```", self.text, re.DOTALL)
        self.commands = [block for language, block in found if language == "sh"]
        self.programs = {self.name_of(block): block for language, block in found if language not in ("sh", "go")}
        for name, block in self.programs.items():
            (directory / name).write_text(block)
        # The page's names for the compilers, whichever they are, and for this package's command.
        self.alias("cc", os.environ.get("CC", "cc"))
        self.alias("c++", os.environ.get("CXX", "c++"))
        self.alias("libmode-config", f"{sys.executable} -m libmode.prefix")

    def alias(self, name, command):
        program, *arguments = shlex.split(command)
        link = self.directory / "bin" / name
        link.parent.mkdir(exist_ok=True)
        link.write_text(f'#!/bin/sh\nexec {shlex.join([shutil.which(program), *arguments])} "$@"\n')
        link.chmod(0o755)

    @staticmethod
    def name_of(block):
        """The file that the first line names."""
        name = re.match(r"\W+([\w.]+)", block)
        assert name, block
        return name[1]

    def run(self, commands):
        path = f"{self.directory / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "CMAKE_GENERATOR": "Ninja"}
        for name in ("CC", "CXX"):
            environment.pop(name, None)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.directory, env=environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_cpp_page(tmp_path):
    page = CppPage(tmp_path)
    assert set(page.programs) == {"loss.c", "train.cpp", "CMakeLists.txt"}
    with_config, with_pkg_config, with_cmake = map(page.run, page.commands)
    assert with_config == with_pkg_config
    assert re.fullmatch(r"loss 0\.\d+\n(-?[\d.e-]+ ){2}0 (-?[\d.e-]+ ){4}-?[\d.e-]+\n", with_config)
    without, with_constraint = [
        tuple(map(float, weights)) for weights in re.findall(r"constraint: weights (\S+) (\S+)", with_cmake)
    ]
    assert abs(with_constraint[1]) < without[1] / 50 and with_constraint[0] > without[0] / 2
    said = re.search("Without the constraint the weight" + 4 * r".*? (\d\.\d+)", page.text, re.DOTALL)
    assert [*without[::-1], *with_constraint[::-1]] == pytest.approx(list(map(float, said.groups())), abs=0.01)
