"""The variance of the bins' CDFs, from which what ``unbiased`` subtracts is made.

    V_b = [S_b (1 - 2 F_b) + F_b^2 T_b] / (1 - 2 U_b/T_b + T_b)

with S_b the sum of the squared steps e_i = w_i/W_b up to a score, T_b that of the whole bin, and U_b that of their
third powers: core/variance.go.
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .bins import Bins

#: The fewest effective events of a bin.
FEWEST_EFFECTIVE = 1.05


class Variance(NamedTuple):
    """What V_b is made of."""

    total: Array  #: (bins,) T_b
    factor: Array  #: (bins,) 1/(1 - 2 U_b/T_b + T_b), 0 of unused bins
    ok: Array  #: () whether each bin has enough effective events

    def change(self, xp: Arrays, number: Array, step: Array, cdf: Array, squares: Array) -> Array:
        """By how much V_b changes, (n,), where F_b moves by a step, and is cdf in the middle, and so S_b."""
        total = xp.take(self.total, number)
        moved = step * (step * (1 - 2 * cdf) - 2 * squares + 2 * cdf * total)
        return moved * xp.take(self.factor, number)


def variance_of(xp: Arrays, bins: Bins, number: Array, step: Array) -> Variance:
    """The variance for events in these bins, (n,), with these steps.

    A bin has enough effective events, 1/T, if there are at least 1.05: see core/variance.go.
    """
    square = step * step
    total, third = xp.segment_sums(xp.stack([square, square * step]), number, len(bins.used))
    enough = bins.used & (FEWEST_EFFECTIVE * total <= 1)
    safe = xp.where(enough, total, 1)
    factor = 1 / xp.where(enough, 1 - 2 * third / safe + total, 1)
    return Variance(total, xp.where(enough, factor, 0), (enough | ~bins.used).all())
