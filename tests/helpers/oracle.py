"""The loss and its whole gradient by the definition, for up to a few million events.

J is computed anew at every distinct score, from a table of all the bins' CDFs
there, in numpy's longdouble: cumulative sums along the table, matrix products,
tanh of c / t. Nothing is carried from one score to the next but the cumulative
sums, there is no closed form of a difference, and no bin is left out of a sum.
64 bits of mantissa leave a difference of neighboring J an error of about
1e-19, and so 1e-11 of a gradient at 100,000 events. What depends on the bins
alone, P and A, comes from reference.py in 40 digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from reference import Binned, Reference, bin_of

# Where longdouble is no more than a double, as with Microsoft's compilers, it would prove nothing.
assert np.finfo(np.longdouble).eps < 2e-19

TABLE = 500_000  # elements of a table at a time: 8 MB, of which there are up to 4 (order + 1) at once


class Result(NamedTuple):
    """What the oracle finds."""

    loss: float
    gradient: np.ndarray  # NaN for tied events that were not chosen
    removed: float  # what ``unbiased`` takes from the plain loss
    score: np.ndarray  # the distinct scores
    steps: np.ndarray  # J just above each of them, less J just below


def long(values) -> np.ndarray:
    """Extended numbers of reference.py as longdoubles."""
    high = np.array(values, dtype=float)
    return high.astype(np.longdouble) + np.array(values - high, dtype=float)


class Oracle:
    """J for the events in these bins, and what follows from it."""

    def __init__(self, score, mass, weight, edges, *, score_range=(0, 1), **options):
        score, mass = (np.asarray(array, dtype=float) for array in (score, mass))
        weight = np.ones(len(mass)) if weight is None else np.asarray(weight, dtype=float)
        self.bins = bin_of(mass, edges)
        self.inside = np.flatnonzero(self.bins >= 0)
        binned = Binned.of(mass, weight, edges, options["order"], np.longdouble)
        self.exact = Reference(binned, **options)
        self.P, self.A, self.gram = (long(array) for array in (self.exact.P, self.exact.A, self.exact.gram))
        self.totals, self.squares = binned.totals, binned.squares
        self.factor = 1 - 2 * binned.cubes / (binned.totals * binned.squares) + binned.squares / binned.totals**2
        self.scale = np.longdouble(1) / (len(self.totals) if options.get("reduction", "mean") == "mean" else 1)
        self.penalty = np.longdouble(options.get("slope_penalty", 0))
        self.score, self.weight, self.score_range = score, weight.astype(np.longdouble), score_range

    def bound(self, c):
        """c~ of the rows of c, and d c~ / d c, which is None where there is no bound."""
        exact, rows = self.exact, len(c)
        if exact.max_slope is None and not exact.monotonic:
            return c, None
        value, d = c.copy(), np.zeros((rows, exact.order + 1, exact.order + 1), dtype=np.longdouble)
        d[:] = np.eye(exact.order + 1)
        value[np.abs(c[:, 1]) <= 1e-12 * np.abs(self.A[1]).sum(), 1] = 0
        if exact.max_slope is not None:
            pivot, sign = (1 - c[:, 0], -1) if exact.slope_of == "selected" else (c[:, 0], 1)
            flat = np.abs(pivot) <= 1e-12
            slope = np.longdouble(float(exact.max_slope))
            value[:, 1], d[:, 1, 1], by_t = squash(value[:, 1], np.where(flat, 1, slope * np.abs(pivot)))
            d[:, 1, 0] = by_t * slope * np.sign(pivot) * sign
            value[flat, 1], d[flat, 1] = 0, 0
        if exact.monotonic:
            flat = value[:, 1] == 0
            for degree in range(2, exact.order + 1):
                share = np.longdouble(2) / ((exact.order - 1) * degree * (degree + 1))
                t = np.where(flat, 1, share * np.abs(value[:, 1]))
                value[:, degree], own, by_t = squash(c[:, degree], t)
                d[:, degree] = (by_t * share * np.sign(value[:, 1]))[:, None] * d[:, 1]
                d[:, degree, degree] = own
                value[flat, degree], d[flat, degree] = 0, 0
        return value, d

    def integrand(self, sums, squares):
        """J without ``unbiased``, and what that takes from it, where the sums up to a score are these rows."""
        cdf = sums / self.totals
        c = cdf @ self.A.T
        value, d = self.bound(c)
        plain = ((cdf - value @ self.P) ** 2).sum(axis=1)
        if self.penalty:
            plain += self.penalty * c[:, 1] ** 2
        if not self.exact.unbiased:
            return plain, 0 * plain
        variance = (squares * (1 - 2 * cdf) + cdf**2 * self.squares) / (self.totals**2 * self.factor)
        moved = self.A if d is None else d @ self.A  # (order + 1, bins), for each row where there is a bound
        spread = 1 - 2 * (self.P * moved).sum(axis=-2) + (moved * (self.gram @ moved)).sum(axis=-2)
        if self.penalty:
            spread = spread + self.penalty * self.A[1] ** 2
        return plain, (variance * spread).sum(axis=1)

    def evaluate(self, chosen=None) -> Result:
        """Loss and gradient; of tied events only those of ``chosen`` are looked at, if that is given."""
        events = self.inside[np.argsort(self.score[self.inside], kind="stable")]
        levels, level, counts = np.unique(self.score[events], return_inverse=True, return_counts=True)
        wanted = np.ones(len(self.score), dtype=bool) if chosen is None else np.isin(np.arange(len(self.score)), chosen)
        ends = (levels[0], levels[-1]) if self.score_range is None else self.score_range
        gaps = np.diff(np.array([ends[0], *levels, ends[1]], dtype=np.longdouble))
        gradient = np.zeros(len(self.score), dtype=np.longdouble)
        steps = np.empty(len(levels), dtype=np.longdouble)
        n_bins = len(self.totals)
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
            above, above_removed = self.integrand(sums[1:], squares[1:])
            plain, removed = np.append(plain[-1], above), np.append(removed[-1], above_removed)
            integrand = plain - removed
            loss += integrand[:-1] @ gaps[first:last]
            taken += removed[:-1] @ gaps[first:last]
            steps[first:last] = np.diff(integrand)

            gradient[mine] = -steps[first:last][row]
            tied = np.flatnonzero(counts[level[here]] > 1)
            gradient[mine[tied[~wanted[mine[tied]]]]] = np.nan
            tied = tied[wanted[mine[tied]]]
            for some in np.array_split(tied, len(tied) // rows + 1):
                lower, upper = row[some], row[some] + 1
                one = np.zeros((len(some), n_bins), dtype=np.longdouble)
                one[np.arange(len(some)), bins[some]] = weight[some]
                middle, middle_squares = (sums[lower] + sums[upper]) / 2, (squares[lower] + squares[upper]) / 2
                before = self.integrand(middle - one / 2, middle_squares - one**2 / 2)
                after = self.integrand(middle + one / 2, middle_squares + one**2 / 2)
                gradient[mine[some]] = (before[0] - before[1]) - (after[0] - after[1])
        if self.score_range is None:  # the integral ends at the highest score: J above it is gained
            top = events[level == len(levels) - 1]
            gradient[top] += integrand[-1] / (1 if len(top) == 1 else 2)
        loss += integrand[-1] * gaps[-1]
        taken += removed[-1] * gaps[-1]
        return Result(float(self.scale * loss), self.scale * gradient, float(self.scale * taken), levels, steps)


def squash(c, t):
    """t tanh(c/t) and its derivatives by c and by t."""
    u = c / t
    with np.errstate(over="ignore"):
        slope = 1 / np.cosh(u) ** 2
    return t * np.tanh(u), slope, np.tanh(u) - u * slope


def cumulate(before, row, bins, values, rows):
    """The sums over each bin up to each row, after a first row that is ``before``."""
    table = np.zeros((rows + 1, len(before)), dtype=np.longdouble)
    table[0] = before
    np.add.at(table, (row + 1, bins), values)
    return np.cumsum(table, axis=0, out=table)
