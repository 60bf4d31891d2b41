"""The recipes for conda-forge and Spack ask for what the package asks for, in its version."""

import re
import sys
from pathlib import Path

import pytest
import rattler_build

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "packaging"))

from build_library import found, version  # noqa: E402

GO = found(r"^go (\S+)", "go.mod")
PYTHON = found(r'^requires-python = ">=(\S+)"', "pyproject.toml")
SETUPTOOLS = found(r'^requires = \["setuptools>=(\S+)"\]', "pyproject.toml")
NUMPY = found(r'^dependencies = \["numpy>=(\S+)"\]', "pyproject.toml")
TORCH = found(r'^torch = \["torch>=(\S+)"\]', "pyproject.toml")
LICENSE = found(r'^license = "(\S+)"', "pyproject.toml")


@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"])
def test_conda_recipe(platform):
    """rattler-build, with which conda-forge builds, reads and renders the recipe."""
    recipe = rattler_build.Stage0Recipe.from_file(str(ROOT / "packaging" / "conda" / "recipe.yaml"))
    # What conda-forge adds: a C library for the platform, and a Python.
    pins = {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "python": ["3.12.* *_cpython"]}
    (variant,) = recipe.render(
        rattler_build.VariantConfig(pins),
        rattler_build.RenderConfig(platform=rattler_build.PlatformConfig(target_platform=platform)),
    )
    package = variant.recipe.to_dict()
    assert package["package"] == {"name": "libmode", "version": version()}
    needs = package["requirements"]
    assert needs["host"] == [f"python >={PYTHON}", "pip", f"setuptools >={SETUPTOOLS}"]
    assert needs["run"] == ["python", f"numpy >={NUMPY}"]
    assert package["about"]["license"] == LICENSE


def test_spack_recipe():
    """Spack itself is on no index that pip reads."""
    text = (ROOT / "packaging" / "spack" / "py_libmode" / "package.py").read_text()
    needs = re.findall(r'^    depends_on\("([^"]+)"', text, re.MULTILINE)
    named = [
        f"go@{GO}:",
        f"python@{PYTHON}:",
        f"py-setuptools@{SETUPTOOLS}:",
        f"py-numpy@{NUMPY}:",
        f"py-torch@{TORCH}:",
    ]
    assert sorted(needs) == sorted(["c", *named])
    assert f'    version("{version()}"' in text and f'    license("{LICENSE}"' in text
    assert f'/v{version()}.tar.gz"' in text
