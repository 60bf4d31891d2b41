"""Threads and other libraries of Go beside the library: each scenario in a process of its own, which is killed if
it hangs."""

import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import libmode
import numpy as np
import pytest
from libmode import _native
from programs import run

LIMITED = {"timeout": 120, "PYTHONPATH": os.pathsep.join(sys.path)}  # seconds: many times what any needs

OPTIONS = [
    dict(order=1),
    dict(order=2, max_slope=0.5, monotonic=True),
    dict(order=1, bins=8),
]


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


def beside_another(path, order):
    """Another library of Go in the process, loaded first or last, works too."""
    if order == "first":
        want = call(1, 60_000)
    other = ctypes.CDLL(path)
    other.Work.restype = ctypes.c_longlong
    if order == "last":
        want = call(1, 60_000)

    def work():
        return [other.Work(ctypes.c_longlong(1000)) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        beside = [pool.submit(work) for _ in range(4)]
        for _ in range(20):
            assert call(1, 60_000) == want
        assert all(one.result() == [1000 * 999 // 2] * 20 for one in beside)


def get_threads():
    """The number of threads that one call may use."""
    threads = ctypes.c_int()
    _native.call("mode_get_threads", ctypes.byref(threads))
    return threads.value


def one_processor():
    """Where the process may run on one processor, a call uses one thread."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    assert get_threads() == 1
    libmode.set_threads(3)
    assert get_threads() == 3
    libmode.set_threads(0)
    assert get_threads() == 1


OTHER = """package main

import "C"
import "runtime"

//export Work
func Work(n int64) (sum int64) {
	parts := make(chan int64)
	for k := range n {
		go func() { parts <- k }()
	}
	for range n {
		sum += <-parts
	}
	runtime.GC()
	return sum
}

func main() {}
"""


@pytest.mark.parametrize("name", ["sixty_four_threads", "one_processor"])
def test_scenario(name):
    run(sys.executable, __file__, name, **LIMITED)


@pytest.fixture(scope="module")
def another(tmp_path_factory):
    """Another library of Go."""
    folder = tmp_path_factory.mktemp("other")
    (folder / "other.go").write_text(OTHER)
    run("go", "build", "-buildmode=c-shared", "-o", "other.so", "other.go", cwd=folder)
    return folder / "other.so"


@pytest.mark.parametrize("order", ["first", "last"])
def test_beside_another_library_of_go(another, order):
    run(sys.executable, __file__, "beside_another", another, order, **LIMITED)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
