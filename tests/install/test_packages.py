"""Commands of build.sh install all that they import: without it a study would fail after hours, when it writes its tables."""

import re
import sys

import pytest
from places import ROOT, linked, run

TEXT = (ROOT / "build.sh").read_text()
FUNCTIONS = TEXT[: TEXT.index("\ncommand=")]
# What a command would install and run, in place of doing so.
RECORDED = """
libmode() { :; }
with_modeloss() { :; }
packages() { :; }
extras() { echo "extras $*"; }
"$@"
"""
STUDIES = re.findall(r"^        (\w+)\) module=", FUNCTIONS, re.MULTILINE)


def recorded(command, directory):
    """The extras that a command installs, and the modules that it runs."""
    python = directory / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "module $2"\n')
    python.chmod(0o755)
    said = run(
        "bash", "-c", FUNCTIONS + RECORDED, ROOT / "build.sh", *command.split(), cwd=ROOT, LIBMODE_VENV=str(directory)
    )
    found = {"extras": [], "module": []}
    for line in said.splitlines():
        kind, *names = line.split()
        found[kind] += names
    return found["extras"], found["module"]


def test_the_studies_are_found():
    usage = re.search(r"usage: ./build.sh studies ([\w|]+)", FUNCTIONS)
    assert set(usage[1].split("|")) | {"wsample"} == set(STUDIES)


@pytest.mark.parametrize("command", ["demo", "bench", *(f"studies {name}" for name in STUDIES)])
def test_a_command_imports_nothing_that_it_does_not_install(command, tmp_path):
    extras, modules = recorded(command, tmp_path / "environment")
    assert extras and modules
    if command == "demo":
        modules = ["studies.simple_model.demo"]  # its package imports nothing, for --help
    needed = run(sys.executable, "packaging/extras.py", *extras, cwd=ROOT).split()
    packages = linked(["numpy", *needed], tmp_path / "packages")
    places = [str(ROOT), str(ROOT / "python"), str(packages)]
    code = "import importlib, sys; sys.path += sys.argv[1].split(':')\nfor module in sys.argv[2:]: importlib.import_module(module)"
    # -I -S: without the packages of this environment.
    run(sys.executable, "-I", "-S", "-c", code, ":".join(places), *modules, cwd=ROOT)
