"""Histograms of all events over mass and score, whose size does not grow with the number of events."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..metrics._histogram import Histogram
from .events import Events
from .problem import Problem
from .sample import Sample

# Up to so many distinct scores have a cell each, and no score is rounded. Otherwise a cell holds a 10,000th of the
# background or of the signal, and less towards the highest scores.
MOST_CELLS = 32_768
QUANTILES, IN_TAIL = 10_000, 5_000


def fill(
    chunks: Iterable[Events], sample: Sample, edges: NDArray[np.float64], order: int, scores: int
) -> list[Histogram]:
    """A histogram for each of the first ``scores`` scores, and Legendre polynomials in mass up to ``order``."""
    bins = len(edges) - 1
    cells = [_score_edges(sample.background.scores[:, k], sample.signal.scores[:, k]) for k in range(scores)]
    tables = [np.zeros((2, bins + 1, len(lower) + 1)) for lower in cells]  # the signal in the last row
    legendre = np.zeros((bins, order + 1))
    for events in chunks:
        place = np.clip(np.searchsorted(edges, events.mass, "right") - 1, 0, bins - 1)
        place[events.label] = bins
        squares = events.weight**2
        for lower, table, score in zip(cells, tables, events.scores.T, strict=False):
            cell = place * table.shape[2] + np.searchsorted(lower, score, "right")
            for sums, weight in zip(table, (events.weight, squares), strict=True):
                sums += np.bincount(cell, weight, sums.size).reshape(sums.shape)
        x = 2 * (events.mass - edges[0]) / (edges[-1] - edges[0]) - 1
        for k, polynomial in enumerate(np.polynomial.legendre.legvander(x, order).T):
            legendre[:, k] += np.bincount(place, polynomial * events.weight, bins + 1)[:bins]
    total = legendre[:, 0].sum()
    if total <= 0:
        raise Problem(f"--weight sums to {total:g} over all background: expected a positive sum.")
    return [
        Histogram(
            mass=edges,
            score=np.concatenate([[-np.inf], lower, [np.inf]]),
            weight=table[0, :bins],
            square=table[1, :bins],
            beyond=np.zeros((2, len(lower) + 1)),
            signal=table[:, bins] if sample.events[1] else table[:, :bins].sum(axis=1),
            legendre=legendre,
        )
        for lower, table in zip(cells, tables, strict=True)
    ]


def _score_edges(*parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower edges of cells: all distinct scores or, if they are too many, quantiles of each class."""
    every = np.unique(np.concatenate(parts))
    if len(every) <= MOST_CELLS:
        return every
    shares = np.concatenate([np.linspace(0, 1, QUANTILES), 1 - np.geomspace(1e-7, 1, IN_TAIL)])
    chosen = [np.sort(part)[np.rint(shares * (len(part) - 1)).astype(np.intp)] for part in parts if len(part)]
    return np.unique(np.concatenate(chosen))
