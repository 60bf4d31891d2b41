"""Ctrl-C while the core is at work: the caller does not wait, and nothing that the core uses goes away."""

import signal
import subprocess
import sys
import threading

import pytest

PROGRAM = """
import signal
import sys
import threading
import numpy as np
import libmode
from libmode import _interruptible

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start programs in the background without it
n = 3 * _interruptible.LARGE
rng = np.random.default_rng(0)
options = dict(order=2, bins=32, moments="quadrature", unbiased=True, max_slope=0.3, monotonic=True)
libmode.set_threads(1)
announced = _interruptible.interruptible
released = threading.Event()  # until then the call goes on, however slowly this program is served


def announcing(call, *held):
    def announced_call():
        print("in the core", flush=True)
        if sys.argv[1:] == ["unnoticed"]:  # by the main thread, which waits: this one is given the signal
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        try:
            return call()
        finally:
            released.wait(100)

    return announced(announced_call, *held)


libmode._native.interruptible = announcing
try:
    arrays = [rng.random(n), rng.exponential(size=n)]
    libmode.mode_loss_and_grad(arrays.pop(0), arrays.pop(), **options)  # there is no other reference to the arrays
except KeyboardInterrupt:
    left = [thread for thread in threading.enumerate() if thread.name == "libmode"]
    print("interrupted, at work:", len(left), flush=True)
    score, mass = rng.random(1000), rng.random(1000)
    print(np.isfinite(libmode.mode_loss(score, mass, bins=5, order=0)), flush=True)  # meanwhile
    released.set()
    for thread in left:
        thread.join()
    print("ended", flush=True)
"""


def interrupted(*, unnoticed):
    """What the program returns and prints after an interrupt from outside, or one that does not wake who waits."""
    arguments = [sys.executable, "-c", PROGRAM, *["unnoticed"] * unnoticed]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        limit = threading.Timer(120, process.kill)  # communicate(timeout=120) drops what readline has read ahead
        limit.start()
        try:
            assert process.stdout.readline() == "in the core\n"
            if not unnoticed:
                process.send_signal(signal.SIGINT)
            printed = process.stdout.read().splitlines()
            return process.wait(), printed
        finally:
            limit.cancel()
            process.kill()


@pytest.mark.parametrize("unnoticed", [False, True])
def test_an_interrupt_does_not_wait_for_a_long_call(unnoticed):
    assert interrupted(unnoticed=unnoticed) == (0, ["interrupted, at work: 1", "True", "ended"])
