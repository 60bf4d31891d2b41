"""The matrices P and A of the bins: c = A F are the moments of the CDFs, and P c the response that costs nothing."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .bins import Bins
from .plan import FLOOR, Plan, Variable
from .selection import Selection
from .spline import b_splines


class Moments(NamedTuple):
    """P and A, a row for each moment and a column for each bin; unused bins have zeros."""

    p: Array  #: (k, bins) P_bl
    a: Array  #: (k, bins) A_lb
    #: (k, bins) orthonormal rows with the same P A, for projection moments: there Q'Q = P A, and no digits are
    #: lost where the rows of P are nearly dependent.
    q: Array | None
    ok: Array  #: () whether the bins determine the moments

    @property
    def slope_floor(self) -> Array:
        """() the c_1 up to which rounding alone may have made it."""
        return FLOOR * abs(self.a[1]).sum()


def moments_of(xp: Arrays, plan: Plan, variable: Variable, of: Selection, bins: Bins, step: Array) -> Moments:
    """P and A for events that move the CDFs of their bins by these steps, (n,), e_i = w_i/W_b."""
    if not plan.projection:
        return _quadrature(xp, plan, of, bins)
    splines = plan.basis == "bspline"
    rows = b_splines(xp, variable.knots, plan.degree, of) if splines else legendre(of.x, plan.order)
    means = xp.segment_sums(xp.stack(rows) * step, bins.number, len(bins.used))
    if splines:
        q, _, rank = _orthonormal(xp, means)
        return Moments(means, means, q, rank < bins.count)
    p = xp.concat([xp.real(bins.used), means[1:].reshape(-1)]).reshape(means.shape)  # the mean of P_0 is exactly 1
    q, r, rank = _orthonormal(xp, p)
    return Moments(p, _solved(xp, q, r), q, rank == plan.order + 1)


def legendre(x: Array, order: int) -> list[Array]:
    """P_0(x), ..., P_order(x), see arXiv:2010.09745, eq. 5."""
    rows = [x * 0 + 1, x]
    for k in range(1, order):
        rows.append(((2 * k + 1) * x * rows[k] - k * rows[k - 1]) / (k + 1))
    return rows[: order + 1]


def _quadrature(xp: Arrays, plan: Plan, of: Selection, bins: Bins) -> Moments:
    """P_bl = P_l(x_b), A_lb = (2l + 1)/2 D_b P_l(x_b), with centre x_b and width D_b: eq. 6 of arXiv:2010.09745."""
    inner = xp.where(xp.isfinite(bins.inner), bins.inner, of.high)
    lower, upper = xp.concat([of.low[None], inner]), xp.concat([inner, of.high[None]])
    span = of.high - of.low
    width, centre = 2 * ((upper - lower) / span), ((lower - of.low) + (upper - of.low)) / span - 1
    p = xp.stack(legendre(centre, plan.order)) * xp.real(bins.used)
    factor = (2 * xp.real(xp.arange(plan.order + 1)) + 1) / 2
    return Moments(p, factor[:, None] * width * p, None, of.inside.any() | True)


def _orthonormal(xp: Arrays, rows: Array) -> tuple[Array, list[list[Array]], Array]:
    """The rows made orthonormal one after the other, by Gram and Schmidt, twice each, which is enough.

    Returns them; the upper triangular matrix R, as a list of columns, for which their sums are the rows; and how many
    there are: one that depends on those before it becomes 0.
    """
    done: list[Array] = []
    columns: list[list[Array]] = []
    rank = xp.arange(1)[0]
    for row in rows:
        length = xp.sqrt((row * row).sum())
        column = [length * 0 for _ in done]
        for _ in range(2 if done else 0):
            before = xp.stack(done)
            overlap = before @ row
            row = row - overlap @ before
            column = [so_far + overlap[m] for m, so_far in enumerate(column)]
        norm = xp.sqrt((row * row).sum())
        independent = norm > FLOOR * length
        norm = xp.where(independent, norm, 1)
        done.append(xp.where(independent, row / norm, 0))
        columns.append([*column, norm])
        rank = rank + independent
    return xp.stack(done), columns, rank


def _solved(xp: Arrays, q: Array, r: list[list[Array]]) -> Array:
    """The rows A of R A = Q: the least-squares fit."""
    rows: list[Array] = []  # the last first
    for m in reversed(range(len(r))):
        rest = q[m]
        for row, column in zip(rows, reversed(r[m + 1 :]), strict=True):
            rest = rest - column[m] * row
        rows.append(rest / r[m][m])
    return xp.stack(rows[::-1])
