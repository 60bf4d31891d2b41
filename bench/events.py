"""The events of the benchmark: the same arrays for every method."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class Events:
    """n events with uniform scores, exponentially falling masses and positive weights, in float32."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(n)
        self.n = n
        self.score = rng.random(n, dtype=np.float32)
        self.mass = rng.standard_exponential(n, dtype=np.float32)
        self.mass *= 60
        self.mass += 50

    @cached_property
    def weight(self) -> NDArray[np.float32]:
        return np.random.default_rng(self.n + 1).standard_exponential(self.n, dtype=np.float32)

    @cached_property
    def in_float64(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Score and mass."""
        return self.score.astype(np.float64), self.mass.astype(np.float64)

    def write(self, directory: Path) -> None:
        """Writes score.bin and mass.bin, raw float32, for programs in other languages."""
        self.score.tofile(directory / "score.bin")
        self.mass.tofile(directory / "mass.bin")
