"""Times methods in turns, so that a disturbance of the machine affects all of them.

A round gives every method a turn: A B C, A B C, ... A turn is a pause, in
which the waiting threads of the method before give up spinning (they would
slow down the next one, not their own), an untimed call, and some timed ones.
Long calls have a turn of a single timed call.
Progress is shown on a terminal only.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, islice

from tqdm import tqdm

Sampler = Callable[[int], list[float]]  #: makes that many calls, returns the seconds of each

PAUSE = 0.005
TURN = 0.005  # seconds of timed calls in a turn
SHORT = 0.05  # calls shorter than this are warmed up in every turn
ROUNDS = (3, 30)  # at least and at most


@dataclass(frozen=True)
class Timing:
    """Seconds of one call."""

    median: float
    fastest: float
    calls: int
    note: str = ""


def sampler(*calls: Callable[[], object], before: Callable[[], None] = lambda: None) -> Sampler:
    """Times calls in this process in a cycle. ``before`` is not timed."""
    endless = cycle(calls)

    def sample(count: int) -> list[float]:
        before()
        seconds = []
        for call in islice(endless, count):
            start = time.perf_counter()
            result = call()
            seconds.append(time.perf_counter() - start)
            del result  # and freeing it is not timed
        return seconds

    return sample


def interleaved(samplers: Mapping[str, Sampler], budget: float, limit: float, title: str = "") -> dict[str, Timing]:
    """Times the methods in turn, for about ``budget`` seconds in all.

    A method of which the first two calls both take longer than ``limit`` seconds
    has the faster of them for its result, and a note that says so.
    """
    # The first call allocates, and any call may meet a busy machine: the faster of two counts.
    first = {
        name: min(sample(1) + sample(1))
        for name, sample in tqdm(samplers.items(), desc=f"{title} first calls", leave=False, disable=None)
    }
    typical = {name: seconds for name, seconds in first.items() if seconds <= limit}
    calls = {name: max(1, min(50, int(TURN / seconds))) for name, seconds in typical.items()}
    one_round = sum((calls[name] + 1) * seconds + PAUSE for name, seconds in typical.items())
    rounds = max(ROUNDS[0], min(ROUNDS[1], int(budget / max(one_round, 1e-9))))
    seconds: dict[str, list[float]] = {name: [] for name in typical}
    gc.collect()
    gc.disable()
    try:
        with tqdm(
            total=rounds * len(typical), desc=f"{title} timing", unit="turn", leave=False, disable=None
        ) as progress:
            for _ in range(rounds):
                for name in typical:
                    time.sleep(PAUSE)
                    if typical[name] < SHORT:
                        samplers[name](1)
                    seconds[name] += samplers[name](calls[name])
                    progress.update()
    finally:
        gc.enable()
    timings = {name: Timing(statistics.median(s), min(s), len(s)) for name, s in seconds.items()}
    for name in first.keys() - typical.keys():
        timings[name] = Timing(first[name], first[name], 2, f"two calls took more than {limit:g} s each")
    return timings
