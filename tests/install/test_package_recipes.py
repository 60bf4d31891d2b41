"""The recipes for conda-forge and Spack ask for what the package asks for, in its version."""

import runpy
import sys
from pathlib import Path
from types import ModuleType

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


def test_spack_recipe(monkeypatch):
    """Spack itself is on no index that pip reads, so its words are played by functions that note what they are told."""
    said = {}
    words = ModuleType("spack.package")
    words.version = lambda number, **_: said.update(version=number)
    words.license = lambda name, **_: said.update(license=name)
    words.variant = lambda name, **_: said.update(variant=name)
    words.depends_on = lambda spec, **_: said.update([spec.partition("@")[::2]])
    python = ModuleType("spack_repo.builtin.build_systems.python")
    python.PythonPackage = object
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, words.__name__, words)
    monkeypatch.setitem(sys.modules, python.__name__, python)
    package = runpy.run_path(str(ROOT / "packaging" / "spack" / "py_libmode" / "package.py"))["PyLibmode"]
    assert said == {
        "version": version(),
        "license": LICENSE,
        "variant": "torch",
        "c": "",
        "go": f"{GO}:",
        "python": f"{PYTHON}:",
        "py-setuptools": f"{SETUPTOOLS}:",
        "py-numpy": f"{NUMPY}:",
        "py-torch": f"{TORCH}:",
    }
    assert package.url.endswith(f"/v{version()}.tar.gz")
