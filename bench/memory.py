"""Peak memory of one call above its inputs and outputs, in a process of its own.

``python -m bench.memory METHOD N`` makes the inputs, makes one call with 1,000
events (which loads libraries and starts threads), hands freed memory back to
the system (malloc_trim), resets the peak of the resident memory (writing 5 to
/proc/self/clear_refs) and makes one call with N events. What is reported is
VmHWM after the call - VmRSS before it - the bytes of the arrays returned.
Where the peak cannot be reset, the peak of the whole process counts, and the
report says so. Below about 1 MB the number means little: pages of code and of
allocators come in too.

The process may not use more than a part of the free memory (RLIMIT_DATA), so
that a method that needs more fails instead of bringing down the machine.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .events import Events
from .methods import METHODS

PART_OF_FREE = 0.8
WARM_UP = 1_000
SMALLEST = 10_000  # events; with fewer, pages of code take more memory than the call


@dataclass(frozen=True)
class Peak:
    """Bytes above inputs and outputs, or None and the reason."""

    extra: int | None
    how: str
    failure: str = ""


def measure(name: str, n: int, timeout: float) -> Peak:
    """Measures a method at a number of events in a process of its own."""
    command = [sys.executable, "-m", "bench.memory", name, str(n)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=Path(__file__).parents[1])
    except subprocess.TimeoutExpired:
        return Peak(None, "", f"one call took more than {timeout:.0f} s")
    if done.returncode:
        return Peak(None, "", _reason(done))
    return Peak(**json.loads(done.stdout.splitlines()[-1]))


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    memory = any(word in done.stderr for word in ("allocate memory", "MemoryError", "out of memory"))
    return f"out of memory ({_gib(_allowed()):.0f} GiB allowed)" if memory or done.returncode == -9 else last[:200]


def status(field: str) -> int:
    """A field of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _allowed() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(PART_OF_FREE * int(line.split()[1]) * 1024)
    raise KeyError("MemAvailable")


def _gib(size: int) -> float:
    return size / 2**30


def _bytes_of(result: Any) -> int:
    return sum(map(_bytes_of, result)) if isinstance(result, tuple) else result.nbytes


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return status("VmHWM") <= status("VmRSS") + 2**20


def _one_call(name: str, n: int) -> Peak:
    method = METHODS[name]
    if method.threads:
        import libmode

        libmode.set_threads(method.threads)
    method.prepare(Events(max(WARM_UP, method.at_least)))()
    call = method.prepare(Events(n))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    time.sleep(0.1)
    reset = _reset_peak()
    before = status("VmRSS")
    result = call()
    peak = status("VmHWM") if reset else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    extra = max(0, peak - before - _bytes_of(result))
    return Peak(extra, "VmHWM after clear_refs" if reset else "ru_maxrss, whole process")


if __name__ == "__main__":
    allowed = _allowed()
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    print(json.dumps(vars(_one_call(sys.argv[1], int(sys.argv[2])))))
