"""The definition of J, written out from its formulas in extended precision, for all events in bins.

It shares nothing with the library: not the moments, not the bounds and their
derivatives, not a closed form of a difference. definition.py integrates it for
a golden case with any option, oracle.py for millions of events.
"""

from __future__ import annotations

from typing import NamedTuple

import mpmath
import numpy as np

# A context of its own, so that nobody else's digits change. 40 digits: what J
# loses in a difference between neighboring scores, at most 1e-14, leaves 26.
MP = mpmath.mp.clone()
MP.dps = 40

# Where longdouble is no more than a double, as with Microsoft's compilers, it would prove nothing.
assert np.finfo(np.longdouble).eps < 2e-19


def exact(values) -> np.ndarray:
    """Numbers of any floating-point type as an array of extended ones, without rounding."""

    def one(value):
        if isinstance(value, MP.mpf):
            return value
        high = float(value)
        return MP.mpf(high) + MP.mpf(float(value - high))  # the second term is the rest of a longdouble

    return np.array([one(value) for value in np.ravel(values)], dtype=object).reshape(np.shape(values))


def long(values) -> np.ndarray:
    """Extended numbers as longdoubles, which have 64 bits of mantissa and are faster."""
    high = np.array(values, dtype=float)
    return high.astype(np.longdouble) + np.array(values - high, dtype=float)


def elementwise(name: str, values: np.ndarray) -> np.ndarray:
    """A function of this name, of numbers of either kind."""
    return np.frompyfunc(getattr(MP, name), 1, 1)(values) if values.dtype == object else getattr(np, name)(values)


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
    """J and what it is made of, for events in bins: in 40 digits, or with ``number=np.longdouble`` but for P and A."""

    def __init__(
        self, binned: Binned, *, order, moments, unbiased, max_slope=None, slope_of="rejected",
        monotonic=False, slope_penalty=0.0, reduction="mean", number=exact,
    ):  # fmt: skip
        self.order, self.unbiased, self.monotonic, self.slope_of = order, unbiased, monotonic, slope_of
        self.max_slope = None if max_slope is None else number([float(max_slope)])[0]
        self.penalty = number([float(slope_penalty)])[0]
        edges, totals, _, _, polynomials = map(exact, binned)
        if moments == "projection":
            P = polynomials  # (order + 1, bins), in both cases
            normal = MP.matrix((P @ P.T).tolist())
            A = np.array([list(MP.lu_solve(normal, MP.matrix(list(column)))) for column in P.T], dtype=object).T
        else:
            x = 2 * (edges - edges[0]) / (edges[-1] - edges[0]) - 1
            P = legendre(order, (x[1:] + x[:-1]) / 2)
            A = P * (x[1:] - x[:-1]) * np.array([MP.mpf(2 * degree + 1) / 2 for degree in range(order + 1)])[:, None]
        self.P, self.A, self.gram = (exact(a) if number is exact else long(a) for a in (P, A, P @ P.T))
        binned = Binned(*map(number, binned))
        self.totals, self.squares, self.factor = binned.totals, binned.squares, binned.factor
        self.scale = number([1.0])[0] / (len(totals) if reduction == "mean" else 1)

    def bound(self, c) -> tuple[np.ndarray, np.ndarray | None]:
        """c~ of the rows of c, and d c~ / d c, which is None where there is no bound."""
        if self.max_slope is None and not self.monotonic:
            return c, None
        value, d = c.copy(), np.zeros((*c.shape, c.shape[1]), dtype=c.dtype)
        d[:] = np.eye(c.shape[1])
        value[np.abs(c[:, 1]) <= 1e-12 * np.abs(self.A[1]).sum(), 1] = 0
        if self.max_slope is not None:
            pivot, sign = (1 - c[:, 0], -1) if self.slope_of == "selected" else (c[:, 0], 1)
            flat = np.abs(pivot) <= 1e-12
            value[:, 1], d[:, 1, 1], by_t = _squash(value[:, 1], np.where(flat, 1, self.max_slope * np.abs(pivot)))
            d[:, 1, 0] = by_t * self.max_slope * np.sign(pivot) * sign
            value[flat, 1], d[flat, 1] = 0, 0
        if self.monotonic:
            flat = value[:, 1] == 0
            for degree in range(2, self.order + 1):
                share = 2 / ((self.order - 1) * degree * (degree + 1) * (0 * self.scale + 1))
                t = np.where(flat, 1, share * np.abs(value[:, 1]))
                value[:, degree], own, by_t = _squash(c[:, degree], t)
                d[:, degree] = (by_t * share * np.sign(value[:, 1]))[:, None] * d[:, 1]
                d[:, degree, degree] = own
                value[flat, degree], d[flat, degree] = 0, 0
        return value, d

    def parts(self, sums, squares) -> tuple[np.ndarray, np.ndarray]:
        """J without ``unbiased``, and what that takes from it.

        The sums over each bin, of weights and of their squares, up to a score are a row.
        """
        cdf = sums / self.totals
        c = cdf @ self.A.T
        value, d = self.bound(c)
        plain = ((cdf - value @ self.P) ** 2).sum(axis=1)
        if self.penalty:
            plain += self.penalty * c[:, 1] ** 2
        if not self.unbiased:
            return plain, 0 * plain
        variance = (squares * (1 - 2 * cdf) + cdf**2 * self.squares) / (self.totals**2 * self.factor)
        # sum_a R_ab^2 of R = 1 - P' d A, whose (a, b) product is M_ab = P_a . (d A)_b:
        # 1 - 2 M_bb + (d A)_b' (P P') (d A)_b
        moved = self.A if d is None else d @ self.A  # (order + 1, bins), for each row where there is a bound
        spread = 1 - 2 * (self.P * moved).sum(axis=-2) + (moved * (self.gram @ moved)).sum(axis=-2)
        if self.penalty:
            spread = spread + self.penalty * self.A[1] ** 2
        return plain, (variance * spread).sum(axis=1)

    def integrand(self, sums, squares):
        """J where the sums up to a score are these."""
        plain, removed = self.parts(exact(sums)[None], exact(squares)[None])
        return plain[0] - removed[0]


def _squash(c, t):
    """t tanh(c/t) and its derivatives by c and by t."""
    u = c / t
    with np.errstate(over="ignore"):
        slope = 1 / elementwise("cosh", u) ** 2
    return t * elementwise("tanh", u), slope, elementwise("tanh", u) - u * slope
