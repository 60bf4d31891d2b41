"""Looks up linked and pinned packages in databases of vulnerabilities: ``./build.sh audit``."""

from __future__ import annotations

import subprocess
import sys

from . import install

GOVULNCHECK = "golang.org/x/vuln/cmd/govulncheck@v1.1.4"
PIP_AUDIT = "pip-audit==2.10.1"


def main() -> int:
    install.toolchain()
    install.packages(PIP_AUDIT)
    subprocess.run(["go", "mod", "verify"], cwd=install.ROOT, check=True)
    failed = subprocess.call(["go", "run", GOVULNCHECK, "./..."], cwd=install.ROOT)
    for file in sorted(install.PINNED.glob("*.txt")):
        install.say(str(file.relative_to(install.ROOT)))
        command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--requirement", str(file)]
        failed |= subprocess.call(command)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
