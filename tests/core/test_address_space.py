"""A process with little address space gets a sentence where the library is loaded, in place of Go's trace."""

import os
import subprocess
import sys

import pytest
from libmode.prefix import PREFIX

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
C = PROGRAM + "ctypes.CDLL(sys.argv[2]).mode_abi_version(); print('loaded')"
MB = 10**6


def limited(program, left):
    """What a program does that may map this number of bytes once Python and libmode are imported."""
    command = [sys.executable, "-c", program, str(left), str(PREFIX / "lib" / "libmode.so")]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("left", [20 * MB, 300 * MB, 800 * MB, 990 * MB])
def test_python_raises_an_import_error(left):
    done = limited(PYTHON, left)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: libmode: loading the library takes 1 GB of address space, and this process may not have so much "
        "more: raise its limit (ulimit -v)"
    )


@pytest.mark.parametrize("left", [20 * MB, 300 * MB, 800 * MB, 890 * MB])
def test_a_c_program_ends_with_a_sentence(left):
    """ctypes stands for it: the loader does the same for a program that is linked to the library."""
    done = limited(C, left)
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr == (
        "libmode: loading it takes 0.9 GB of address space, and this process may not have so much: raise its limit "
        "(ulimit -v)\n"
    )


@pytest.mark.parametrize(("program", "left"), [(PYTHON, 1010 * MB), (C, 920 * MB)])
def test_so_much_is_enough(program, left):
    assert limited(program, left).returncode == 0
