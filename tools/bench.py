"""Times libmode, its alternatives, an older version, or a GPU: ``./build.sh bench [device] [ARGUMENT...]``."""

from __future__ import annotations

import subprocess
import sys

from . import install


def main(*arguments: str) -> int:
    if arguments and arguments[0] != "device" and not arguments[0].startswith("-"):
        sys.exit(f"no bench '{arguments[0]}': device, --against COMMIT, or nothing for all alternatives")
    install.toolchain()
    if any(word.startswith("--against") for word in arguments):
        install.packages("tqdm")
        return run("against", *arguments)
    subprocess.run(["./build.sh", "lib"], cwd=install.ROOT, check=True)
    install.extras("bench")
    if arguments[:1] == ("device",):
        return run("device", *arguments[1:])
    install.modeloss()
    return run("run", *arguments)


def run(module: str, *arguments: str) -> int:
    return subprocess.call([sys.executable, "-m", f"bench.{module}", *arguments], cwd=install.ROOT)


if __name__ == "__main__":
    install.run(main)
