"""What ``unbiased`` subtracts where moments are bounded, at any D = d c~/dc:

    bias = sum_b V_b (1 + slope_penalty A_1b^2) - 2 <D, X> + <D, G D Y>

with X = sum_b V_b P_b A_b', Y = sum_b V_b A_b A_b' and G = P'P. A step changes V_b in one bin and D in all, hence the
bias by dV_b K_b + 2 <dD, G D_mean Y_mean - X_mean>, exactly, with K_b = sum_a R_ab^2 + slope_penalty A_1b^2 the mean of
before and after: core/sample_bias.go.
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .bound import Bounded
from .ordered import Runs, running


class BiasSums(NamedTuple):
    """X and Y before each event's step; of X the columns 0 and 1 and the diagonal alone, where D is not 0."""

    x0: Array  #: (k, n)
    x1: Array  #: (k, n)
    own: Array  #: (k, n)
    y: Array  #: (k, k, n)

    @classmethod
    def at(
        cls, xp: Arrays, p: Array, a: Array, crossed: Array, to_middle: Array, to_before: Array, ties: Runs
    ) -> tuple[BiasSums, BiasSums]:
        """The sums before events one after the other, and half an event before the middle of its tie.

        p, a : (k, n) of each event's bin
        crossed : (n,) by how much V_b grows with each event
        to_middle : (n,) with half of it, from below its tie to the middle of the tie
        to_before : (n,) from where the second sums are to the middle of the tie
        """
        k, n = p.shape
        per_growth = xp.stack([*_products(p, a), *(a[:, None] * a[None])])  # (3 + k, k, n)
        sums = running(xp, (crossed * per_growth).reshape(-1, n), ties)
        halves = running(xp, (to_middle * per_growth).reshape(-1, n), ties)
        middle = sums.below + (halves.up_to - halves.below)
        each = sums.before.reshape(3 + k, k, n), middle.reshape(3 + k, k, n) - to_before * per_growth
        first, second = (cls(x[0], x[1], x[2], x[3:]) for x in each)
        return first, second

    def change(
        self, gram: Array, penalty: float, p: Array, a: Array, growth: Array, now: Bounded, after: Bounded
    ) -> Array:
        """By how much the bias changes, (n,), where V_b grows and D goes from that of now to that of after."""
        mean = [(one + other) / 2 for one, other in zip(_d(now), _d(after), strict=True)]
        change = [other - one for one, other in zip(_d(now), _d(after), strict=True)]
        da, dda = _times(mean, a), _times(change, a)
        k_mean = 1 + penalty * a[1] * a[1] + (da * (gram @ da - 2 * p)).sum(0) + (dda * (gram @ dda)).sum(0) / 4
        x0, x1, x_own = (
            x + growth / 2 * more for x, more in zip((self.x0, self.x1, self.own), _products(p, a), strict=True)
        )
        y = self.y + growth / 2 * (a[:, None] * a[None])
        own, by0, by1 = mean
        dy = own[:, None] * y + by0[:, None] * y[0] + by1[:, None] * y[1]  # (k, k, n) D_mean Y_mean
        diagonal = (gram[:, :, None] * dy.swapaxes(0, 1)).sum(1)  # of G D_mean Y_mean
        moved = change[0] * (diagonal - x_own) + change[1] * (gram @ dy[:, 0] - x0) + change[2] * (gram @ dy[:, 1] - x1)
        return growth * k_mean + 2 * moved.sum(0)


def _d(of: Bounded) -> tuple[Array, Array, Array]:
    return of.own, of.by0, of.by1


def _times(d: list[Array], a: Array) -> Array:
    """D A_b, (k, n)."""
    own, by0, by1 = d
    return own * a + by0 * a[0] + by1 * a[1]


def _products(p: Array, a: Array) -> tuple[Array, Array, Array]:
    """What V_b multiplies in X: its columns 0 and 1, and its diagonal, (k, n) each."""
    return p * a[0], p * a[1], p * a
