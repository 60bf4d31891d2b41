"""What test_fork.py runs, each in a process of its own: ``python fork_scenarios.py NAME``.

The parent and every child set an alarm, which kills a process that hangs; a
killed or failed child fails its parent.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor

import libmode
import numpy as np
from libmode import _native

LIMIT = 60  # seconds: a hundred times what any child needs

# Enough events that the library uses several threads, whose loss in a child is what makes it hang.
N = 100_000


def batch(seed):
    """Score and mass of a batch."""
    rng = np.random.default_rng(seed)
    return rng.random(N), rng.random(N)


def evaluate(seed):
    """The loss of a batch and the sum of its absolute gradient."""
    loss, grad = libmode.mode_loss_and_grad(*batch(seed), order=2, monotonic=True)
    return loss, float(np.abs(grad).sum())


def in_child(function):
    """Runs a function in a forked child and fails unless it returns there."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIMIT)  # not inherited
        status = 1
        try:
            function()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    assert status == 0, f"child ended with wait status {status}"


def expect(seed, want):
    """Asserts the results of a batch."""
    assert evaluate(seed) == want, f"batch {seed} has other results in process {os.getpid()}"


def child_after_use():
    """A child of a process that has used the library."""
    want = evaluate(0)
    in_child(lambda: expect(0, want))
    expect(0, want)


def child_before_use():
    """A child of a process that has not used the library yet; both use it."""
    assert _native._library is None
    in_child(lambda: evaluate(0))
    assert _native._library is None
    want = evaluate(0)
    in_child(lambda: expect(0, want))


def grandchildren():
    """Children of children, before and after use in the child."""
    want = evaluate(0)

    def child():
        in_child(lambda: expect(0, want))
        expect(0, want)
        in_child(lambda: in_child(lambda: expect(0, want)))
        expect(0, want)

    in_child(child)


def while_another_thread_computes():
    """Children of a process one thread of which is inside the library at any moment."""
    want = evaluate(0)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            evaluate(1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            in_child(lambda: expect(0, want))
    finally:
        stop.set()
        thread.join()


def while_another_thread_loads():
    """A child of a process that was just loading the library, with the lock held."""
    with _native._loading:
        in_child(lambda: evaluate(0))
    evaluate(0)


def options_made_by_the_parent():
    """Options that the parent has checked and kept are those of the child."""
    options = dict(order=1, bins=10, edges=None, background_label=(0, 1))
    label = np.arange(N) % 2
    want = libmode.mode_loss(*batch(0), label=label, **options)

    def child():
        assert libmode.mode_loss(*batch(0), label=label, **options) == want
        try:
            libmode.mode_loss(*batch(0), order=17)
        except ValueError as error:
            assert "order = 17" in str(error)
        else:
            raise AssertionError("no error in the child")

    in_child(child)


def no_files_left():
    """The copy that a child loads does not stay in the temporary directory."""
    evaluate(0)
    in_child(lambda: evaluate(0))
    assert os.listdir(os.environ["TMPDIR"]) == []


def no_memory_file():
    """Where no file can be had in memory, the copy is one in the temporary directory, or an error says what helps."""

    def refuse(*arguments):
        raise PermissionError("not allowed here")

    os.memfd_create = refuse
    want = evaluate(0)
    in_child(lambda: expect(0, want))
    in_child(lambda: in_child(lambda: expect(0, want)))

    def child_without_any():
        tempfile.tempdir = "/dev/null/missing"
        try:
            evaluate(0)
        except ImportError as error:
            for part in ("forked", "from memory (not allowed here)", "/dev/null/missing", "set TMPDIR to", "spawn"):
                assert part in str(error), error
        else:
            raise AssertionError("no error in the child")

    in_child(child_without_any)


def multiprocessing_pool():
    """multiprocessing.Pool and concurrent.futures over fork."""
    want = [evaluate(seed) for seed in range(4)]
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map(evaluate, range(4)) == want
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(evaluate, range(4))) == want


def the_parents_library():
    """In a child every function of the parent's copy that computes returns MODE_ERROR_FORKED with a message."""
    evaluate(0)
    parents = _native.library()
    options = _native.default_options()
    result, count, threads = _native.ModeResult(-1), ctypes.c_size_t(), ctypes.c_int()
    score, mass = batch(0)
    single = score.astype(np.float32).ctypes.data
    out = np.zeros(N)
    o = out.ctypes.data
    pointer = ctypes.byref
    events = _native.events(N, [mass.ctypes.data], score=score.ctypes.data)
    calls = {
        "mode_options_init": (options, ctypes.sizeof(options)),
        "mode_options_check": (options,),
        "mode_evaluate_f32": (options, _native.events(N, [single], score=single), result, o, None),
        "mode_evaluate_f64": (options, events, result, o, None),
        "mode_option_at": (0, _native._Row()),
        "mode_edges_f64": (options, events, N, o, pointer(count)),
        "mode_moments_f64": (options, events, 1, score.ctypes.data, 32, o, None, None),
        "mode_set_threads": (1,),
        "mode_get_threads": (pointer(threads),),
    }

    def child():
        for name, arguments in calls.items():
            assert getattr(parents, name)(*arguments) == 8, name
            message = parents.mode_last_error().decode()
            assert "fork()" in message and "spawn" in message, message
        assert result.loss == -1, "the result was written"
        assert parents.mode_version().decode() == libmode.__version__
        assert parents.mode_abi_version() == _native.ABI_VERSION

    in_child(child)
    in_child(lambda: in_child(child))
    assert parents.mode_evaluate_f64(*calls["mode_evaluate_f64"]) == 0


SCENARIOS = {
    function.__name__: function
    for function in (
        child_after_use, child_before_use, grandchildren, while_another_thread_computes, while_another_thread_loads,
        options_made_by_the_parent, no_files_left, no_memory_file, multiprocessing_pool, the_parents_library,
    )
}  # fmt: skip

if __name__ == "__main__":
    signal.alarm(LIMIT)
    SCENARIOS[sys.argv[1]]()
