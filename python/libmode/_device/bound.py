"""The bounds that make c~ out of the moments c.

    max_slope  c~_1 = t tanh(c_1/t),      t = max_slope |c_0|, or max_slope |1 - c_0| of the selected fraction
    monotonic  c~_l = t_l tanh(c_l/t_l),  t_l = |c~_1| / ((order - 1) l (l + 1)/2), l >= 2

At order 2 the latter is that of arXiv:2010.09745, section 3.3. Where rounding alone may have made c_1 or t, it is 0.
Where t is 0, c~_l and its derivatives are 0.
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .moments import Moments
from .plan import FLOOR, Plan

_SATURATED = 20.0  # tanh of it is 1 in double precision
_SMALL = 0.025  # a step of u, for which the difference of tanh u is found without subtraction
_LARGE = 400.0  # tanh of it is 1, and its square is finite


class Squash(NamedTuple):
    """t tanh(c/t), with what its derivatives need, all of c's shape."""

    t: Array
    u: Array  #: c/t
    tanh: Array
    slope: Array  #: 1 - tanh^2 u, with all its digits

    @property
    def value(self) -> Array:
        """t tanh(c/t)."""
        return self.t * self.tanh

    @property
    def by_t(self) -> Array:
        """The derivative by t; that by c is the slope."""
        return self.tanh - self.u * self.slope


def squash(xp: Arrays, c: Array, t: Array) -> Squash:
    """t tanh(c/t); where t is 0, so is all."""
    off = t == 0
    u = xp.where(off, 0, xp.clip(c / xp.where(off, 1, t), -_LARGE, _LARGE))
    q = xp.exp(-2 * abs(u))
    return Squash(t, u, xp.tanh(u), xp.where(off, 0, 4 * q / ((1 + q) * (1 + q))))


def advance(xp: Arrays, now: Squash, after: Squash, dc: Array, dt: Array) -> Array:
    """The value after less the value now, where c and t have moved by dc and dt.

    Small steps lose no digits to the difference: tanh a - tanh b = tanh(a - b) (1 - tanh a tanh b).
    """
    on = (now.t != 0) & (after.t != 0)
    du = (dc - now.u * dt) / xp.where(on, after.t, 1)
    small = on & (abs(du) < _SMALL) & (abs(now.u) < _SATURATED) & (dt > -15 * after.t)
    dtanh = xp.tanh(xp.where(small, du, 0)) * (1 - now.tanh * after.tanh)
    stepped = dt * (now.tanh + after.tanh) / 2 + (now.t + after.t) / 2 * dtanh
    return xp.where(small, stepped, after.value - now.value)


class Bounded(NamedTuple):
    """c~ (k, n), and d c~/dc, which in row l has columns 0, 1 and l alone that are not 0."""

    value: Array
    own: Array  #: d c~_l/dc_l
    by0: Array  #: d c~_l/dc_0 for l >= 1, 0 for l = 0
    by1: Array  #: d c~_l/dc_1 for l >= 2, 0 for others
    c1: Array  #: (n,) c_1, 0 where rounding alone may have made it
    pivot: Array | None  #: (n,) c_0 or 1 - c_0, where the slope is limited
    slope: Squash | None  #: of c_1
    higher: Squash | None  #: of the c_l from l = 2 on


class Bound:
    """The bounds of a plan."""

    def __init__(self, xp: Arrays, plan: Plan, moments: Moments) -> None:
        self._xp, self._plan, self._floor = xp, plan, moments.slope_floor
        degree = xp.real(xp.arange(max(plan.order - 1, 0)) + 2)  # l = 2..order
        self._shares = (2 / (max(plan.order - 1, 1) * degree * (degree + 1)))[:, None] if plan.monotonic else None

    def of(self, c: Array) -> Bounded:
        """The bounded moments of c, (k, n)."""
        xp, plan = self._xp, self._plan
        c1, zero = self._slope(c), c[0] * 0
        pivot = slope = higher = None
        if plan.max_slope is not None:
            pivot = 1 - c[0] if plan.of_selected else c[0]
            t = xp.where(abs(pivot) <= FLOOR, 0, plan.max_slope * abs(pivot))
            slope = squash(xp, c1, t)
            value1, own1 = slope.value, slope.slope
            by0 = slope.by_t * plan.max_slope * (-xp.sign(pivot) if plan.of_selected else xp.sign(pivot))
        else:
            value1, own1, by0 = c1, zero + 1, zero
        rows, own, by0_rows, by1_rows = [c[0], value1], [zero + 1, own1], [zero, by0], [zero, zero]
        if plan.monotonic:
            higher = squash(xp, c[2:], self._shares * abs(value1))
            by_t = higher.by_t * self._shares * xp.sign(value1)
            rows, own = [*rows, *higher.value], [*own, *higher.slope]
            by0_rows, by1_rows = [*by0_rows, *(by_t * by0)], [*by1_rows, *(by_t * own1)]
        else:
            rows, others = [*rows, *c[2:]], [zero] * (len(c) - 2)
            own, by0_rows, by1_rows = own + [zero + 1 for _ in others], by0_rows + others, by1_rows + others
        value, d_own, d0, d1 = map(xp.stack, (rows, own, by0_rows, by1_rows))
        return Bounded(value, d_own, d0, d1, c1, pivot, slope, higher)

    def change(self, now: Bounded, after: Bounded, dc: Array) -> Array:
        """c~ after less c~ now, (k, n), where c has moved by dc."""
        xp = self._xp
        d1 = xp.where((now.c1 == 0) | (after.c1 == 0), after.c1 - now.c1, dc[1])
        if now.slope is not None and after.slope is not None:
            dpivot = -dc[0] if self._plan.of_selected else dc[0]
            dt = self._plan.max_slope * _change_of_abs(xp, now.pivot, after.pivot, dpivot)
            d1 = advance(xp, now.slope, after.slope, d1, dt)
        if now.higher is None or after.higher is None:
            return xp.stack([dc[0], d1, *dc[2:]])
        dt = self._shares * _change_of_abs(xp, now.value[1], after.value[1], d1)
        return xp.stack([dc[0], d1, *advance(xp, now.higher, after.higher, dc[2:], dt)])

    def _slope(self, c: Array) -> Array:
        return self._xp.where(abs(c[1]) <= self._floor, 0, c[1])


def _change_of_abs(xp: Arrays, now: Array, after: Array, change: Array) -> Array:
    """|after| - |now|, where after - now is known to be the change."""
    other = abs(after) - abs(now)
    return xp.where((now >= 0) & (after >= 0), change, xp.where((now <= 0) & (after <= 0), -change, other))
