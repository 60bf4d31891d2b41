"""libmode installed from a wheel and from source, into empty environments, with and without tools.

Run by ./build.sh test, after the library is built: these tests make virtual
environments and download packages.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import libmode
import pytest

ROOT = Path(__file__).resolve().parents[2]
SMOKE = ROOT / "tests" / "install" / "smoke.py"
MACHINE = os.uname().machine
MAX_BYTES = 1_500_000


def run(*command, cwd=None, **environment):
    """Runs a command, with these variables of the environment changed."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{shlex.join(map(str, command))}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


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
        done = subprocess.run(
            [str(self.python), str(SMOKE)], env={"PATH": "/nonexistent"}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert f"libmode {libmode.__version__}" in done.stdout
        print(done.stdout)


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "environment")


@pytest.fixture(scope="session")
def wheel():
    """The wheel for this machine."""
    run(ROOT / "build.sh", "wheel", f"linux-{MACHINE}")  # which has auditwheel check it
    return (
        ROOT / "dist" / f"libmode-{libmode.__version__}-py3-none-manylinux2014_{MACHINE}.manylinux_2_17_{MACHINE}.whl"
    )


@pytest.fixture(scope="session")
def sdist():
    """The source archive."""
    run(ROOT / "build.sh", "sdist")
    return ROOT / "dist" / f"libmode-{libmode.__version__}.tar.gz"


def test_the_wheel_holds_the_library_and_what_finds_it(wheel):
    assert wheel.stat().st_size < MAX_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"libmode-{libmode.__version__}.dist-info/METADATA").decode()
    sources = {str(path.relative_to(ROOT / "python")) for path in ROOT.glob("python/libmode/**/*.py")}
    headers = {f"libmode/include/{path.name}" for path in ROOT.glob("include/*")}
    finders = {
        "libmode/lib/pkgconfig/libmode.pc",
        "libmode/lib/cmake/libmode/libmodeConfig.cmake",
        "libmode/lib/cmake/libmode/libmodeConfigVersion.cmake",
    }
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == sources | headers | finders | {"libmode/lib/libmode.so", "libmode/py.typed"}
    assert f"\nVersion: {libmode.__version__}\n" in metadata


def test_the_wheel_is_the_same_from_another_directory(wheel, tmp_path):
    clone = tmp_path / "a copy"
    tracked = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    for name in tracked:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    epoch = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    run(clone / "build.sh", "wheel", f"linux-{MACHINE}", LIBMODE_VENV=sys.prefix, SOURCE_DATE_EPOCH=epoch)
    assert (clone / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_wheel_works_in_an_empty_environment(wheel, environment):
    environment.install(wheel)
    environment.smoke()


def test_a_c_program_needs_only_the_wheel(wheel, environment, tmp_path):
    environment.install(wheel)
    flags = shlex.split(run(environment.bin / "libmode-config", "--cflags", "--libs"))
    assert str(environment.bin.parent) in flags[0]
    program = re.search(r"```c\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    (tmp_path / "program.c").write_text(program)
    run(*shlex.split(os.environ.get("CC", "cc")), tmp_path / "program.c", *flags, "-o", tmp_path / "program")
    assert "loss" in run(tmp_path / "program")


def test_the_sdist_holds_the_source_and_nothing_built(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"build.sh", "setup.py", "go.mod", "go.sum", "capi/exports.map", "core/loss.go", "include/mode.h"} <= names
    assert {"LICENSE", "README.md", "packaging/backend.py", "tests/golden/mode_loss.json"} <= names
    assert not [name for name in names if re.search(r"libmode/(lib|include)|\.so$|__pycache__", name)]


def test_the_sdist_installs_with_the_tools_of_this_machine(sdist, environment):
    environment.install(sdist)
    environment.smoke()


def test_the_sdist_installs_where_there_is_neither_go_nor_a_compiler(sdist, environment, tmp_path):
    # All commands of this machine but these.
    tools = re.compile(r"(.*-)?(go|gofmt|gcc|g\+\+|cc|c\+\+|c89|c99|cpp|clang|clang\+\+|tcc)(-[\d.]+)?")
    path = tmp_path / "bin"
    path.mkdir()
    for directory in ("/usr/bin", "/bin"):
        for command in Path(directory).iterdir():
            if not tools.fullmatch(command.name) and not (path / command.name).exists():
                (path / command.name).symlink_to(command)
    for tool in ("go", "gcc", "cc", "clang"):
        assert shutil.which(tool, path=str(path)) is None
    environment.install(sdist, PATH=f"{environment.bin}:{path}", CC="")
    environment.smoke()


def test_the_sdist_installs_without_a_network_where_the_modules_are_cached(sdist, environment):
    environment.install("setuptools>=77", "numpy")
    environment.install("--no-index", "--no-build-isolation", sdist, GOPROXY="off")
    environment.smoke()


def test_without_a_network_and_modules_the_error_says_so(sdist, environment, tmp_path):
    environment.install("setuptools>=77")
    with pytest.raises(AssertionError) as failure:
        environment.install(
            "--no-index", "--no-deps", "--no-build-isolation", sdist, GOPROXY="off", GOMODCACHE=str(tmp_path / "empty")
        )
    assert f"build.sh: a Go module is neither in the module cache, {tmp_path / 'empty'}" in str(failure.value)
    assert "libmode was not built, for the reason above" in str(failure.value)
