"""The definition of the loss, written out from its formulas in extended precision.

It shares nothing with the library: not the moments, not the bounds and their
derivatives, not a closed form of a difference. Only the edges of the bins are
given, because a test of them is in test_numpy.py.
"""

from __future__ import annotations

from typing import NamedTuple

import mpmath
import numpy as np

# A context of its own, so that nobody else's digits change. 40 digits: what J
# loses in a difference between neighboring scores, at most 1e-14, leaves 26.
MP = mpmath.mp.clone()
MP.dps = 40


def exact(values) -> np.ndarray:
    """Numbers of any floating-point type as an array of extended ones, without rounding."""

    def one(value):
        if isinstance(value, MP.mpf):
            return value
        high = float(value)
        return MP.mpf(high) + MP.mpf(float(value - high))  # the second term is the rest of a longdouble

    return np.array([one(value) for value in np.ravel(values)], dtype=object).reshape(np.shape(values))


def legendre(order: int, x: np.ndarray) -> np.ndarray:
    """P_l(x), one row for each l = 0..order."""
    rows = [x * 0 + 1, x]
    for degree in range(1, order):
        rows.append(((2 * degree + 1) * x * rows[-1] - degree * rows[-2]) / (degree + 1))
    return np.array(rows[: order + 1], dtype=object)


