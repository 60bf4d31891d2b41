"""Memory stays where it is, call after call: in a process of its own, where no earlier test has left any to return."""

import subprocess
import sys
from pathlib import Path

import libmode
import numpy as np

CALLS = 10_000


def resident():
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def growth():
    """By how many bytes ten thousand calls make the process grow."""
    rng = np.random.default_rng(5)
    events = [(rng.random(n, dtype=np.float32), rng.exponential(60, n), rng.random(n)) for n in (300, 1_000, 2_000)]

    def calls(count):
        for k in range(count):
            score, mass, weight = events[k % 3]
            libmode.mode_loss_and_grad(score, mass, weight=weight, order=k % 4, unbiased=k % 2 == 0)

    calls(CALLS // 5)
    before = resident()
    calls(CALLS)
    return resident() - before


def test_ten_thousand_calls():
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 4 * 2**20


if __name__ == "__main__":
    print(growth())
