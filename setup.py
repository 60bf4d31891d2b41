"""Builds libmode.so with ./build.sh lib and puts it beside the Python package.

The library does not depend on the version of Python: the wheel is tagged
py3-none-PLATFORM.
"""

import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class BuildWithLibrary(build_py):
    """Compiles before the package's files are copied."""

    def run(self) -> None:
        subprocess.run(["bash", str(ROOT / "build.sh"), "lib"], check=True)
        super().run()


class PlatformWheel(bdist_wheel):
    """Any Python 3, one platform."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    """Has compiled files, though no extension module."""

    def has_ext_modules(self) -> bool:
        return True


setup(distclass=BinaryDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
