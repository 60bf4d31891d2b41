"""The variance of the bins' CDFs, from which what ``unbiased`` subtracts is made.

    V_b = [S_b (1 - 2 F_b) + F_b^2 T_b] / (1 - 2 U_b/T_b + T_b)

with S_b the sum of the squared steps e_i = w_i/W_b up to a score, T_b that of the whole bin, and U_b that of their
third powers: core/variance.go.
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .bins import Bins
from .plan import FLOOR


class Variance(NamedTuple):
    """What V_b is made of."""

    total: Array  #: (bins,) T_b
    factor: Array  #: (bins,) 1/(1 - 2 U_b/T_b + T_b), 0 of unused bins
    ok: Array  #: () whether each bin has more than one event in effect

    def change(self, xp: Arrays, number: Array, step: Array, cdf: Array, squares: Array) -> Array:
        """By how much V_b changes, (n,), where F_b moves by a step, and is cdf in the middle, and so S_b."""
        total = xp.take(self.total, number)
        moved = step * (step * (1 - 2 * cdf) - 2 * squares + 2 * cdf * total)
        return moved * xp.take(self.factor, number)


def variance_of(xp: Arrays, bins: Bins, number: Array, step: Array) -> Variance:
    """The variance for events in these bins, (n,), with these steps.

    1 - 2 U/T + T is found as sum_i e_i^2 [(1 - e_i)^2 + sum_{j != i} e_j^2] / T, none of whose terms is negative.
    """
    square = step * step
    total = xp.segment_sums(square[None], number, len(bins.used))[0]
    terms = square * ((1 - step) * (1 - step) + (xp.take(total, number) - square))
    spread = xp.segment_sums(terms[None], number, len(bins.used))[0] / xp.where(bins.used, total, 1)
    several = spread > FLOOR
    return Variance(total, xp.where(several, 1 / xp.where(several, spread, 1), 0), (several | ~bins.used).all())
