"""Quantile edges of masses that are seen once, in chunks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import vector
from .._native import int32

#: Cells of the histogram. It covers at most four times the range of the masses.
_CELLS = 1 << 20


class _Histogram:
    """Counts in equal cells; where a mass lies outside, cells are merged two by two until it does not."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.width = low, max(high - low, float(np.spacing(max(abs(low), abs(high), 1e-290))) * _CELLS)
        self.counts = np.zeros(_CELLS, np.int64)

    def add(self, mass: NDArray[np.float64]) -> None:
        self._cover(float(mass.min()), float(mass.max()))
        cell = ((mass - self.low) / self.width * _CELLS).astype(np.intp)
        self.counts += np.bincount(np.minimum(cell, _CELLS - 1), minlength=_CELLS)

    def _cover(self, low: float, high: float) -> None:
        while low < self.low or high > self.low + self.width:
            half = self.counts.reshape(-1, 2).sum(axis=1)
            nothing = np.zeros_like(half)
            below = low < self.low
            self.counts = np.concatenate([nothing, half] if below else [half, nothing])
            self.low -= self.width * below
            self.width *= 2

    def edges(self, bins: int) -> NDArray[np.float64]:
        """The inner edges: upper edges of cells up to which there are the most nearly k/bins of the masses."""
        below = np.append(0, np.cumsum(self.counts))
        wanted = below[-1] * np.arange(1, bins) / bins
        place = np.searchsorted(below, wanted)
        place -= wanted - below[place - 1] < below[place] - wanted
        place = np.searchsorted(below, below[place])  # of cells without masses, the first
        found: NDArray[np.float64] = self.low + self.width * (place / _CELLS)
        return found


def edges_of(chunks: Iterable[Any], bins: Any, mass_range: tuple[float, float] | None) -> NDArray[np.float64]:
    """See :meth:`libmode.Accumulator.edges_of`."""
    count = int32("bins", bins)
    if count < 1:
        raise ValueError(f"bins = {count}: must be at least 1")
    if mass_range is not None and not (len(mass_range) == 2 and -np.inf < mass_range[0] < mass_range[1] < np.inf):
        raise ValueError(f"mass_range = {mass_range!r}: expected (low, high), finite and increasing")
    histogram: _Histogram | None = None
    least, most, added = np.inf, -np.inf, 0
    for chunk in chunks:
        mass = vector("mass", chunk).astype(np.float64, copy=False)
        if len(mass) and not (np.abs(mass.min()) < 1e300 and np.abs(mass.max()) < 1e300):
            place = int(np.argmin(np.abs(mass) < 1e300))
            raise ValueError(
                f"mass[{place}] = {mass[place]:g}, number {added + place} of all masses: "
                "expected a finite number, below 1e300 in size"
            )
        added += len(mass)
        if mass_range is not None:
            mass = mass[(mass >= mass_range[0]) & (mass <= mass_range[1])]
        if not len(mass):
            continue
        least, most = min(least, float(mass.min())), max(most, float(mass.max()))
        if histogram is None:
            histogram = _Histogram(*(mass_range or (least, most)))
        histogram.add(mass)
    if histogram is None:
        raise ValueError(f"chunks have no mass{'' if mass_range is None else ' inside mass_range'}: there are {added}")
    ends = mass_range or (least, most)
    inner = histogram.edges(count)
    inner = inner[(inner > ends[0]) & (inner < ends[1])]
    edges = np.unique(np.concatenate([[ends[0]], inner, [ends[1]]]))
    if len(edges) < 2:
        raise ValueError(f"every mass is {least:g}: expected different ones, between which there are edges")
    return edges
