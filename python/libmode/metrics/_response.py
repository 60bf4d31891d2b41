"""The response in bins of mass: its residual at a cut, its test at all cuts, its slope and its turn."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legder, legval
from numpy.typing import NDArray

from ._bins import Bins, Doubles, sums
from ._templates import HALF, SMALL, TEN
from .mass import Efficiency, rates

CUTS = 40  # of the test at all cuts
HEAVIEST = 32  # events of a class of weights


class Binned(NamedTuple):
    """Background in b bins of mass and c intervals of score; a cut selects the columns from its own on."""

    weight: Doubles  #: (b, c)
    square: Doubles  #: (b, c) of weights
    heavier: Doubles  #: (2, c) the selected share of w^2, and of |w|^3, over that of w, for a cut at each column
    grid: Grid


class Grid:
    """Bins of mass of events whose masses and weights stay; each call of :meth:`table` has other scores."""

    def __init__(self, mass: Doubles, weight: Doubles, order: int, bins: Any, limits: Any) -> None:
        """The events lie inside the limits; neighbors merge until each bin has ten effective events."""
        grid = Bins(bins, mass, limits)
        place = grid.find(mass)
        total, square = sums(place, weight, grid.count), sums(place, weight**2, grid.count)
        self.edges: Doubles | None = None  #: (b + 1,) of one mass
        if len(grid.axes) > 1:  # cells without events, as outside a Dalitz plot, are left out
            kept = (total > 0) & (total**2 >= TEN / 2 * square)
            row, self.count = np.where(kept, np.cumsum(kept) - 1, -1), int(kept.sum())
        else:
            merged = _merged(total, square)
            self.edges, self.count = grid.axes[0][merged], len(merged) - 1
            row = np.searchsorted(merged, np.arange(grid.count), "right") - 1
        self.terms = math.comb(order + len(grid.axes), order)  #: of the polynomial, the first ones of the design
        if self.count <= self.terms:
            filled = f"the masses fill {self.count} {'bin' if self.count == 1 else 'bins'} of {TEN} effective events"
            raise ValueError(f"{filled}, and order = {order} needs {self.terms + 1}")
        self.place, self.weight = row[place], weight
        self.which: Any = slice(None)
        if (self.place < 0).any():  # events of cells that are left out
            self.which = np.flatnonzero(self.place >= 0)
            self.place, self.weight, mass = self.place[self.which], weight[self.which], mass[self.which]
        self.classes: NDArray[np.intp] | None = None
        if (self.weight != self.weight[0]).any():
            self._by_weight()
        degree = max(order, 1) if self.edges is not None else order  # a slope needs degree 1
        terms = grid.polynomials(mass.astype(float), degree)
        #: (b, t) sums of w P_l(x), or products of P_l of several masses
        self.design = np.stack([sums(self.place, self.weight * term, self.count) for term in terms], axis=1)

    def _by_weight(self) -> None:
        """Classes of events by the size of the weight, relative to its bin: the heaviest, twice as many, and so on."""
        mean = sums(self.place, self.weight**2, self.count) / np.bincount(self.place, minlength=self.count)
        size = self.weight / np.sqrt(mean[self.place])
        # Events of equal weights are in one class, in whatever order they come.
        rounded = np.round(np.log2(np.maximum(np.abs(size), 1e-300)), 6)
        _, place, number = np.unique(-rounded, return_inverse=True, return_counts=True)
        heavier = (np.cumsum(number) - number)[place]
        self.classes = np.log2(heavier / HEAVIEST + 1).astype(np.intp)
        powers, kinds = (size, size**2, np.abs(size) ** 3), self.classes.max() + 1
        self.powers = np.stack([sums(self.classes, each, kinds) for each in powers])

    def table(self, column: NDArray[np.intp], columns: int) -> Binned:
        """The events by the interval of score, (n,), in which each lies."""
        column = column[self.which]
        cell = self.place * columns + column
        weight = sums(cell, self.weight, self.count * columns).reshape(-1, columns)
        if self.classes is None:
            return Binned(weight, self.weight[0] * weight, np.ones((2, columns)), self)
        square = sums(cell, self.weight**2, self.count * columns).reshape(-1, columns)
        # By chance the heaviest events all pass a cut, or none does: the share of a class counts, not of an event.
        kinds = self.powers.shape[1]
        number = np.bincount(self.classes * columns + column, minlength=kinds * columns).reshape(-1, columns)
        passed = number[:, ::-1].cumsum(axis=1)[:, ::-1] / np.maximum(number.sum(axis=1), 1)[:, None]
        shares = self.powers @ passed / self.powers.sum(axis=1)[:, None]
        return Binned(weight, square, shares[1:] / np.maximum(shares[0], 1e-300), self)


def _merged(total: Doubles, square: Doubles) -> list[int]:
    """Which edges of bins stay, so that each bin has enough effective events; remaining bins join the last one."""
    kept, w, q = [0], 0.0, 0.0
    for k, (own, of_square) in enumerate(zip(total.tolist(), square.tolist(), strict=True)):
        w, q = w + own, q + of_square
        if w > 0 and w**2 >= TEN * q:
            kept.append(k + 1)
            w = q = 0.0
    return [0, *kept[1:-1], len(total)]


class Null:
    """Selected background at each cut, and what the nearest polynomial expects, by weighted least squares."""

    def __init__(self, table: Binned, cuts: Any) -> None:
        """``cuts`` are columns of the table: events there, and in later columns, are selected."""
        self.grid = table.grid
        self.weight, self.square = table.weight.sum(axis=1), table.square.sum(axis=1)
        self.ndof = len(self.weight) - self.grid.terms
        cuts = np.asarray(cuts, np.intp)
        self.selected, self.squares = (  # (b, k) sums of selected weights, and of their squares
            values[:, ::-1].cumsum(axis=1)[:, ::-1][:, cuts] for values in (table.weight, table.square)
        )
        mean, of_square = self.selected.sum(axis=0) / self.weight.sum(), table.heavier[0, cuts]
        self.efficiency = np.tile(mean, (len(self.weight), 1))
        for _ in range(2):
            self.part = np.clip(of_square * self.efficiency, 0, 1)  # of the squares that is selected
            spread = self.part * (1 - self.efficiency) ** 2 + (1 - self.part) * self.efficiency**2
            self.variance = np.maximum(self.square[:, None] * spread, 1e-12 * self.square.max())
            self.coefficients, _ = self.fit(self.grid.terms)
            self.expected = self.grid.design[:, : self.grid.terms] @ self.coefficients  # (b, k)
            value = self.expected / self.weight[:, None]
            self.efficiency = np.clip(value, SMALL * mean, 1 - SMALL * (1 - mean))
        #: (b, k) distances from the polynomial in standard deviations of the bin
        self.pulls: Doubles = (self.selected - self.expected) / np.sqrt(self.variance)

    def fit(self, terms: int) -> tuple[Doubles, Doubles]:
        """Coefficients (t, k), and their covariances (k, t, t)."""
        design = self.grid.design[:, :terms]
        scaled = design.T[None] / self.variance.T[:, None]  # (k, t, b)
        covariance = np.linalg.pinv(scaled @ design)
        return np.einsum("kts,ksb,bk->tk", covariance, scaled, self.selected), covariance


def residual(null: Null) -> tuple[float, float, Efficiency]:
    """The rms distance of the efficiency from its best polynomial over its mean, that by chance, the efficiency."""
    others = np.stack([null.selected[:, 0], null.weight - null.selected[:, 0]])
    squares = np.stack([null.squares[:, 0], np.maximum(null.square - null.squares[:, 0], 0)])
    response = rates(null.grid.edges, others, squares)
    means, mean = null.grid.design[:, : null.grid.terms] / null.weight[:, None], float(response.value.mean())
    away = response.value - means @ np.linalg.lstsq(means, response.value, rcond=None)[0]
    rms, chance = (float(np.sqrt(np.mean(each**2))) / (mean if mean > 0 else np.nan) for each in (away, response.error))
    return rms, chance * math.sqrt(null.ndof / len(means)), response


def all_cuts(table: Binned, share: float, taught: float) -> tuple[float, float]:
    """The p-values here, and in a search with this ``share`` of the events, of the mean over all cuts of chi^2.

    T. W. Anderson, D. A. Darling, Ann. Math. Statist. 23 (1952) 193. NaN where no cut leaves enough events.
    """
    above, squares = (values.sum(axis=0)[::-1].cumsum()[::-1] for values in (table.weight, table.square))
    passed = above**2 / np.maximum(squares, 1e-300)
    others = (above[0] - above) ** 2 / np.maximum(squares[0] - squares, 1e-300)
    cuts = np.flatnonzero((np.minimum(passed, others) >= TEN * len(table.weight)) & (above <= HALF * above[0]))
    cuts = cuts[cuts > 0]
    if not len(cuts):
        return math.nan, math.nan
    null = Null(table, cuts)
    value = float(np.mean(null.pulls**2, axis=1).sum()) / taught**2
    e, q = null.efficiency, null.part
    both = q[:, np.maximum.outer(np.arange(len(cuts)), np.arange(len(cuts)))]  # later columns select fewer
    cross = both - q[:, :, None] * e[:, None] - q[:, None] * e[:, :, None] + e[:, :, None] * e[:, None]
    scale = np.sqrt(null.variance)
    cross = cross * null.square[:, None, None] / (scale[:, :, None] * scale[:, None])
    scales = np.repeat(np.maximum(np.linalg.eigvalsh(cross.mean(axis=0)), 0) / len(cuts), null.ndof)
    mean = float(scales.sum())
    return tail(value, scales), tail(max(mean + (value - mean) * share, 0.0), scales)


def tail(value: float, scales: Doubles) -> float:
    """The probability that sum_i scales_i z_i^2 is at least ``value``, of independent unit Gaussians z_i.

    By the chi^2 of equal mean, variance and skewness, and E. B. Wilson and M. M. Hilferty, PNAS 17 (1931) 684.
    """
    mean, second, third = (float(np.sum(scales**k)) for k in (1, 2, 3))
    ndof = second**3 / third**2
    ratio = max(1 + (value - mean) / math.sqrt(second * ndof), 0.0)  # of chi^2 and its mean
    return math.erfc((ratio ** (1 / 3) - 1 + 2 / (9 * ndof)) * math.sqrt(9 * ndof) / 2) / 2


def slope(null: Null) -> tuple[float, float]:
    """The slope |c_1| / c_0 of the best line, and its error."""
    ((level, slope),), (covariance,) = null.fit(2)[0].T, null.fit(2)[1]
    return abs(float(slope / level)), math.sqrt(covariance[1, 1]) / abs(float(level))


def turns(null: Null) -> float:
    """By how many standard deviations the best polynomial is neither rising nor falling; 0 if it is one of both."""
    coefficients, (covariance,) = null.coefficients[:, 0], null.fit(null.grid.terms)[1]
    x = np.linspace(-1, 1, 41)
    slopes = np.stack([legval(x, legder(unit)) for unit in np.eye(null.grid.terms)], axis=1)
    pulls = slopes @ coefficients / np.sqrt(np.einsum("xi,ij,xj->x", slopes, covariance, slopes))
    return float(max(min(pulls.max(), -pulls.min()), 0.0))
