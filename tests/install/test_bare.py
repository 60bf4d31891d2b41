"""build.sh on a bare machine, with Python and git and neither Go nor a C compiler; and what CI takes is pinned.

bare.sh runs the commands of the README whole, in a system of its own.
"""

import re
import subprocess
import sys

import pytest
from places import ROOT, bare_environment, copy_of_the_tree
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


# What is wrong with the arguments of build.sh, in the words of its error.
WRONG = {
    "bnech": "no command 'bnech'",
    "test cor": "no tests 'cor': core, torch, or nothing for all",
    "test-full core": "test-full takes no arguments, not 'core'",
    "docs pytorch": "usage: ./build.sh docs [--execute [NAME...]]",
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
