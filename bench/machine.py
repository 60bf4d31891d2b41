"""Describes the machine of the benchmark."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "torch", "libmode", "modeloss", "hep_ml")


def describe() -> dict[str, object]:
    """Processor, memory, system and versions, for the JSON file."""
    return {
        "commit": _commit(),
        "processor": processor(),
        "cores": cores(),
        "cache": _line("/proc/cpuinfo", "cache size"),
        "memory": _line("/proc/meminfo", "MemTotal"),
        "load_at_start": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "go": subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout.strip(),
        **{name: _version(name) for name in PACKAGES},
    }


def processor() -> str:
    """The name of the processor."""
    return _line("/proc/cpuinfo", "model name")


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _commit() -> str:
    git = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
    return git.stdout.strip() or "unknown"


def _line(path: str, field: str) -> str:
    for line in Path(path).read_text().splitlines():
        if line.startswith(field):
            return line.split(":", 1)[1].strip()
    return "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
