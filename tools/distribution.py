"""Packs the sources and builds wheels into dist: ``./build.sh sdist``, ``./build.sh wheel [PLATFORM...]``."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from . import install

# GOOS, GOARCH, the target of zig, and the tag of the wheel. Every wheel is built with the pinned zig, to come out the
# same everywhere.
PLATFORMS = {
    "linux-x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17", "manylinux2014_x86_64.manylinux_2_17_x86_64"),
    "linux-aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17", "manylinux2014_aarch64.manylinux_2_17_aarch64"),
    "windows-amd64": ("windows", "amd64", "x86_64-windows-gnu", "win_amd64"),
}
NEWEST_GLIBC = 17  # 2.17, of manylinux2014


def build(kind: str, quiet: bool = False, **environment: str) -> None:
    """Runs the package build; ``kind`` is sdist or wheel."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", "dist", "."]
    out = subprocess.DEVNULL if quiet else None
    subprocess.run(command, cwd=install.ROOT, env=os.environ | environment, stdout=out, check=True)


def wheel(platform: str) -> None:
    """Builds a wheel for a platform, or with the compiler of this machine."""
    if platform == "native":
        build("wheel")
        return
    system, processor, target, tag = PLATFORMS[platform]
    install.tool("ziglang")
    install.packages("auditwheel")
    name = f"dist/libmode-{install.build_library.version()}-py3-none-{tag}.whl"
    install.say(f"building {name.removeprefix('dist/')}")
    build(
        "wheel", quiet=True, GOOS=system, GOARCH=processor, CC=f"zig cc -target {target}", LIBMODE_WHEEL_TAG=tag,
        SOURCE_DATE_EPOCH=os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct").strip(),
    )  # fmt: skip
    if system == "linux":
        found = output(sys.executable, "-m", "auditwheel", "show", name)
        glibc = re.search(r'tag:\s+"manylinux_2_(\d+)', found)
        if glibc is None or int(glibc[1]) > NEWEST_GLIBC:
            sys.exit(f"auditwheel does not find that {name} runs with glibc 2.{NEWEST_GLIBC}: {found}")


def output(*command: str) -> str:
    return subprocess.run(command, cwd=install.ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(kind: str, *platforms: str) -> None:
    for unknown in set(platforms) - {*PLATFORMS, "native"}:
        sys.exit(f"no platform '{unknown}': {', '.join(PLATFORMS)} or native")
    install.build_system("build")
    install.toolchain()
    if kind == "sdist":
        build("sdist")
    else:
        for platform in platforms or PLATFORMS:
            wheel(platform)


if __name__ == "__main__":
    install.run(main)
