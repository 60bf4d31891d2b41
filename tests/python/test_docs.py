"""Every Python and C block of README.md and docs/ runs as written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from libmode import config

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


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


def test_there_are_blocks():
    assert len(blocks("python")) >= 3
    assert len(blocks("c")) >= 1


@pytest.mark.parametrize("block", blocks("python"))
def test_python_block(block, tmp_path):
    run([sys.executable, "-W", "error", "-c", block], tmp_path)


@pytest.mark.parametrize("block", blocks("c"))
def test_c_block(block, tmp_path):
    (tmp_path / "block.c").write_text(block)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", *shlex.split(config.cflags())]
    run([*compiler, *flags, "block.c", *shlex.split(config.libs()), "-o", "block"], tmp_path)
    assert "loss" in run(["./block"], tmp_path)
