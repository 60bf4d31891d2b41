"""The build backend: that of setuptools, which asks for Go and a C compiler where the machine has none."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  the hooks that stay as they are

Settings = Mapping[str, Any] | None


def _with_toolchain(requires: Callable[[Settings], list[str]]) -> Callable[[Settings], list[str]]:
    def hook(config_settings: Settings = None) -> list[str]:
        # What this Python has, not the one that runs pip, whose packages an isolated build does not see.
        environment = os.environ | {"PYTHON": sys.executable}
        command = ["bash", "build.sh", "missing"]
        missing = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        return requires(config_settings) + missing.stdout.split()

    return hook


get_requires_for_build_wheel = _with_toolchain(build_meta.get_requires_for_build_wheel)
get_requires_for_build_editable = _with_toolchain(build_meta.get_requires_for_build_editable)
