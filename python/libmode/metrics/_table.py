"""The background of a check in cells of mass and score, from events or from a histogram."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bins import Bins, Doubles, local, sums
from ._histogram import Histogram, add, spread

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
    """Cells of mass for events of fixed masses and weights, (n, d) and (n,); each call of :meth:`table` is a score."""

    def __init__(self, mass: Doubles, weight: Doubles | None, order: int, bins: Any, limits: Any, width: float | None):
        every = np.ones(len(mass)) if weight is None else weight
        grid = Bins(bins, mass, limits)
        place = grid.find(mass)
        self.inside = place >= 0
        place, mass, every = place[self.inside], mass[self.inside].astype(np.float64), every[self.inside]
        self.edges = None
        sizes = [sums(place, values, grid.count) for values in (every, every**2)]
        if mass.shape[1] == 1:
            coarse = grid.axes[0][_merged(*sizes)]
            self.edges = coarse
            if width is not None:
                span = coarse[-1] - coarse[0]
                fine = np.linspace(coarse[0], coarse[-1], min(max(int(FINE * span / width), 20), MOST_ROWS) + 1)
                self.edges = np.union1d(coarse, fine)
                self.edges = self.edges[np.r_[True, np.diff(self.edges) > 1e-9 * span]]
            place = np.clip(np.searchsorted(self.edges, mass[:, 0], "right") - 1, 0, len(self.edges) - 2)
            self.bins = np.unique(np.minimum(np.searchsorted(self.edges, coarse), len(self.edges) - 1))
            rows = len(self.edges) - 1
        else:  # cells without events, as outside a Dalitz plot, are left out
            kept = (sizes[0] > 0) & (sizes[0] ** 2 >= FEWEST / 2 * sizes[1])
            number = np.cumsum(kept) - 1
            self.inside[self.inside] = kept[place]
            mass, every, place = mass[kept[place]], every[kept[place]], number[place[kept[place]]]
            rows = int(kept.sum())
            self.bins = np.arange(rows + 1)
        self.place, self.rows = place, rows
        self.degree, terms = grid.polynomials(mass, max(order, 2))
        self.events = np.bincount(place, minlength=rows).astype(float)
        self.instrument = np.stack([sums(place, term, rows) for term in terms], axis=1)
        self.legendre = self.instrument
        if weight is not None:
            self.legendre = np.stack([sums(place, every * term, rows) for term in terms], axis=1)
            sizes = [add(each, self.bins) for each in (self.legendre[:, 0], self.events, sums(place, every**2, rows))]
            mean = local(sizes[0], sizes[1], sizes[0], sizes[2], FOR_SQUARES)
            self.instrument = self.instrument * np.repeat(mean, np.diff(self.bins))[:, None]
        self._every = None if weight is None else (every, every**2)

    def table(self, score: Doubles, thresholds: Doubles) -> Table:
        """The events by score, (n,), in columns between thresholds, (c - 1,)."""
        columns = len(thresholds) + 1
        cell = self.place * columns + np.searchsorted(thresholds, score[self.inside], "right")
        if self._every is None:
            weight = square = np.bincount(cell, minlength=self.rows * columns).astype(float).reshape(-1, columns)
        else:
            weight, square = (sums(cell, one, self.rows * columns).reshape(-1, columns) for one in self._every)
        return Table(weight, square, self.events, self.legendre, self.instrument, self.degree, self.bins, self.edges)


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


def of_histogram(histogram: Histogram, order: int, bins: Any, thresholds: Doubles) -> Table:
    """The table of a histogram, whose bins of mass are its rows."""
    if bins is None or np.ndim(bins) == 0:
        wanted, total = bins or 20, histogram.weight.sum(axis=1)
        share = np.cumsum(np.abs(total)) / np.abs(total).sum()
        inner = np.searchsorted(share, np.arange(1, wanted) / wanted) + 1
        at = np.unique(np.clip(np.r_[0, inner, len(total)], 0, len(total)))
    else:
        at = histogram.merged(bins)[1]
    first, last = at[0], at[-1]
    columns = np.array([histogram.cell(one) for one in thresholds.tolist()], np.intp)
    to = np.r_[0, columns, histogram.weight.shape[1]]
    weight, square = (
        np.diff(np.pad(each[first:last].cumsum(axis=1), ((0, 0), (1, 0)))[:, to], axis=1)
        for each in (histogram.weight, histogram.square)
    )
    edges = histogram.mass[first : last + 1]
    total, of_squares = weight.sum(axis=1), square.sum(axis=1)
    place = np.repeat(np.arange(len(at) - 1), np.diff(at))
    sizes = [sums(place, values, len(at) - 1) for values in (total, of_squares)]
    coarse = _merged(*sizes)
    legendre = spread(total, edges, max(order, 2)).T
    count = np.divide(total**2, of_squares, out=np.zeros_like(total), where=of_squares > 0)
    degree = np.arange(legendre.shape[1])
    return Table(weight, square, count, legendre, legendre, degree, (at - first)[coarse], edges)
