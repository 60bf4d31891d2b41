"""build.sh on a bare machine, with Python and git and neither Go nor a C compiler; and what CI takes is pinned.

bare.sh runs the commands of the README whole, in a system of its own.
"""

import re
import sys

import pytest
from places import ROOT, bare_environment, copy_of_the_tree
from programs import run

# What is wrong with the arguments of build.sh, in the words of its error.
WRONG = {
    "bnech": "no command 'bnech'",
    "test cor": "no tests 'cor': core, torch, or nothing for all",
    "test-full core": "test-full takes no arguments, not 'core'",
    "docs pytorch": "usage: ./build.sh docs [--execute [NAME...]]",
    "demo --evnts 3": "demo: error: unrecognized arguments: --evnts 3",
    "install dist": "usage: ./build.sh install --prefix DIR",
}


def test_wrong_arguments_set_nothing_up(tmp_path):
    """In a directory with a space in its name."""
    tree, environment = copy_of_the_tree(tmp_path / "a tree"), bare_environment(tmp_path / "bin")
    for arguments, said in WRONG.items():
        with pytest.raises(AssertionError) as failure:
            run(tree / "build.sh", *arguments.split(), cwd=tree, env=environment, timeout=20)
        assert said in str(failure.value)
    assert not (tree / ".venv").exists()


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
