"""The tests of a check: each compares selected background with what a polynomial in mass expects."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legder, legval, legvander

from ._arguments import Doubles
from ._chi_squared import tail
from ._table import Table

# A window of mass has at least so many selected effective events on average: in toys p < 0.01 was then right.
PER_WINDOW = 2
NEW_MAXIMUM = 4.0  # standard deviations by which a maximum of the selected spectrum stands above either side
HAD = 2.0  # and by which the spectrum before has it too


class Probability(NamedTuple):
    """The p-value of a test, and the one that a search with ``tolerance`` events would find on average."""

    here: float
    there: float


class Bump(NamedTuple):
    """The signal that the fit of a template finds in selected background, where there is none."""

    signal_mass: float
    signal: float  #: fitted signal, a sum of weights
    error: float  #: its standard error in this sample
    significance: float  #: in errors of a search with ``tolerance`` events
    height: float  #: signal over the background under it
    height_error: float
    p_value: Probability


LEAST = 0.05  # of the mean efficiency of a cut, for variances


class Null:
    """Selected background at each cut, and what the nearest polynomial expects, by weighted least squares."""

    def __init__(self, table: Table, order: int, cuts: Any) -> None:
        """``cuts`` are columns of the table: events there, and in later columns, are selected."""
        self.table, self.cuts = table, np.asarray(cuts, np.intp)
        self.terms = int(np.count_nonzero(table.degree <= order))
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

    def pulls(self) -> Doubles:
        """Distances from the polynomial in standard deviations of the bin, (b, k)."""
        return np.asarray((self.selected - self.expected) / np.sqrt(self.variance))

    @property
    def ndof(self) -> int:
        """Bins less terms."""
        return len(self.weight) - self.terms

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

    ``share`` is that of a search with fewer events. None where no cut leaves enough events on both sides.
    """
    bins = len(table.weight)
    above, of_squares = (values.sum(axis=0)[::-1].cumsum()[::-1] for values in (table.weight, table.square))
    with np.errstate(divide="ignore", invalid="ignore"):
        passed = np.where(of_squares > 0, above**2 / of_squares, 0)
        others = (above[0] - above) ** 2 / np.maximum(of_squares[0] - of_squares, 1e-300)
    cuts = np.flatnonzero((passed >= PER_WINDOW * bins) & (others >= PER_WINDOW * bins))
    cuts = cuts[cuts > 0]
    if not len(cuts):
        return None
    null = Null(table, order, cuts)
    value = float(np.mean(null.pulls() ** 2, axis=1).sum())
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
    width = 1 if null.table.edges is None else min(math.ceil(PER_WINDOW * bins / max(min(passed, others), 1)), bins)
    place = np.arange(bins)
    windows = np.maximum(width - np.abs(np.subtract.outer(place, place)), 0)
    flat = np.linalg.qr(null.table.instrument[:, : null.terms] / np.sqrt(null.variance))[0]
    free = np.eye(bins) - flat @ flat.T
    pulls = null.pulls()[:, 0]
    scales = np.maximum(np.linalg.eigvalsh(free @ windows @ free), 0)
    scales = scales[scales > 1e-9 * scales.max()]
    return _probability(float(pulls @ windows @ pulls), scales, share)


def template(table: Table, null: Null, masses: Doubles, widths: Doubles, share: float, taught: float) -> list[Bump]:
    """The signals that a fit of (spectrum before the cut) x polynomial + Gaussian finds; one least squares for each.

    ``share`` is N / n, ``taught`` is n / T, with n events here, N in a search and T in the training.
    """
    edges = table.edges
    assert edges is not None
    used = (table.events > 0) & (table.square.sum(axis=1) > 0)
    ratio = null.square / null.table.events
    inside = np.repeat(ratio, np.diff(table.bins))
    square = (inside * table.events)[used]
    design, instrument = table.legendre[used, : null.terms], table.instrument[used, : null.terms]
    x = (edges[1:] + edges[:-1] - edges[0] - edges[-1]) / (edges[-1] - edges[0])
    basis = legvander(x, null.terms - 1)[used]
    coarse = np.repeat(np.arange(len(null.weight)), np.diff(table.bins))[used]
    null_efficiency = np.maximum(null.expected[:, 0] / null.weight, 1e-300)[coarse]
    selected = table.weight[used, null.cuts[0] :].sum(axis=1)
    total = table.weight[used].sum(axis=1)
    heavy, light = (
        float(squares) / max(abs(float(sums)), 1e-300)
        for squares, sums in (
            (null.squares_selected[:, 0].sum(), null.selected[:, 0].sum()),
            (table.square.sum() - null.squares_selected[:, 0].sum(), (null.weight - null.selected[:, 0]).sum()),
        )
    )
    mean = null.selected[:, 0].sum() / null.weight.sum()
    bumps = []
    for at, width in zip(masses.tolist(), widths.tolist(), strict=True):
        steps = np.array([math.erf((edge - at) / (math.sqrt(2) * width)) / 2 for edge in edges.tolist()])
        shape = np.diff(steps)[used]
        columns = np.column_stack([design, shape]), np.column_stack([instrument, shape])
        coefficients, of_squares = null.coefficients[:, 0], null.of_squares[coarse, 0]
        for _ in range(2):  # a bump should not raise the errors that its absence expects
            efficiency = np.clip(basis @ coefficients, 0.05 * mean, 1 - 0.05 * (1 - mean))
            fraction = np.clip(of_squares * efficiency / null_efficiency, 0, 1)
            spread = variance(square, fraction, efficiency)
            fit = _signal(*columns, selected, spread)
            if fit is None:
                break
            coefficients = fit.background
        searched = _signal(*columns, selected, np.maximum(square * fraction, 1e-9 * square.max()))  # Poisson
        under = float(shape @ (efficiency * total)) / max(float(shape @ shape), 1e-300)
        if fit is None or searched is None or not under > 0 or shape.sum() < 1e-3:  # between masses of few values
            continue
        third = square * (fraction * heavy * (1 - efficiency) ** 3 - (1 - fraction) * light * efficiency**3)
        skew = float(np.sum(fit.of_each**3 * third)) / fit.error**3
        there = fit.signal / searched.error * math.sqrt(share)
        p = two_sided(skewed(fit.signal / fit.error, skew) / math.sqrt(1 + taught))
        heights = fit.signal / under, fit.error / under
        bumps.append(Bump(at, fit.signal, fit.error, there, *heights, Probability(p, two_sided(there))))
    return bumps


