"""The command libmode-config of ./build.sh install prints what that of the Python package prints."""

import subprocess
import sys

from libmode import prefix as of_package
from places import ROOT
from programs import run

OPTIONS = ("--cflags", "--libs", "--prefix", "--version")


def test_it_prints_what_the_package_prints(tmp_path, monkeypatch, capsys):
    prefix = tmp_path / "a user's prefix"  # which a shell has to quote
    run(ROOT / "build.sh", "install", "--prefix", prefix, LIBMODE_VENV=sys.prefix)
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

    # Through a link to the command too.
    (tmp_path / "libmode-config").symlink_to(prefix / "bin" / "libmode-config")
    assert run(tmp_path / "libmode-config", "--prefix") == f"{prefix.resolve()}\n"
