"""A call for which there is no memory is an error, and not the end of the process; and many calls do not make it grow."""

import subprocess
import sys

import pytest
import soak

# The address space is limited to what the process has and a little more, then to more and more, until the call has memory
# enough. In between, each call is to be an error that says how much is left: where memory ended during one, Go would end the process.
LIMITED = """
import re
import resource
import sys

import libmode
import numpy as np

options = eval(sys.argv[1])
n = 8_000_000
rng = np.random.default_rng(0)
score, grad = rng.random(n, dtype=np.float32), np.empty(n, np.float32)
mass = rng.random((n, 2) if "joint" in options else n, dtype=np.float32)
weight = rng.random(n, dtype=np.float32) if options.pop("weighted", False) else None
small = rng.random(1000)
libmode.mode_loss(small, small)
libmode.set_threads(1)


def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()


start, refused = used(), []
for more in range(40, 8000, 100):  # MB
    resource.setrlimit(resource.RLIMIT_AS, (start + more * 2**20, resource.RLIM_INFINITY))
    try:
        loss = libmode.mode_loss(score, mass, weight=weight, **options)
        break
    except MemoryError as error:
        if "events need" in str(error):  # else NumPy has no memory for a copy
            refused.append(str(error))
    assert np.isfinite(libmode.mode_loss(small, small))  # small calls go on
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert loss == libmode.mode_loss(score, mass, weight=weight, **options)
left = [int(re.search(r"ulimit -v\\) leaves (\\d+) MB", text)[1]) for text in refused]
assert left[-1] > left[0], left
print(len(refused), refused[0], sep="|")
"""


@pytest.mark.parametrize(
    "options",
    [
        "dict()",
        "dict(weighted=True, order=2, max_slope=0.5)",
    ],
)
def test_a_limit_of_the_address_space_is_an_error(options):
    ended = subprocess.run([sys.executable, "-c", LIMITED, options], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    count, sentence = ended.stdout.split("|")
    assert int(count) >= 2
    assert sentence.startswith("score: 8000000 events need about ")
    assert "MB to compute with, and the limit of the address space" in sentence


# ------------------------------------------------------------------ a soak


def test_ten_thousand_calls_of_mixed_sizes_leave_memory_threads_and_files_as_they_were():
    subprocess.run([sys.executable, soak.__file__, "10000"], check=True, timeout=300)
