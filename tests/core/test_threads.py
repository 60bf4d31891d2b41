"""Threads and many calls: each scenario in a process of its own, which is killed if it hangs."""

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import libmode
import numpy as np
import pytest
import soak
from libmode import _native
from programs import run

LIMITED = {"timeout": 120, "PYTHONPATH": os.pathsep.join(sys.path)}  # seconds: many times what any needs

OPTIONS = [dict(order=1), dict(order=2, max_slope=0.5, monotonic=True), dict(order=1, bins=8)]


def call(k, n):
    """Loss and gradient of a call of its own, as bytes."""
    rng = np.random.default_rng(k)
    score, mass = rng.random(n), rng.exponential(size=n)
    loss, grad = libmode.mode_loss_and_grad(score, mass, **OPTIONS[k % len(OPTIONS)])
    return loss, grad.tobytes()


SIZES = [300, 5_000, 60_000]  # of the last several threads share each call


def sixty_four_threads():
    """64 threads of Python at once have the results, and the errors, that each has alone."""
    alone = [[call(k, n) for n in SIZES] for k in range(64)]
    start = threading.Barrier(64)

    def work(k):
        start.wait()
        found = []
        for n in SIZES:
            found.append(call(k, n))
            with pytest.raises(ValueError, match=f"order = {100 + k} "):
                libmode.mode_loss([0.5] * 9, range(9), order=100 + k)
        return found

    with ThreadPoolExecutor(64) as pool:
        assert list(pool.map(work, range(64))) == alone


def get_threads():
    """The number of threads that one call may use."""
    threads = ctypes.c_int()
    _native.call("mode_get_threads", None, ctypes.byref(threads))
    return threads.value


def one_processor():
    """Where the process may run on one processor, a call uses one thread."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    assert get_threads() == 1
    libmode.set_threads(3)
    assert get_threads() == 3
    libmode.set_threads(0)
    assert get_threads() == 1


@pytest.mark.parametrize("name", ["sixty_four_threads", "one_processor"])
def test_scenario(name):
    run(sys.executable, __file__, name, **LIMITED)


def test_two_thousand_calls_of_mixed_sizes_leave_memory_threads_and_files_as_they_were():
    """./build.sh test-full makes a million."""
    run(sys.executable, soak.__file__, "2000")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
