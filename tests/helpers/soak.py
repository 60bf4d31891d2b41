"""Calls of mixed sizes and options, of which memory, threads and open files must not grow: ``python soak.py CALLS``.

Calls have up to 200,000 events. Large ones of all kinds come first, after which the library keeps all that it ever will. Two
fifths of the calls warm the process up; the resident memory of the last three is within 10 % of the second. Threads and files
stay as many, but for a few that the runtime of Go takes once: a file or two for its timers, a thread for a goroutine that waits.
"""

from __future__ import annotations

import itertools
import os
import sys

import libmode
import numpy as np

FLAT = 1.1
ONCE = 4

OPTIONS = [
    dict(order=0), dict(order=1, max_slope=0.5), dict(order=2, monotonic=True), dict(order=1, bins=8),
    dict(order=5, bins=16), dict(background_label=(0, 1)),
]  # fmt: skip


def resident() -> int:
    """The resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def counts() -> tuple[int, int]:
    """How many threads and open files this process has."""
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def calls(rng: np.random.Generator, most: int):
    """Calls without end: large ones of all kinds, then mostly small batches, a few samples, and now and then an error."""
    score, mass = rng.random((2, most))
    weight, label = rng.exponential(size=most), rng.integers(0, 2, most)
    double = score, mass, weight
    single = tuple(array.astype(np.float32) for array in double)
    for (s, m, w), options, _ in itertools.product((single, double), OPTIONS, range(3)):
        for more in (dict(label=label), dict(label=label, weight=w), dict(weight=w)):
            yield s, m, options | more
    while True:
        n = int(rng.choice([256, 1_000, 10_000, most], p=[0.5, 0.39, 0.1, 0.01]))
        s, m, w = (array[:n] for array in (single if rng.random() < 0.5 else double))
        given = dict(label=label[:n], weight=w if rng.random() < 0.3 else None) | OPTIONS[rng.integers(len(OPTIONS))]
        outside = rng.random() < 0.01  # of score_range
        yield s + outside, m, given


def soak(number: int) -> None:
    """Makes so many calls and looks at the process."""
    peaks, of_process, failed = [0] * 5, [], 0
    every = calls(np.random.default_rng(1), min(200_000, 2 * number))
    for k, (score, mass, options) in enumerate(itertools.islice(every, number)):
        try:
            loss, grad = libmode.mode_loss_and_grad(score, mass, **({"order": 0} | options))
            assert np.isfinite(loss) and np.isfinite(grad[0])
        except ValueError as error:
            assert "score_range" in str(error), error
            failed += 1
        fifth = 5 * k // number
        peaks[fifth] = max(peaks[fifth], resident())
        if 5 * (k + 1) % number == 0:
            of_process.append(counts())
    shown = f"resident MB by fifth: {[peak >> 20 for peak in peaks]}; threads, files: {of_process}"
    print(f"{number} calls, {failed} errors; {shown}")
    assert failed > 0
    assert max(peaks[2:]) <= FLAT * peaks[1], "memory grows"
    for first, *later in zip(*of_process, strict=True):
        assert max(later) <= first + ONCE, "threads or files grow"


if __name__ == "__main__":
    soak(int(sys.argv[1]))
