"""The integrand J of the loss where the F_b are known: the formulas of core/doc.go, at many scores at once.

Arrays of F have a row for each bin of mass and a column for each score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._native import BatchError
from .settings import Settings
from .tables import legendre

Doubles = NDArray[np.float64]

# What rounding makes of 0, and the fewest effective events of a bin: see core/bound.go and core/variance.go.
_ROUNDING = 1e-12
_FEWEST_EFFECTIVE = 1.05


class Basis(NamedTuple):
    """P, A and R = 1 - P A: c = A F are the moments, R F are the residuals where no moment is bounded."""

    p: Doubles  #: (bins, order + 1)
    a: Doubles  #: (order + 1, bins)
    r: Doubles  #: (bins, bins)

    @classmethod
    def of(cls, given: Settings, means: Doubles) -> Basis:
        """``means`` are the bins' mean polynomials, (bins, order + 1)."""
        if given.moments == "projection":
            q, upper = np.linalg.qr(means)
            return cls(means, np.linalg.solve(upper, q.T), np.eye(given.bins) - q @ q.T)
        edges = np.array(given.edges)
        span = edges[-1] - edges[0]
        centre = ((edges[:-1] - edges[0]) + (edges[1:] - edges[0])) / span - 1
        p = np.column_stack([np.ones(given.bins), *legendre(centre, given.order)])
        a = (np.arange(given.order + 1) + 0.5) * (2 * np.diff(edges) / span)[:, None] * p
        return cls(p, a.T, np.eye(given.bins) - p @ a.T)


class Bounded(NamedTuple):
    """c~ and d c~/dc, each (order + 1, scores): row l has derivatives by c_0, by c_1 and by c_l."""

    value: Doubles
    by0: Doubles
    by1: Doubles
    own: Doubles


def bounded(given: Settings, basis: Basis, c: Doubles) -> Bounded:
    """What ``max_slope`` and ``monotonic`` make of the moments c: core/bound.go says how."""
    value, by0, by1, own = c.copy(), np.zeros_like(c), np.zeros_like(c), np.ones_like(c)
    found = Bounded(value, by0, by1, own)
    if given.order == 0:
        return found
    value[1] = np.where(np.abs(c[1]) <= _ROUNDING * np.abs(basis.a[1]).sum(), 0, c[1])
    if given.max_slope is not None:
        pivot = c[0] if given.slope_of == "rejected" else 1 - c[0]
        limit = np.where(np.abs(pivot) <= _ROUNDING, 0, given.max_slope * np.abs(pivot))
        value[1], own[1], by_limit = _squashed(value[1], limit)
        by0[1] = by_limit * given.max_slope * np.sign(pivot) * (1 if given.slope_of == "rejected" else -1)
    if given.monotonic:
        for degree in range(2, given.order + 1):
            share = _share(given, degree)
            value[degree], own[degree], by_limit = _squashed(c[degree], share * np.abs(value[1]))
            by_slope = by_limit * share * np.copysign(1, value[1])
            by0[degree], by1[degree] = by_slope * by0[1], by_slope * own[1]
    return found


def _share(given: Settings, degree: int) -> float:
    """The part of c~_1 that moment l may have where the response has to be monotonic."""
    return 2 / ((given.order - 1) * degree * (degree + 1))


def _squashed(c: Doubles, limit: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """t tanh(c/t) with its derivatives by c and by t; 0 where t is 0."""
    on = limit > 0
    with np.errstate(over="ignore"):  # of infinity too tanh is 1
        u = np.clip(np.divide(c, limit, where=on, out=np.zeros_like(c)), -350, 350)
    tanh = np.tanh(u)
    steep = np.where(on, 1 / np.cosh(u) ** 2, 0)
    return limit * tanh, steep, tanh - u * steep


class Variance(NamedTuple):
    """What V_b is made of, in terms of the steps w/W_b: core/variance.go."""

    total: Doubles  #: (bins, 1) T_b
    factor: Doubles  #: (bins, 1) 1 / (1 - 2 U_b/T_b + T_b)

    @classmethod
    def of(cls, given: Settings, weight: Doubles, square: Doubles, cube: Doubles) -> Variance:
        """Of each bin's sums of the weights, their squares and third powers, (bins,)."""
        total = square / weight**2
        for place in np.flatnonzero(~(1 / total >= _FEWEST_EFFECTIVE)).tolist():
            raise BatchError(
                f"{bin_name(given, place)}, has (sum of weights)^2 / (sum of squared weights) = {1 / total[place]:.4g} "
                f"effective events, and the bias needs at least {_FEWEST_EFFECTIVE}: use fewer bins, or "
                "unbiased=False and loss()"
            )
        return cls(total[:, None], 1 / (1 - 2 * cube / (weight * square) + total)[:, None])

    def at(self, cdf: Doubles, square: Doubles) -> Doubles:
        """V_b where the F_b, and the sums of the squared steps up to there, are these."""
        found: Doubles = (square * (1 - 2 * cdf) + cdf * cdf * self.total) * self.factor
        return found


def bin_name(given: Settings, place: int) -> str:
    """As the core's errors call a bin."""
    end = "]" if place == given.bins - 1 else ")"
    return f"bin {place} of {given.bins}, mass in [{given.edges[place]:g}, {given.edges[place + 1]:g}{end}"


def spread(given: Settings, basis: Basis, of: Bounded | None) -> Doubles:
    """By what V_b counts in the bias, sum_a R_ab^2 + slope_penalty A_1b^2: (bins, 1), or (bins, scores) with bounds."""
    penalty = given.slope_penalty * basis.a[1][:, None] ** 2 if given.order else 0
    if of is None:
        constant: Doubles = np.sum(basis.r**2, axis=0)[:, None] + penalty
        return constant
    a = basis.a[:, :, None]
    moved = of.own[:, None] * a  # (order + 1, bins, scores): (d c~/dc) A
    moved[1:] += of.by0[1:, None] * a[0]
    moved[2:] += of.by1[2:, None] * a[1]
    gram = basis.p.T @ basis.p
    crossed = np.einsum("bl,lbs->bs", basis.p, moved, optimize=True)
    squared = np.einsum("lbs,lm,mbs->bs", moved, gram, moved, optimize=True)
    found: Doubles = 1 - 2 * crossed + squared + penalty
    return found


def steepest(given: Settings, basis: Basis) -> Doubles:
    """Bounds of |d r_a/d F_b|, (bins, bins), whatever F is: |R| where no moment is bounded."""
    if not given.bounded:
        return np.abs(basis.r)
    most = np.eye(given.order + 1)  # of |d c~/dc|: those of t tanh(c/t) are at most 1
    if given.max_slope is not None:
        most[1, 0] = given.max_slope
    if given.monotonic:
        for degree in range(2, given.order + 1):
            most[degree, :2] = _share(given, degree) * most[1, :2]
    found: Doubles = np.eye(given.bins) + np.abs(basis.p) @ most @ np.abs(basis.a)
    return found
