"""Bins that have too few events become one with their neighbours, where their number was not asked for."""

from __future__ import annotations

from .arrays import Array, Arrays

_ENOUGH = 4.0  # effective events, (sum w)^2 / sum w^2, see docs/options.md


def kept_edges(xp: Arrays, sums: Array, used: Array) -> Array:
    """Which of the edges between bins stay, (bins - 1,).

    From the lowest mass on, neighbours are merged until each bin has a positive sum of weights and enough effective
    events. What is left at the end joins the last of these bins, and that the one before it, until they have enough.

    sums : (2, bins), the sums of the weights and of their squares
    used : (), how many bins have events
    """
    bins = sums.shape[1]
    padded = xp.concat([sums, sums[:, :1] * 0])
    up_to = xp.cumsum(padded)
    before = xp.concat([sums[:, :1] * 0, up_to[:, :-1]])
    of = up_to[:, None, :] - before[:, :, None]  # of the bins a..b in row a, column b
    places = xp.arange(bins + 1)
    enough = _sufficient(of[0], of[1]) & (places[None] >= places[:, None])
    # A merged bin that begins with a ends with the first b that is enough, and the next begins with b + 1: a step.
    # Where bins begin is what is reached from 0, found by squaring the matrix of steps.
    ends = xp.real(enough & (xp.cumsum(xp.real(enough)) == 1))
    steps = xp.concat([ends[:, :1] * 0, ends[:, :-1]]) + xp.real(places[None] == places[:, None])
    for _ in range(bins.bit_length()):
        steps = xp.real(steps @ steps > 0)
    closed = steps[0, 1:] > 0  # whether a merged bin ends with each
    left = up_to[:, -1:] - up_to[:, :-1]
    fine = closed & ((places[1:] == used) | _sufficient(left[0], left[1]))
    highest = xp.where(fine, places[:-1], -1).max()
    return (closed & (places[:-1] <= highest))[:-1]


def _sufficient(weight: Array, squares: Array) -> Array:
    return (weight > 0) & (weight * weight >= _ENOUGH * squares)
