"""The loss and its whole gradient by the definition, for up to a few million events.

J is computed anew at every distinct score, from a table of all the bins' CDFs
there, in numpy's longdouble. Nothing is carried from one score to the next but
the cumulative sums, and there is no closed form of a difference. 64 bits of
mantissa leave a difference of neighboring J an error of about 1e-19, and so
1e-11 of a gradient at 100,000 events.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from reference import Binned, Reference, bin_of

TABLE = 500_000  # elements of a table at a time: 8 MB, of which there are up to 4 (order + 1) at once


class Result(NamedTuple):
    """What the oracle finds."""

    loss: float
    gradient: np.ndarray
    removed: float  # what ``unbiased`` takes from the plain loss


class Oracle:
    """The events in these bins, and what follows from them."""

    def __init__(self, score, mass, weight, edges, *, score_range=(0, 1), **options):
        self.score, mass = (np.asarray(array, dtype=float) for array in (score, mass))
        weight = np.ones(len(mass)) if weight is None else np.asarray(weight, dtype=float)
        self.bins = bin_of(mass, edges)
        self.inside = np.flatnonzero(self.bins >= 0)
        binned = Binned.of(mass, weight, edges, options["order"], np.longdouble)
        self.reference = Reference(binned, **options, number=np.longdouble)
        self.weight, self.score_range = weight.astype(np.longdouble), score_range

    def evaluate(self) -> Result:
        """Loss and gradient."""
        events = self.inside[np.argsort(self.score[self.inside], kind="stable")]
        levels, level, counts = np.unique(self.score[events], return_inverse=True, return_counts=True)
        ends = (levels[0], levels[-1]) if self.score_range is None else self.score_range
        gaps = np.diff(np.array([ends[0], *levels, ends[1]], dtype=np.longdouble))
        gradient = np.zeros(len(self.score), dtype=np.longdouble)
        n_bins = len(self.reference.totals)
        sums, squares = np.zeros((2, 1, n_bins), dtype=np.longdouble)  # up to the level before the block
        plain = removed = np.zeros(1, dtype=np.longdouble)
        loss = taken = np.longdouble(0)
        rows = max(1, TABLE // n_bins)
        for first in range(0, len(levels), rows):
            last = min(first + rows, len(levels))
            here = slice(*np.searchsorted(level, [first, last]))
            mine, row = events[here], level[here] - first
            bins, weight = self.bins[mine], self.weight[mine]
            sums = cumulate(sums[-1], row, bins, weight, last - first)
            squares = cumulate(squares[-1], row, bins, weight**2, last - first)
            above, above_removed = self.reference.parts(sums[1:], squares[1:])
            plain, removed = np.append(plain[-1], above), np.append(removed[-1], above_removed)
            integrand = plain - removed
            loss += integrand[:-1] @ gaps[first:last]
            taken += removed[:-1] @ gaps[first:last]
            gradient[mine] = -np.diff(integrand)[row]
            tied = np.flatnonzero(counts[level[here]] > 1)
            for some in np.array_split(tied, len(tied) // rows + 1):
                lower, upper = row[some], row[some] + 1
                one = np.zeros((len(some), n_bins), dtype=np.longdouble)
                one[np.arange(len(some)), bins[some]] = weight[some]
                middle, middle_squares = (sums[lower] + sums[upper]) / 2, (squares[lower] + squares[upper]) / 2
                before = self.reference.parts(middle - one / 2, middle_squares - one**2 / 2)
                after = self.reference.parts(middle + one / 2, middle_squares + one**2 / 2)
                gradient[mine[some]] = (before[0] - before[1]) - (after[0] - after[1])
        if self.score_range is None:  # the integral ends at the highest score: J above it is gained
            top = events[level == len(levels) - 1]
            gradient[top] += integrand[-1] / (1 if len(top) == 1 else 2)
        loss += integrand[-1] * gaps[-1]
        taken += removed[-1] * gaps[-1]
        scale = self.reference.scale
        return Result(float(scale * loss), scale * gradient, float(scale * taken))


def cumulate(before, row, bins, values, rows):
    """The sums over each bin up to each row, after a first row that is ``before``."""
    table = np.zeros((rows + 1, len(before)), dtype=np.longdouble)
    table[0] = before
    np.add.at(table, (row + 1, bins), values)
    return np.cumsum(table, axis=0, out=table)
