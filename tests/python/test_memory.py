"""Memory stays where it is, call after call."""

from pathlib import Path

import libmode
import numpy as np

CALLS = 10_000


def resident():
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_ten_thousand_calls():
    rng = np.random.default_rng(5)
    events = [(rng.random(n, dtype=np.float32), rng.exponential(60, n), rng.random(n)) for n in (300, 1_000, 2_000)]

    def calls(count):
        for k in range(count):
            score, mass, weight = events[k % 3]
            libmode.mode_loss_and_grad(score, mass, weight=weight, order=k % 4, unbiased=k % 2 == 0)

    calls(CALLS // 5)
    before = resident()
    calls(CALLS)
    assert resident() - before < 4 * 2**20
