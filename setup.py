"""Builds libmode.so and puts it, its headers and its pkg-config and CMake files into the package.

The library does not depend on the version of Python: the wheel is tagged
py3-none-PLATFORM.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "packaging"))

import build_library  # noqa: E402


class BuildWithLibrary(build_py):
    """Makes of the package a prefix with include/ and lib/: in the source tree if it is installed as editable."""

    def run(self) -> None:
        if self.editable_mode:
            prefix = ROOT / "python" / "libmode"
        else:
            prefix = Path(self.build_lib, "libmode").absolute()
            shutil.rmtree(prefix, ignore_errors=True)  # may hold the library of another platform
        super().run()
        build_library.stage(prefix)


class SourceWithModules(sdist):
    """The tree, and the Go modules that it needs in vendor/, where Go looks first: it builds without a network."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        build_library.vendor(Path(base_dir, "vendor"))


class PlatformWheel(bdist_wheel):
    """Any Python 3, one platform."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", os.environ.get("LIBMODE_WHEEL_TAG") or super().get_tag()[2]

    def write_wheelfile(self, wheelfile_base: str, *generator: str) -> None:
        """Puts what the library is made of beside the metadata, as PEP 770 says."""
        super().write_wheelfile(wheelfile_base, *generator)
        library = next(Path(self.bdist_dir, "libmode", "lib").glob("libmode.*"), None)
        if library is None:  # an editable install has its files in the source tree
            return
        bills = Path(wheelfile_base, "sboms")
        bills.mkdir()
        (bills / "libmode.cdx.json").write_text(
            build_library.bill_of_materials(library), encoding="utf-8", newline="\n"
        )


class BinaryDistribution(Distribution):
    """Has compiled files, though no extension module."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    version=build_library.version(),
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel, "sdist": SourceWithModules},
)