def quantile_edges(mass, bins: int, mass_range=None) -> np.ndarray:
    """The paper's dynamic bins of these masses, by sorting them."""
    mass = np.sort(np.asarray(mass, dtype=float))
    low, high = mass_range or (mass[0], mass[-1])
    mass = mass[(mass >= low) & (mass <= high)]
    edges = [low]
    for k in range(1, bins):
        rank = int(np.searchsorted(mass, mass[k * len(mass) // bins]))  # down to the start of a run
        if rank > 0:
            below, at = mass[rank - 1], mass[rank]
            middle = (below + at) / 2
            edges.append(middle if middle > below else at)
    return np.array([*sorted(set(edges)), high])


def bin_of(mass, edges) -> np.ndarray:
    """The bin of each mass as in numpy.histogram, -1 for those outside."""
    mass, edges = np.asarray(mass, dtype=float), np.asarray(edges, dtype=float)
    bins = np.searchsorted(edges, mass, side="right") - 1
    bins[mass == edges[-1]] = len(edges) - 2
    bins[(mass < edges[0]) | (mass > edges[-1])] = -1
    return bins


class Binned(NamedTuple):
    """What the loss needs to know of the events, besides their scores.

    ``totals``, ``squares`` and ``cubes`` are W_b, T_b and U_b: the sums over a
    bin of the weights, of their squares and of their third powers.
    ``polynomials[l]`` are the bins' mean P_l of the masses.
    """

    edges: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray
    polynomials: np.ndarray

    @classmethod
    def of(cls, mass, weight, edges, order: int, number=exact) -> Binned:
        """The sums over these events, in numbers of this kind: np.longdouble is faster where events are many."""
        bins, edges = bin_of(mass, edges), number(edges)
        x = 2 * (number(mass) - edges[0]) / (edges[-1] - edges[0]) - 1
        return cls.of_rows(bins, len(edges) - 1, number(weight), legendre(order, x), edges)

    @classmethod
    def of_rows(cls, bins, n_bins: int, weight, rows, edges) -> Binned:
        """The sums over events that fall into these bins, with the bins' means of functions given in rows.

        The edges are looked at with quadrature alone: bins that have none can have ``()``.
        """

        def total(values):
            return np.array([values[bins == b].sum() for b in range(n_bins)])

        totals = total(weight)
        means = np.array([total(weight * row) / totals for row in rows])
        return cls(edges, totals, total(weight**2), total(weight**3), means)

    @property
    def factor(self) -> np.ndarray:
        """What the variance of a bin's CDF is divided by: 1 - 1/n of n equal weights."""
        return 1 - 2 * self.cubes / (self.totals * self.squares) + self.squares / self.totals**2


class Reference:
    """J and what it is made of, for events in bins."""

    def __init__(
        self, binned: Binned, *, order, moments, unbiased, max_slope=None, slope_of="rejected",
        monotonic=False, slope_penalty=0.0, reduction="mean",
    ):  # fmt: skip
        self.order, self.unbiased, self.monotonic, self.slope_of = order, unbiased, monotonic, slope_of
        self.max_slope = None if max_slope is None else MP.mpf(max_slope)
        self.slope_penalty = MP.mpf(slope_penalty)
        binned = Binned(*map(exact, binned))
        edges, self.totals, self.squares, _, polynomials = binned
        self.factor = binned.factor
        self.scale = MP.mpf(1) / len(self.totals) if reduction == "mean" else MP.mpf(1)
        if moments == "projection":
            self.P = polynomials  # (order + 1, bins), in both cases
            normal = MP.matrix((self.P @ self.P.T).tolist())
            columns = [list(MP.lu_solve(normal, MP.matrix(list(column)))) for column in self.P.T]
            self.A = np.array(columns, dtype=object).T
        else:
            x = 2 * (edges - edges[0]) / (edges[-1] - edges[0]) - 1
            self.P = legendre(order, (x[1:] + x[:-1]) / 2)
            factors = np.array([MP.mpf(2 * degree + 1) / 2 for degree in range(order + 1)])
            self.A = self.P * (x[1:] - x[:-1]) * factors[:, None]
        self.gram = self.P @ self.P.T

    def moments(self, cdf) -> np.ndarray:
        """c_l of a CDF."""
        return self.A @ cdf

    def bound(self, c) -> tuple[np.ndarray, np.ndarray]:
        """c~ of c, and the matrix d c~ / d c."""
        value = c.copy()
        d = exact(np.eye(len(c)))
        if self.max_slope is None and not self.monotonic:
            return value, d
        floor = MP.mpf("1e-12")
        if abs(c[1]) <= floor * sum(abs(self.A[1])):
            value[1] = MP.mpf(0)
        if self.max_slope is not None:
            pivot, dpivot = (1 - c[0], -1) if self.slope_of == "selected" else (c[0], 1)
            if abs(pivot) <= floor:
                value[1], d[1] = MP.mpf(0), 0 * d[1]
            else:
                value[1], d[1, 1], by_t = _squash(value[1], self.max_slope * abs(pivot))
                d[1, 0] = by_t * self.max_slope * MP.sign(pivot) * dpivot
        if self.monotonic:
            for degree in range(2, len(c)):
                share = MP.mpf(2) / ((self.order - 1) * degree * (degree + 1))
                if value[1] == 0:
                    value[degree], d[degree] = MP.mpf(0), 0 * d[degree]
                    continue
                value[degree], own, by_t = _squash(c[degree], share * abs(value[1]))
                d[degree] = by_t * share * MP.sign(value[1]) * d[1]
                d[degree, degree] = own
        return value, d

    def integrand(self, sums, squares) -> mpmath.mpf:
        """J where the sums over each bin, of weights and of their squares, up to a score are these."""
        cdf = exact(sums) / self.totals
        c = self.moments(cdf)
        value, d = self.bound(c)
        residual = cdf - value @ self.P
        result = residual @ residual
        if self.slope_penalty:
            result += self.slope_penalty * c[1] ** 2
        if self.unbiased:
            result -= self._bias(cdf, exact(squares), d)
        return result

    def _bias(self, cdf, squares, d) -> mpmath.mpf:
        variance = (squares * (1 - 2 * cdf) + cdf**2 * self.squares) / self.totals**2 / self.factor
        # sum_a R_ab^2 of R = 1 - P' d A, whose (a, b) product is M_ab = P_a . (d A)_b:
        # 1 - 2 M_bb + (d A)_b' (P P') (d A)_b
        moved = d @ self.A
        spread = 1 - 2 * (self.P * moved).sum(axis=0) + (moved * (self.gram @ moved)).sum(axis=0)
        if self.slope_penalty:
            spread = spread + self.slope_penalty * self.A[1] ** 2
        return variance @ spread

    def derivative(self, below, up_to, b: int, weight: float) -> mpmath.mpf:
        """dL/ds of an event of bin b, untied or tied, inside score_range.

        ``below`` and ``up_to`` are (sums of weights, sums of squares) over the
        events with scores < s and <= s.
        """
        own = np.array([weight, weight * weight])
        before, after = (exact(below) + exact(up_to)) / 2, (exact(below) + exact(up_to)) / 2
        before[:, b] -= own / 2
        after[:, b] += own / 2
        return self.scale * (self.integrand(*before) - self.integrand(*after))


def _squash(c, t):
    """t tanh(c/t) and its derivatives by c and by t."""
    u = c / t
    slope = MP.sech(u) ** 2
    return t * MP.tanh(u), slope, MP.tanh(u) - u * slope
