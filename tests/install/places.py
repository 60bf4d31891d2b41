"""Places to install and to build in: empty environments, copies of the tree, and a PATH without Go and compilers."""

import os
import re
import shutil
import sys
import venv
from importlib.metadata import distribution, distributions
from pathlib import Path

import libmode
from packaging.requirements import Requirement
from programs import run

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "tests" / "install" / "smoke.py"

# What a bare machine lacks.
TOOLS = re.compile(r"(.*-)?(go|gofmt|gcc|g\+\+|cc|c\+\+|c89|c99|cpp|clang|clang\+\+|tcc|zig)(-[\d.]+)?")
# What pip and Go need to reach what they download from, and CI, which says to take what is pinned.
NEEDED = re.compile(r"HOME|LANG|CI|PIP_.*|GOPROXY|GONOSUMDB|GOSUMDB|SSL_.*|.*_CA_BUNDLE|(?i:(https?|no|all)_proxy)")

# Builds of a package that have less for devices, and another name.
SMALLER = {"tensorflow": "tensorflow-cpu", "xgboost": "xgboost-cpu"}


class Environment:
    """An empty virtual environment."""

    def __init__(self, path):
        venv.create(path, with_pip=True)
        self.python = path / "bin" / "python"
        self.bin = path / "bin"

    def install(self, *what, **environment):
        run(self.python, "-m", "pip", "install", "--disable-pip-version-check", *what, **environment)

    def smoke(self):
        """Golden cases with an empty PATH and nothing else of this environment."""
        assert f"libmode {libmode.__version__}" in run(self.python, SMOKE, env={"PATH": "/nonexistent"})


def linked(requirements, directory):
    """Links to the packages of this environment that pip would bring for these requirements, and to no others.

    XGBoost and TensorFlow may be there under the names of their smaller builds, which import as the same.
    """
    wanted, seen = [Requirement(str(text)) for text in requirements], set()
    directory.mkdir()
    while wanted:
        own = wanted.pop()
        name = own.name if own.name not in SMALLER or any(distributions(name=own.name)) else SMALLER[own.name]
        if (name, frozenset(own.extras)) in seen:
            continue
        seen.add((name, frozenset(own.extras)))
        package = distribution(name)
        assert package.version in own.specifier, f"{own}: here is {package.version}"
        for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            if not (directory / top).is_symlink():
                (directory / top).symlink_to(package.locate_file(top))
        wanted += required(package, own.extras)
    return directory


def required(package, extras):
    """What a package asks for, with these extras."""
    return [
        further
        for further in map(Requirement, package.requires or [])
        if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras or {""})
    ]


def tree():
    """The files of the working tree that a commit would hold."""
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    return [name for name in names if (ROOT / name).exists()]


def copy_of_the_tree(directory):
    """A copy of these files."""
    for name in tree():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, directory / name)
    return directory


def bare_environment(directory):
    """The variables of a machine with Python and git and neither Go nor a compiler.

    Its PATH has links to all commands of this machine but TOOLS, with the Python that tests run in.
    """
    directory.mkdir()
    (directory / "python3").symlink_to(Path(sys._base_executable).resolve())
    for place in ("/usr/bin", "/bin", "/usr/sbin", "/sbin"):
        for command in Path(place).iterdir() if Path(place).exists() else []:
            if not TOOLS.fullmatch(command.name) and not (directory / command.name).is_symlink():
                (directory / command.name).symlink_to(command)
    for tool in ("go", "gofmt", "gcc", "g++", "cc", "c++", "clang"):
        assert shutil.which(tool, path=str(directory)) is None
    needed = {name: value for name, value in os.environ.items() if NEEDED.fullmatch(name)}
    return needed | {"PATH": str(directory)}
