"""A process with little address space gets an error of its first call, in place of Go's trace or an end."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")

PROGRAM = """
import ctypes
import os
import resource
import sys
import libmode

pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
"""
PYTHON = PROGRAM + "print(libmode.mode_loss([0.1, 0.2, 0.3], [1, 2, 3], bins=1, order=0))"
TOO_LITTLE = (
    "loading libmode takes 1.7 GB of address space, and this process may not have so much more: raise its limit "
    "(ulimit -v)"
)
MB = 10**6


def limited(program, left):
    """What a program does that may map this number of bytes once Python and libmode are imported."""
    command = [sys.executable, "-c", program, str(left)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("left", [300 * MB, 1000 * MB, 1300 * MB, 1600 * MB])
def test_too_little_is_an_error_until_there_is_room(left):
    """An ImportError of Python."""
    done = limited(PYTHON, left)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (1, "", f"ImportError: {TOO_LITTLE}")


def test_a_library_that_does_not_fit_is_an_import_error():
    done = limited(PYTHON, 2 * MB)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(("ImportError", "Set LIBMODE_LIBRARY", "MemoryError"))


@pytest.mark.parametrize("left", [1720 * MB, 2000 * MB, 4000 * MB])
def test_so_much_is_enough(left):
    done = limited(PYTHON, left)
    assert (done.returncode, done.stderr) == (0, "")
