"""Fails if tests run less than 97 % of the statements: of the core by Go's tests, of the package by all tests.

usage: python -m tools.coverage [install]    with install, before the tests: makes ready to count
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from . import install

COVERAGE = "coverage==7.17.3"
LEAST = 97.0


def main(*arguments: str) -> None:
    if arguments == ("install",):
        install.packages(COVERAGE)
        Path(install.ROOT, "build", "coverage").mkdir(parents=True, exist_ok=True)
        return
    profile = str(Path(sys.prefix, "core.cover"))
    install.toolchain()
    run("go", "test", "./core/...", "-coverpkg", "./core/...", "-coverprofile", profile)
    total = re.search(r"^total:.*?([\d.]+)%$", run("go", "tool", "cover", "-func", profile), re.MULTILINE)
    assert total
    print(f"core: {total[1]} %")
    python = [sys.executable, "-m", "coverage"]
    run(*python, "combine", "-q")
    report = ["report", "--skip-covered", "--show-missing", "--fail-under", f"{LEAST:g}"]  # pyproject.toml says of what
    failed = subprocess.call([*python, *report], cwd=install.ROOT)
    sys.exit(1 if failed or float(total[1]) < LEAST else 0)


def run(*command: str) -> str:
    return subprocess.run(command, cwd=install.ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
