"""libmode installed from a wheel and from source, into empty environments, with and without tools.

Run by ./build.sh test, after the library is built: these tests make virtual
environments and download packages.
"""

import os
import re
import shlex
import sys
import tarfile
import zipfile

import libmode
import pytest
from places import ROOT, Environment, copy_of_the_tree, tree
from programs import run

MACHINE = os.uname().machine
MAX_BYTES = 1_800_000


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / "environment")


@pytest.fixture(scope="session")
def sdist():
    """The source archive."""
    run(ROOT / "build.sh", "sdist")
    return ROOT / "dist" / f"libmode-{libmode.__version__}.tar.gz"


def test_recipes_have_the_version_of_the_header():
    for recipe in ("conda/recipe.yaml", "spack/py_libmode/package.py"):
        text = (ROOT / "packaging" / recipe).read_text()
        assert re.search(r"version[:(] ?\"(.*?)\"", text)[1] == libmode.__version__


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
    templates = {"libmode/report/page.html"}
    inside = {name for name in names if ".dist-info/" not in name}
    others = {"libmode/lib/libmode.so", "libmode/lib/valgrind/libmode.supp", "libmode/py.typed"}
    assert inside == sources | headers | finders | templates | others
    assert f"\nVersion: {libmode.__version__}\n" in metadata


@pytest.mark.full
def test_the_wheel_is_the_same_from_another_directory(wheel, tmp_path):
    clone = copy_of_the_tree(tmp_path / "a copy")
    epoch = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    run(clone / "build.sh", "wheel", f"linux-{MACHINE}", LIBMODE_VENV=sys.prefix, SOURCE_DATE_EPOCH=epoch)
    assert (clone / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


def test_python_and_c_need_only_the_wheel(wheel, environment, tmp_path):
    environment.install(wheel)
    environment.smoke()
    flags = shlex.split(run(environment.bin / "libmode-config", "--cflags", "--libs"))
    assert str(environment.bin.parent) in flags[0]
    program = re.search(r"```c\n(.*?)```", (ROOT / "docs/cpp.md").read_text(), re.DOTALL)[1]
    (tmp_path / "program.c").write_text(program)
    run(*shlex.split(os.environ.get("CC", "cc")), tmp_path / "program.c", *flags, "-o", tmp_path / "program")
    assert "loss" in run(tmp_path / "program")


def test_the_sdist_is_the_tree(sdist):
    """With all that its tests import, and nothing that was built."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    metadata = {name for name in names if re.match(r"PKG-INFO|setup\.cfg|python/libmode\.egg-info/", name)}
    modules = {name for name in names if name.startswith("vendor/")}
    assert names - metadata - modules == set(tree())
    assert "vendor/modules.txt" in modules


@pytest.mark.full
def test_the_sdist_builds_without_a_network(sdist, environment, tmp_path):
    """With Go, a compiler and setuptools of this machine: it has the modules of Go."""
    environment.install("numpy", "setuptools>=77")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    nowhere |= {"GOPROXY": "off", "GOMODCACHE": str(tmp_path / "modules"), "GOFLAGS": "-buildvcs=false"}
    environment.install("--no-index", "--no-deps", "--no-build-isolation", sdist, **nowhere)
    environment.smoke()


@pytest.mark.full
def test_the_sdist_installs_where_there_is_nothing_but_python(sdist, environment, tmp_path):
    """No Go and no compiler, which pip downloads; and no shell, no git and nothing else."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(environment.python)
    environment.install(sdist, PATH=str(tmp_path / "bin"), CC="")
    environment.smoke()
