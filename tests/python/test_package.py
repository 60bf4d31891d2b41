"""The package: its version, and how it finds its library."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import libmode
import pytest
from libmode import _native


def test_one_version():
    assert libmode.__version__ == _native.version() == importlib.metadata.version("libmode")


def test_python_and_c_agree_on_the_fields_of_the_options():
    header = (Path(__file__).parents[2] / "include" / "mode.h").read_text()
    struct = re.search(r"typedef struct mode_options \{(.*?)\} mode_options;", header, re.DOTALL)[1]
    code = re.sub(r"/\*.*?\*/", "", struct, flags=re.DOTALL)
    fields = re.findall(r"(\w+)(?:\[2\])?;", code)
    assert fields == [name for name, _ in _native.ModeOptions._fields_]


def python(code, **environment):
    """Runs code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=60
    )


USE = "import libmode; print(libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=2))"


def test_a_library_that_is_not_there_is_an_import_error_with_the_paths_tried(tmp_path):
    missing = str(tmp_path / "libmode.so")
    result = python(USE, LIBMODE_LIBRARY=missing)
    assert result.returncode == 1
    for part in ("ImportError", missing, "No such file", "LIBMODE_LIBRARY", "./build.sh lib"):
        assert part in result.stderr


def test_a_file_that_is_no_library_is_an_import_error(tmp_path):
    (tmp_path / "libmode.so").write_text("no library")
    result = python(USE, LIBMODE_LIBRARY=str(tmp_path / "libmode.so"))
    assert result.returncode == 1
    for part in ("ImportError", str(tmp_path), "./build.sh lib"):
        assert part in result.stderr


def test_a_library_elsewhere_is_used(tmp_path):
    elsewhere = shutil.copy(Path(libmode.__file__).with_name("libmode.so"), tmp_path / "elsewhere.so")
    result = python(USE + "; print(open('/proc/self/maps').read())", LIBMODE_LIBRARY=str(elsewhere))
    assert result.returncode == 0, result.stderr
    assert float(result.stdout.split()[0]) == libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=2)
    assert str(elsewhere) in result.stdout


@pytest.mark.parametrize("name", libmode.__all__)
def test_every_public_name_is_documented(name):
    assert getattr(libmode, name).__doc__
