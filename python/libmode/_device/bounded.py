"""J where moments are bounded, so that the residuals r = F - P c~ are not linear in F.

A step e in bin b changes J by 2 r_mean.(e - P dc~) + slope_penalty d(c_1^2), where r_mean is the mean of r before and
after: with c and P'F, whatever the number of bins.
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .bias import BiasSums
from .bound import Bound
from .moments import Moments
from .ordered import ByBin, Ordered, running, running_in_bins
from .plan import Plan
from .variance import Variance


class Point(NamedTuple):
    """Where each event stands before it makes its step."""

    c: Array  #: (k, n) the moments
    pf: Array  #: (k, n) P'F
    cdf: Array  #: (n,) F_b of the event's bin
    squares: Array  #: (n,) S_b, the sum of the squared steps


def changes(
    xp: Arrays,
    plan: Plan,
    moments: Moments,
    variance: Variance | None,
    order: Ordered,
    bins: ByBin,
    number: Array,
    step: Array,
) -> tuple[Array, Array]:
    """By how much each event changes J, (n,), in order of score: for the loss, and for the gradient.

    number, step : (n,) the events' bins, and the steps e_i by which they move the CDFs of these

    The first is for events that cross their scores one after the other, the second for each alone about the middle of
    its tie.
    """
    kernel = _Kernel(xp, plan, moments, number, step)
    k = moments.p.shape[0]
    along = running(xp, _below(xp, kernel.da, step * kernel.p), order.ties)
    inside = running_in_bins(xp, xp.stack([step, step * step]), bins)
    one_by_one, below, up_to = (
        Point(sums[:k], sums[k:], own[0], own[1]) for sums, own in zip(along, inside, strict=True)
    )
    middle = Point(*((low + high) / 2 for low, high in zip(below, up_to, strict=True)))
    half = Point(kernel.da / 2, step / 2 * kernel.p, step / 2, step * step / 2)
    before = Point(*(at - by for at, by in zip(middle, half, strict=True)))  # half of its own step before the middle
    if variance is None:
        return kernel.change(one_by_one, None, None), kernel.change(before, None, None)

    def growth(cdf: Array, squares: Array) -> Array:
        return variance.change(xp, number, step, cdf, squares)

    crossed = growth(one_by_one.cdf + half.cdf, one_by_one.squares + half.squares)
    # V_b is quadratic: to the middle of a tie it grows by as much as its derivative halfway there says.
    to_middle = growth((below.cdf + middle.cdf) / 2, (below.squares + middle.squares) / 2) / 2
    to_before = growth((before.cdf + middle.cdf) / 2, (before.squares + middle.squares) / 2) / 2
    about = growth(middle.cdf, middle.squares)
    first, second = BiasSums.at(xp, kernel.p, kernel.a, crossed, to_middle, to_before, order.ties)
    return kernel.change(one_by_one, first, crossed), kernel.change(before, second, about)


class _Kernel:
    """By how much steps change J."""

    def __init__(self, xp: Arrays, plan: Plan, moments: Moments, number: Array, step: Array) -> None:
        self._plan, self._step = plan, step
        self._gram = moments.p @ moments.p.T
        self._bound = Bound(xp, plan, moments)
        self.p, self.a = xp.take(moments.p, number), xp.take(moments.a, number)  # (k, n) of each event's bin
        self.da = step * self.a  # the steps of c

    def change(self, at: Point, bias: BiasSums | None, growth: Array | None) -> Array:
        """By how much J changes, (n,), with each event's step from a point, and V_b by that growth."""
        step = self._step
        now, after = self._bound.of(at.c), self._bound.of(at.c + self.da)
        moved, mean = self._bound.change(now, after, self.da), (now.value + after.value) / 2
        own = step * (at.cdf + step / 2 - (mean * self.p).sum(0))
        d = 2 * (own - (moved * (at.pf + step / 2 * self.p - self._gram @ mean)).sum(0))
        if self._plan.slope_penalty:
            d = d + self._plan.slope_penalty * self.da[1] * (2 * at.c[1] + self.da[1])
        if bias is not None:
            d = d - bias.change(self._gram, self._plan.slope_penalty, self.p, self.a, growth, now, after)
        return d


def _below(xp: Arrays, rows: Array, more: Array) -> Array:
    """Rows (k, n), and under them more rows."""
    return xp.stack([*rows, *more])
