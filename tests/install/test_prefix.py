"""The command libmode-config of ./build.sh install prints what that of the Python package prints."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from libmode import prefix as of_package
from places import ROOT, run

OPTIONS = ("--cflags", "--libs", "--prefix", "--version")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A prefix whose name a shell has to quote."""
    directory = tmp_path_factory.mktemp("installed") / "a user's prefix"
    run(ROOT / "build.sh", "install", "--prefix", directory, LIBMODE_VENV=sys.prefix)
    return directory


def test_it_prints_what_the_package_prints(prefix, monkeypatch, capsys):
    monkeypatch.setattr(of_package, "PREFIX", prefix.resolve())
    for options in (*((one,) for one in OPTIONS), OPTIONS, ("--libs", "--cflags")):
        of_package.main(options)
        assert run(prefix / "bin" / "libmode-config", *options) == capsys.readouterr().out
    for options, message in (
        ([], "say what to print: --cflags, --libs, --prefix or --version"),
        (["--libs", "--nonsense"], "unrecognized arguments: --nonsense"),
    ):
        done = subprocess.run([prefix / "bin" / "libmode-config", *options], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "") and message in done.stderr


def test_the_program_of_the_page_is_built_with_it(prefix, tmp_path):
    """As docs/cpp.md builds it, through a link to the command."""
    (tmp_path / "libmode-config").symlink_to(prefix / "bin" / "libmode-config")
    flags = shlex.split(run(tmp_path / "libmode-config", "--cflags", "--libs"))
    (tmp_path / "loss.c").write_text(re.search(r"```c\n(.*?)```", (ROOT / "docs/cpp.md").read_text(), re.DOTALL)[1])
    run(*shlex.split(os.environ.get("CC", "cc")), tmp_path / "loss.c", *flags, "-o", tmp_path / "loss")
    assert run(tmp_path / "loss").startswith("loss ")
