"""The tests of a check: each compares selected background with what a polynomial in mass expects."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legder, legval

from ._bins import Doubles
from ._chi_squared import PER_WINDOW, tail, windows
from ._table import Table

# Of the background. Looser cuts, which few searches make, hardly change the spectrum. Every cut of the user is tested.
LOOSEST = 0.5
NEW_MAXIMUM = 4.0  # standard deviations by which a maximum of the selected spectrum stands above either side
HAD = 2.0  # standard deviations with which the spectrum before has the maximum too
LEAST = 0.05  # of the mean efficiency of a cut, for variances


class Probability(NamedTuple):
    """The p-value of a test, and the one that a search with ``tolerance`` events would find on average."""

    here: float
    there: float


class Null:
    """Selected background at each cut, and what the nearest polynomial expects, by weighted least squares."""

    def __init__(self, table: Table, order: int, cuts: Any) -> None:
        """``cuts`` are columns of the table: events there, and in later columns, are selected."""
        self.table, self.cuts = table, np.asarray(cuts, np.intp)
        self.terms = int(np.count_nonzero(table.degree <= order))
        self.ndof = len(table.weight) - self.terms
        self.weight, self.square = table.weight.sum(axis=1), table.squares()
        # (b, k) sums of selected weights, and of their squares
        self.selected, squares = (
            values[:, ::-1].cumsum(axis=1)[:, ::-1][:, self.cuts] for values in (table.weight, table.square)
        )
        self.squares_selected = squares
        self.design = table.legendre[:, : self.terms]
        basis = self.design / self.weight[:, None]
        # The fraction of the squares that is selected: a polynomial in mass too, where weights depend on the score. All
        # bins count alike, since a single heavy event can have most of the squares of a bin.
        of_squares = np.linalg.lstsq(basis, squares / table.square.sum(axis=1)[:, None], rcond=None)[0]
        self.of_squares = _above(basis @ of_squares)
        self.variance = np.repeat(self.square[:, None], len(self.cuts), axis=1)
        for _ in range(2):
            self.coefficients, _ = self._fit(self.terms)
            self.expected = self.design @ self.coefficients  # (b, k)
            self.efficiency = _above(basis @ self.coefficients)
            self.variance = variance(self.square[:, None], self.of_squares, self.efficiency)
        # (b, k) distances from the polynomial in standard deviations of the bin
        self.pulls: Doubles = (self.selected - self.expected) / np.sqrt(self.variance)

    def _fit(self, terms: int) -> tuple[Doubles, Doubles]:
        """Coefficients (t, k), and their covariances (k, t, t).

        The sums of weights that a polynomial multiplies fluctuate with the selected ones where a few events of high
        scores are heavy. Least squares would then be biased; sums expected from numbers of events are instruments.
        """
        design, instrument = self.table.legendre[:, :terms], self.table.instrument[:, :terms]
        scaled = instrument.T[None] / self.variance.T[:, None]  # (k, t, b)
        inverse = np.linalg.pinv(scaled @ design)
        covariance = inverse @ (scaled @ instrument) @ inverse.transpose(0, 2, 1)
        return np.einsum("kts,ksb,bk->tk", inverse, scaled, self.selected), covariance

    def of_degree(self, degree: int) -> tuple[Doubles, Doubles]:
        """The coefficients of the efficiency of the first cut, a polynomial of this degree, and their covariance."""
        coefficients, covariance = self._fit(int(np.count_nonzero(self.table.degree <= degree)))
        return coefficients[:, 0], covariance[0]


def _above(efficiency: Doubles) -> Doubles:
    """Efficiencies (b, k) for variances: where a polynomial reaches 0 or 1 the errors are not 0."""
    mean = np.clip(efficiency.mean(axis=0), 0, 1)
    return np.clip(efficiency, LEAST * mean, 1 - LEAST * (1 - mean))


def variance(square: Doubles, of_squares: Doubles, efficiency: Doubles) -> Doubles:
    """Of the selected weight less what an efficiency expects, given the events; it is above 0."""
    part = of_squares * (1 - efficiency) ** 2 + (1 - of_squares) * efficiency**2
    return np.asarray(np.maximum(square * part, 1e-12 * square.max() + np.finfo(float).tiny))


def all_cuts(table: Table, order: int, share: float) -> Probability | None:
    """The mean over the cuts of chi^2: Anderson and Darling's test of the bins against the polynomial.

    ``share`` is the share of a search with fewer events. None where no cut leaves enough events on both sides.
    """
    bins = len(table.weight)
    above, of_squares = (values.sum(axis=0)[::-1].cumsum()[::-1] for values in (table.weight, table.square))
    with np.errstate(divide="ignore", invalid="ignore"):
        passed = np.where(of_squares > 0, above**2 / of_squares, 0)
        others = (above[0] - above) ** 2 / np.maximum(of_squares[0] - of_squares, 1e-300)
    cuts = np.flatnonzero((passed >= PER_WINDOW * bins) & (others >= PER_WINDOW * bins) & (above <= LOOSEST * above[0]))
    cuts = cuts[cuts > 0]
    if not len(cuts):
        return None
    null = Null(table, order, cuts)
    value = float(np.mean(null.pulls**2, axis=1).sum())
    efficiency, squares = null.efficiency, null.of_squares
    both = squares[:, np.maximum.outer(np.arange(len(cuts)), np.arange(len(cuts)))]  # later columns select fewer
    cross = both - squares[:, :, None] * efficiency[:, None] - squares[:, None] * efficiency[:, :, None]
    cross = (cross + efficiency[:, :, None] * efficiency[:, None]) * null.square[:, None, None]
    scale = np.sqrt(null.variance)
    correlation = np.mean(cross / (scale[:, :, None] * scale[:, None]), axis=0)
    scales = np.maximum(np.linalg.eigvalsh(correlation), 0) / len(cuts)
    return _probability(value, np.repeat(scales, null.ndof), share)


def _probability(value: float, scales: Doubles, share: float) -> Probability:
    here, mean = tail(value, scales), float(scales.sum())
    if share == 1:
        return Probability(here, here)
    return Probability(here, tail(max(mean + (value - mean) * share, 0.0), scales))


def one_cut(null: Null, share: float) -> Probability:
    """The sum of squared sums of pulls over windows of neighboring bins, wide enough to hold two selected events."""
    bins = len(null.weight)
    passed = float(null.selected[:, 0].sum() ** 2 / max(null.squares_selected[:, 0].sum(), 1e-300))
    rest = null.weight - null.selected[:, 0], null.table.square.sum(axis=1) - null.squares_selected[:, 0]
    others = float(rest[0].sum() ** 2 / max(rest[1].sum(), 1e-300))
    width = 1 if null.table.edges is None else math.ceil(PER_WINDOW * bins / max(min(passed, others), 1))
    flat = np.linalg.qr(null.table.instrument[:, : null.terms] / np.sqrt(null.variance))[0]
    value, scales = windows(null.pulls[:, 0], np.eye(bins) - flat @ flat.T, width)
    return _probability(value, scales[scales > 1e-9 * scales.max()], share)


def two_sided(significance: float) -> float:
    """The p-value of a Gaussian of either sign."""
    return math.erfc(abs(significance) / math.sqrt(2))


def new_maximum(edges: Doubles | None, null: Null) -> float | None:
    """The mass of a maximum of the selected spectrum that the spectrum before has not; None without one."""
    if edges is None or len(null.weight) < 3:
        return None
    widths = np.diff(edges)
    after, before = null.selected[:, 0] / widths, null.weight / widths
    least = np.maximum(null.of_squares[:, 0], 1 / null.table.events.sum())  # no bin expects less than an event in all
    errors = np.sqrt(null.square * least) / widths, np.sqrt(null.square) / widths

    def rises(density: Doubles, error: Doubles) -> Doubles:
        """By how many standard deviations the second bin has more density than the first, (b, b)."""
        return (density - density[:, None]) / np.sqrt(error**2 + error[:, None] ** 2)

    up, had = rises(after, errors[0]), rises(before, errors[1])
    best: tuple[float, float | None] = (NEW_MAXIMUM, None)
    for k in range(1, len(after) - 1):
        left, right = int(np.argmax(up[:k, k])), k + 1 + int(np.argmax(up[k + 1 :, k]))
        size = min(up[left, k], up[right, k])
        if size > best[0] and not min(had[left, k], had[right, k]) > HAD:
            best = float(size), float((edges[k] + edges[k + 1]) / 2)
    return best[1]


def zero(table: Table, null: Null) -> float | None:
    """The mass nearest to the middle at which the polynomial reaches 0; None if it does not."""
    if table.edges is None or null.terms == 1:
        return None
    x = np.linspace(-1, 1, 401)
    at = x[legval(x, null.coefficients[:, 0]) <= 0]
    if not len(at):
        return None
    low, high = table.edges[[0, -1]]
    return float((low + high + at[np.argmin(np.abs(at))] * (high - low)) / 2)


def bounds(null: Null) -> dict[str, Any]:
    """The slope |c_1| / c_0 of the best line, the turn 3 |c_2| / |c_1| of the best parabola, errors by propagation."""
    (level, slope), of_line = null.of_degree(1)
    (_, linear, quadratic), of_parabola = null.of_degree(2)
    turn = 3 * abs(quadratic / linear)
    error = turn * math.hypot(math.sqrt(of_parabola[2, 2]) / quadratic, math.sqrt(of_parabola[1, 1]) / linear)
    return {
        "slope": abs(float(slope / level)), "slope_error": math.sqrt(of_line[1, 1]) / abs(level),
        "turn": float(turn), "turn_error": abs(float(error)),
    }  # fmt: skip


def turns(null: Null, order: int) -> float:
    """By how many standard deviations the best polynomial is neither rising nor falling; 0 if it is one of both."""
    coefficients, covariance = null.of_degree(order)
    x = np.linspace(-1, 1, 41)
    slopes = np.stack([legval(x, legder(unit)) for unit in np.eye(order + 1)], axis=1)
    pulls = slopes @ coefficients / np.sqrt(np.einsum("xi,ij,xj->x", slopes, covariance, slopes))
    return float(max(min(pulls.max(), -pulls.min()), 0.0))
