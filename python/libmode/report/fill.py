"""Histograms of all events over mass and score: what a report is made of, however many events there are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ..metrics._histogram import Histogram
from .read import Events
from .sample import Sample

# Cells of score. Where there are no more distinct scores each has its own, and nothing is rounded. With more, a cell
# holds a 10,000th of the background or of the signal, and less towards the highest scores.
MOST_CELLS = 32_768
QUANTILES, IN_TAIL = 10_000, 5_000


def fill(chunks: Iterable[Events], sample: Sample, edges: NDArray[np.float64], order: int) -> list[Histogram]:
    """A histogram for each score, with these edges of mass, which hold all background.

    order : the highest of the Legendre polynomials whose sums are kept
    """
    scores = range(len(sample.background.scores))
    filled = [_Filled(len(edges) - 1, _score_edges(sample, k)) for k in scores]
    legendre = np.zeros((len(edges) - 1, order + 1))
    for chunk in chunks:
        parts = [chunk] if chunk.label is None else [chunk.where(~chunk.label), chunk.where(chunk.label)]
        place = np.searchsorted(edges, parts[0].mass, "right") - 1
        place[parts[0].mass == edges[-1]] = len(edges) - 2
        x = 2 * (parts[0].mass.astype(np.float64) - edges[0]) / (edges[-1] - edges[0]) - 1
        for k, powers in enumerate(np.polynomial.legendre.legvander(x, order).T):
            weighted = powers if parts[0].weight is None else powers * parts[0].weight
            legendre[:, k] += np.bincount(place, weighted, len(edges) - 1)
        for k in scores:
            filled[k].add(place, parts[0].scores[k], parts[0].weight)
            if len(parts) > 1:
                filled[k].add_signal(parts[1].scores[k], parts[1].weight)
    return [one.histogram(edges, legendre, sample.signal is not None) for one in filled]


class _Filled:
    """The sums of one score."""

    def __init__(self, bins: int, edges: NDArray[np.float64]) -> None:
        self._edges, self._shape = edges, (bins, len(edges) + 1)
        self._weight = np.zeros(self._shape)
        self._square = self._weight  # the same until weights come
        self._signal = np.zeros((2, len(edges) + 1))

    def add(self, place: NDArray[np.intp], score: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        cell = place * self._shape[1] + np.searchsorted(self._edges, score, "right")
        if weight is not None:
            if self._square is self._weight:
                self._square = np.zeros(self._shape)
            self._square += self._sums(cell, weight.astype(np.float64) ** 2)
        self._weight += self._sums(cell, weight)

    def _sums(self, cell: NDArray[np.intp], values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return np.bincount(cell, values, self._weight.size).astype(np.float64, copy=False).reshape(self._shape)

    def add_signal(self, score: NDArray[np.float64], weight: NDArray[np.float64] | None) -> None:
        cell = np.searchsorted(self._edges, score, "right")
        for k in (0, 1):
            values = None if weight is None else weight.astype(np.float64) ** (k + 1)
            self._signal[k] += np.bincount(cell, values, self._shape[1])

    def histogram(self, edges: NDArray[np.float64], legendre: NDArray[np.float64], labelled: bool) -> Histogram:
        return Histogram(
            mass=edges,
            score=np.concatenate([[-np.inf], self._edges, [np.inf]]),
            weight=self._weight,
            square=self._square,
            beyond=np.zeros((2, self._shape[1])),
            signal=self._signal if labelled else None,
            legendre=legendre,
        )


def _score_edges(sample: Sample, place: int) -> NDArray[np.float64]:
    """All distinct scores, each the lower edge of its cell; or, of too many, those at quantiles of each class."""
    parts = [part.scores[place] for part in sample.parts()]
    distinct = [np.unique(part) for part in parts]
    every = reduce(np.union1d, distinct).astype(np.float64)
    if len(every) <= MOST_CELLS:
        return every
    chosen = []
    for part in parts:
        last = len(part) - 1
        ranks = np.concatenate([np.linspace(0, last, QUANTILES), last + 1 - np.geomspace(1, last + 1, IN_TAIL)])
        chosen.append(np.sort(part)[np.rint(ranks).astype(np.intp)])
    return np.unique(np.concatenate(chosen)).astype(np.float64)