class _Signal(NamedTuple):
    """The last parameter of a fit with its error, what each row adds to it, and the other parameters."""

    signal: float
    error: float
    of_each: Doubles
    background: Doubles


def _signal(design: Doubles, instrument: Doubles, selected: Doubles, variances: Doubles) -> _Signal | None:
    """The fit by least squares with instruments; None where the other parameters can take the shape of the signal."""
    root = np.sqrt(variances)[:, None]
    q, r = np.linalg.qr(instrument / root)
    if not abs(r[-1, -1]) > 1e-6 * np.linalg.norm(r[:, -1]):
        return None
    solved = np.linalg.solve(q.T @ (design / root), q.T / root.T)
    parameters = solved @ selected
    return _Signal(float(parameters[-1]), math.sqrt(float(solved[-1] ** 2 @ variances)), solved[-1], parameters[:-1])


def two_sided(significance: float) -> float:
    """The p-value of a Gaussian of either sign."""
    return math.erfc(abs(significance) / math.sqrt(2))


def skewed(significance: float, skew: float) -> float:
    """The significance of a sum with this skewness: the root of the likelihood ratio of a Poisson distribution."""
    if abs(skew) < 1e-6:
        return significance
    mean, side = 1 / skew**2, math.copysign(1, skew)
    seen = mean + side * significance * math.sqrt(mean)
    ratio = seen * math.log(seen / mean) - (seen - mean) if seen > 0 else mean
    return math.copysign(math.sqrt(max(2 * ratio, 0.0)), significance)


def new_maximum(table: Table, null: Null) -> float | None:
    """The mass of a maximum of the selected spectrum that the spectrum before has not; None without one."""
    if table.edges is None or len(null.weight) < 3:
        return None
    widths = np.diff(table.edges)
    after, before = null.selected[:, 0] / widths, null.weight / widths
    least = np.maximum(null.of_squares[:, 0], 1 / null.table.events.sum())  # no bin expects less than an event in all
    errors = np.sqrt(null.square * least) / widths, np.sqrt(null.square) / widths

    def rises(density: Doubles, error: Doubles) -> Doubles:
        """By how many standard deviations the density of the second bin is above that of the first, (b, b)."""
        return (density - density[:, None]) / np.sqrt(error**2 + error[:, None] ** 2)

    up, had = rises(after, errors[0]), rises(before, errors[1])
    best: tuple[float, float | None] = (NEW_MAXIMUM, None)
    for k in range(1, len(after) - 1):
        left, right = int(np.argmax(up[:k, k])), k + 1 + int(np.argmax(up[k + 1 :, k]))
        size = min(up[left, k], up[right, k])
        if size > best[0] and not min(had[left, k], had[right, k]) > HAD:
            best = float(size), float((table.edges[k] + table.edges[k + 1]) / 2)
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


class Bounds(NamedTuple):
    """The slope |c_1| / c_0 of the best line, and the turn 3 |c_2| / |c_1| of the best parabola."""

    slope: float
    slope_error: float
    turn: float
    turn_error: float


def bounds(null: Null) -> Bounds:
    """Both, with their errors by propagation."""
    (level, slope), of_line = null.of_degree(1)
    (_, linear, quadratic), of_parabola = null.of_degree(2)
    slope_error = math.sqrt(of_line[1, 1]) / abs(level)
    turn = 3 * abs(quadratic / linear)
    error = turn * math.hypot(math.sqrt(of_parabola[2, 2]) / quadratic, math.sqrt(of_parabola[1, 1]) / linear)
    return Bounds(abs(float(slope / level)), slope_error, float(turn), abs(float(error)))


def turns(null: Null, order: int) -> float:
    """By how many standard deviations the best polynomial is neither rising nor falling; 0 if it is one of both."""
    coefficients, covariance = null.of_degree(order)
    x = np.linspace(-1, 1, 41)
    slopes = np.stack([legval(x, legder(unit)) for unit in np.eye(order + 1)], axis=1)
    pulls = slopes @ coefficients / np.sqrt(np.einsum("xi,ij,xj->x", slopes, covariance, slopes))
    return float(max(min(pulls.max(), -pulls.min()), 0.0))
