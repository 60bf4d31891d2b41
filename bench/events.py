"""The events of the benchmark: the same arrays for every method."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Events:
    """n events with uniform scores, exponentially falling masses and positive weights, in float32."""

    def __init__(self, n: int, seed: int = 0) -> None:
        rng = np.random.default_rng([n, seed])
        self.n = n
        self.seed = seed
        self.score = rng.random(n, dtype=np.float32)
        self.mass = rng.standard_exponential(n, dtype=np.float32)
        self.mass *= 60
        self.mass += 50

    @cached_property
    def weight(self) -> NDArray[np.float32]:
        return np.random.default_rng([self.n, self.seed, 1]).standard_exponential(self.n, dtype=np.float32)

    @cached_property
    def in_float64(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score and mass in float64."""
        return self.score.astype(np.float64), self.mass.astype(np.float64)


def number_of_sets(n: int) -> int:
    """The number of sets of n events that calls cycle through.

    There are enough sets that no branch predictor memorizes their events, as it does a few thousand, and
    at most 2^24 events in all.
    """
    return max(1, min(max(8, 2**18 // n), 2**24 // n))


def sets_of(n: int) -> list[Events]:
    """Sets of n events. Each call takes the next one."""
    return [Events(n, seed) for seed in range(number_of_sets(n))]
