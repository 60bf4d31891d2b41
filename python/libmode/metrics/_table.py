"""The background of a check in cells of mass and score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bins import Doubles, local, sums
from ._sample import Histogram, Sample

CUTS = 40  # of the test at all cuts
FEWEST = 10  # effective events of a bin of mass, at least
FINE, MOST_ROWS = 1.5, 400  # cells of mass a standard deviation of the signal, and in all
# Σw² of a bin of mass comes from its neighbors too, until there are so many effective events. Without this a bin that
# has no heavy event by chance would have too small an error.
FOR_SQUARES = 400


class Table(NamedTuple):
    """Sums over the background in r cells of mass and c of score; a cut selects the columns from its own on."""

    weight: Doubles  #: (r, c)
    square: Doubles  #: (r, c) of weights
    events: Doubles  #: (r,) their number; of a histogram, of effective events
    legendre: Doubles  #: (r, t) of w P_l(x), or products of P_l of several masses, in ascending degree
    instrument: Doubles  #: (r, t) the same, expected from the number of events: weights may depend on the score
    degree: NDArray[np.intp]  #: (t,) of these
    bins: NDArray[np.intp]  #: (b + 1,) the bins of mass consist of the rows between these
    edges: Doubles | None  #: (r + 1,) of the rows, in units of mass; None for several masses

    @property
    def effective(self) -> float:
        """The number of effective events."""
        return float(self.weight.sum() ** 2 / max(self.square.sum(), 1e-300))  # 0 without events

    def merged(self) -> Table:
        """The table with bins of mass as rows."""
        if len(self.bins) == len(self.weight) + 1:
            return self
        weight, square, events, legendre, instrument = (add(values.T, self.bins).T for values in self[:5])
        edges = None if self.edges is None else self.edges[self.bins]
        return Table(weight, square, events, legendre, instrument, self.degree, np.arange(len(self.bins)), edges)

    def squares(self) -> Doubles:
        """Σw² of each bin of mass, (b,), as expected from bins around it."""
        weight, square = self.weight.sum(axis=1), self.square.sum(axis=1)
        return np.asarray(np.maximum(local(square, self.events, weight, square, FOR_SQUARES) * self.events, square))


class Cells:
    """Cells of mass for background of fixed masses and weights; each call of :meth:`table` is a score."""

    def __init__(
        self, events: Sample, which: NDArray[np.intp], order: int, bins: Any, limits: Any, width: float | None
    ) -> None:
        """``which`` are the places of the events among all events."""
        grid = events.bins(bins, limits)
        place = grid.find(events.mass)
        inside = place >= 0
        sizes = [sums(place[inside], each[inside], grid.count) for each in (events.weight, events.square)]
        self.edges = None
        if len(grid.axes) > 1:  # cells without events, as outside a Dalitz plot, are left out
            kept = (sizes[0] > 0) & (sizes[0] ** 2 >= FEWEST / 2 * sizes[1])
            inside[inside] = kept[place[inside]]
            rows, self.place = int(kept.sum()), (np.cumsum(kept) - 1)[place[inside]]
            self.bins = np.arange(rows + 1)
        else:
            self.edges = coarse = grid.axes[0][_merged(*sizes)]
            span = coarse[-1] - coarse[0]
            if isinstance(events, Histogram):
                axis = events.axes[0]
                self.edges = axis[(axis >= coarse[0]) & (axis <= coarse[-1])]
            elif width is not None:
                fine = np.linspace(coarse[0], coarse[-1], min(max(int(FINE * span / width), 20), MOST_ROWS) + 1)
                self.edges = np.union1d(coarse, fine)
                self.edges = self.edges[np.r_[True, np.diff(self.edges) > 1e-9 * span]]
            rows, one = len(self.edges) - 1, events.mass[inside, 0].astype(np.float64)
            self.place = np.clip(np.searchsorted(self.edges, one, "right") - 1, 0, rows - 1)
            self.bins = np.unique(np.minimum(np.searchsorted(self.edges, coarse), rows))
        own = events.where(inside)
        self.which, self.rows, self.weight, self.square = which[inside], rows, own.weight, own.square
        self.degree, terms = grid.polynomials(own.mass.astype(np.float64), max(order, 2), own.widths())
        self.legendre = np.stack([self._sums(self.weight * term) for term in terms], axis=1)
        total, squares = self.legendre[:, 0], self._sums(self.square)
        if isinstance(events, Histogram) or (own.weight == 1).all():
            self.events = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
            self.instrument = self.legendre
            return
        self.events = self._sums(np.ones(len(self.weight)))
        of_bins = [add(each, self.bins) for each in (total, self.events, squares)]
        mean = local(of_bins[0], of_bins[1], of_bins[0], of_bins[2], FOR_SQUARES)
        self.instrument = np.stack([self._sums(term) for term in terms], axis=1)
        self.instrument = self.instrument * np.repeat(mean, np.diff(self.bins))[:, None]

    def _sums(self, values: Doubles) -> Doubles:
        """Sums over the events of each row."""
        return sums(self.place, values, self.rows)

    def table(self, score: Doubles, thresholds: Doubles) -> Table:
        """The events by the score, of all events, in columns between thresholds, (c - 1,)."""
        columns = len(thresholds) + 1
        cell = self.place * columns + np.searchsorted(thresholds, score[self.which], "right")
        weight, square = (
            sums(cell, each, self.rows * columns).reshape(-1, columns) for each in (self.weight, self.square)
        )
        return Table(weight, square, self.events, self.legendre, self.instrument, self.degree, self.bins, self.edges)


def add(values: Doubles, edges: NDArray[np.intp]) -> Doubles:
    """Sums along the last axis between neighboring places."""
    return np.add.reduceat(values[..., : edges[-1]], edges[:-1], axis=-1)


def _merged(total: Doubles, square: Doubles) -> list[int]:
    """Which edges of bins stay, so that each bin has enough effective events; remaining bins join the last one."""
    kept, w, q = [0], 0.0, 0.0
    for k, (own, of_square) in enumerate(zip(total.tolist(), square.tolist(), strict=True)):
        w, q = w + own, q + of_square
        if w > 0 and w**2 >= FEWEST * q:
            kept.append(k + 1)
            w = q = 0.0
    if kept[-1] != len(total):
        kept = [*kept[:-1], len(total)] if len(kept) > 1 else [0, len(total)]
    return kept
