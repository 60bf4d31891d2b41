"""The package: its version, and how it finds its library."""

import ctypes
import dataclasses
import importlib.metadata
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal, get_args, get_origin

import libmode
import pytest
from libmode import _native, prefix
from libmode._options import OF_LAYER, TAKEN
from libmode.metrics._sample import Settings
from libmode.option_types import LossOptions
from programs import run

ROOT = Path(__file__).parents[2]
LIBRARY = prefix.PREFIX / "lib" / "libmode.so"


def test_one_version():
    pkg_config = (prefix.PREFIX / "lib" / "pkgconfig" / "libmode.pc").read_text()
    stated = re.search(r"^Version: (.*)$", pkg_config, re.MULTILINE)[1]
    loaded = _native.library().mode_version().decode()
    assert libmode.__version__ == loaded == importlib.metadata.version("libmode") == stated


def test_every_option_of_the_core_is_typed():
    table = _native.options_table()
    assert [*TAKEN["mode"]] == sorted({*table} - {*OF_LAYER}, key=[*TAKEN["mode"]].index)
    for name, kind in LossOptions.__annotations__.items():
        words = [repr(word) for word in table[name].allowed.removeprefix("one of ").split(", ")]
        assert (table[name].kind == "choice") == (get_origin(kind) is Literal)
        assert table[name].kind != "choice" or [*map(repr, get_args(kind))] == words


def test_the_suppressions_of_valgrind_are_where_the_page_says():
    page = (ROOT / "docs" / "cpp.md").read_text()
    (file,) = re.findall(r"`--undef-value-errors=no --suppressions=\$\(libmode-config --prefix\)/(\S+)`", page)
    assert (prefix.PREFIX / file).read_text() == (ROOT / "packaging" / "libmode.supp").read_text()


def python(code, **environment):
    """Runs code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=60
    )


def compile_library(code, path):
    """Makes a shared library of C code."""
    source = path.with_suffix(".c")
    source.write_text(code)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
    return str(path)


USE = "import libmode; print(libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0))"


def missing(path):
    return f"{path}: cannot open", "No such file", "LIBMODE_LIBRARY", "./build.sh lib"


def text(path):
    path.write_text("no library")
    return f"{path}: file too short", "./build.sh lib"


def of_another_abi(path):
    compile_library("int mode_abi_version(void) { return 999; }", path)
    return (f"libmode: {path} has ABI version 999, but the Python package {prefix.PREFIX}",)


def another(path):
    compile_library("int something;", path)
    return (f"libmode: {path} is not libmode",)


@pytest.mark.parametrize("make", [missing, text, of_another_abi, another])
def test_what_is_not_the_library_is_an_import_error_that_says_why(tmp_path, make):
    parts = make(tmp_path / "libmode.so")
    result = python(USE, LIBMODE_LIBRARY=str(tmp_path / "libmode.so"))
    assert result.returncode == 1
    assert all(part in result.stderr for part in ("ImportError", *parts))


def test_a_library_elsewhere_is_used(tmp_path):
    elsewhere = shutil.copy(LIBRARY, tmp_path / "elsewhere.so")
    code = USE + "; print(open('/proc/self/maps').read())"
    printed = run(sys.executable, "-c", code, LIBMODE_LIBRARY=str(elsewhere))
    assert float(printed.split()[0]) == libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0)
    assert str(elsewhere) in printed


def test_without_an_override_every_place_is_listed(tmp_path):
    shutil.copytree(prefix.PREFIX, tmp_path / "libmode", ignore=shutil.ignore_patterns("lib"))
    result = python(USE, PYTHONPATH=str(tmp_path), LIBMODE_LIBRARY="")
    assert result.returncode == 1
    for place in (tmp_path / "libmode", Path(sys.prefix)):
        assert f"  {place / 'lib' / 'libmode.so'}: cannot open" in result.stderr


def test_a_copy_in_a_file_is_private_and_goes(tmp_path, monkeypatch):
    """What a forked process loads: nobody else can read, replace or plant it."""
    seen = []

    def load(path):
        file, directory = os.stat(path, follow_symlinks=False), os.stat(os.path.dirname(path), follow_symlinks=False)
        seen.append((path, stat.S_ISREG(file.st_mode), stat.filemode(directory.st_mode), directory.st_uid, file.st_uid))
        return "the library"

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(ctypes, "CDLL", load)
    before = os.umask(0)  # with which files are open to all
    try:
        for _ in range(2):
            assert _native._open_copy(Path(__file__)) == "the library"
    finally:
        os.umask(before)
    for path, regular, mode, *owners in seen:
        assert regular and mode == "drwx------" and owners == [os.getuid()] * 2
        assert not os.path.exists(path)
    assert list(tmp_path.iterdir()) == []
    (_, first), (_, second) = (os.path.split(os.path.dirname(path)) for path, *_ in seen)
    assert first != second and len(first) >= len("libmode-") + 8


def test_threads_that_come_at_once_load_one_library():
    code = """if True:
        import threading
        barrier = threading.Barrier(8)
        got = []
        def use():
            barrier.wait()
            import libmode
            got.append(libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0))
        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(got) == 8 and len(set(got)) == 1, got
        lines = open("/proc/self/maps").read().splitlines()
        print(sum("libmode.so" in line and line.split()[2] == "00000000" for line in lines))
    """
    assert run(sys.executable, "-c", code, timeout=60).strip() == "1"


# Module: what it needs, and the extra that brings it.
NEEDED = {
    "torch": ("torch", "torch"),
    "keras": ("keras", "keras"),
    "jax": ("jax", "jax"),
    "xgboost": ("xgboost", "xgboost"),
    "lightgbm": ("lightgbm", "lightgbm"),
}


WITHOUT = """if True:
    import sys
    class Missing:
        def find_spec(name, *rest):
            if name in ("{0}", "scipy", "sklearn"):
                raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)
    sys.meta_path.insert(0, Missing)
"""


@pytest.mark.parametrize("module", NEEDED)
def test_a_package_that_is_missing_is_named_with_its_command(module):
    package, extra = NEEDED[module]
    parent, _, name = f"libmode.{module}".rpartition(".")
    for statement in (f"import libmode.{module}", f"from {parent} import {name}"):
        result = python(WITHOUT.format(package) + statement)
        assert result.returncode == 1
        want = f"ImportError: libmode.{module} needs {package}, which is not installed: pip install 'libmode[{extra}]'"
        assert result.stderr.splitlines()[-1] == want
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("package", ["torch", "jax"])
def test_a_framework_that_lacks_something_itself_says_so(package, tmp_path):
    (tmp_path / f"{package}.py").write_text("import what_it_needs")
    result = python(f"import libmode.{package}", PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    assert result.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'what_it_needs'"


def test_nothing_changes_a_result():
    modules = [vars(module).values() for name, module in sys.modules.items() if name.startswith("libmode.metrics.")]
    results = {one for values in modules for one in values if dataclasses.is_dataclass(one)} - {Settings}
    assert len(results) >= 5
    for result in results:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(object.__new__(result), dataclasses.fields(result)[0].name, 0)


def test_no_framework_is_imported():
    code = "import libmode, sys; libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0); print(*sys.modules)"
    loaded = set(run(sys.executable, "-c", code).split())
    assert not {"torch", "keras", "tensorflow", "jax", "matplotlib", "scipy"} & loaded
