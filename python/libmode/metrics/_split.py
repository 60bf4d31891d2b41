"""Events, or a histogram of them, as sums over bins of mass: what metrics of a selection are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import vector
from ._arguments import Bins, numbers, weights, yes_or_no
from ._histogram import Split, histogram, is_histogram


def split(mass: Any, selected: Any, bins: Any, weight: Any, cut: Any) -> Split:
    """The events, or the histogram, in bins of mass."""
    if is_histogram(mass):
        if selected is not None or weight is not None:
            raise TypeError("selected and weight belong to events: give a histogram and cut alone")
        if cut is None:
            raise TypeError("cut is missing: a histogram needs the edge of score from which events are selected")
        return histogram(mass).split(cut, bins)
    if selected is None or bins is None:
        raise TypeError("selected and bins are both needed with events")
    if cut is not None:
        raise TypeError("cut belongs to a histogram: with events, give selected = score >= cut")
    masses = numbers("mass", mass)
    passed = yes_or_no("selected", selected, "True or False, or 1 or 0", "mass", masses)
    weigh = weights(weight, "mass", masses)
    chosen = Bins(bins, masses)
    place = chosen.find(masses)
    inside = place >= 0
    masses, place, passed, weigh = masses[inside], place[inside], passed[inside], weigh[inside]

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([chosen.sums(place[which], values[which]) for which in (passed, ~passed)])

    def polynomials(degree: int) -> NDArray[np.float64]:
        low, high = chosen.edges[[0, -1]]
        powers = np.polynomial.legendre.legvander((2 * masses - low - high) / (high - low), degree).T
        return np.stack([chosen.sums(place, weigh * power) for power in powers], axis=1)

    filled = np.bincount(place, minlength=chosen.count) > 0
    return Split(chosen, sums(weigh), sums(weigh**2), filled, polynomials)


class Counted(NamedTuple):
    """Sums over the selected events of each mass bin, each array (bins,)."""

    bins: Bins
    weight: NDArray[np.float64]
    square: NDArray[np.float64]  #: of weights


def counted(mass: Any, bins: Any, weight: Any, cut: Any) -> Counted:
    """The spectrum of the masses of selected events, or of a histogram: at ``score >= cut``, or all of it."""
    if is_histogram(mass):
        if weight is not None:
            raise TypeError("weight belongs to events: give a histogram alone")
        chosen = histogram(mass).split(-np.inf if cut is None else cut, bins)
        return Counted(chosen.bins, chosen.weight[0], chosen.square[0])
    if bins is None:
        raise TypeError("bins is missing: it is needed with events")
    if cut is not None:
        raise TypeError("cut belongs to a histogram: with events, give mass[score >= cut]")
    if np.ndim(bins) and len(vector("mass", mass)) == 0:  # a tight selection leaves nothing
        empty = Bins(bins, np.empty(0))
        return Counted(empty, np.zeros(empty.count), np.zeros(empty.count))
    masses = numbers("mass", mass)
    weigh = weights(weight, "mass", masses)
    chosen_bins = Bins(bins, masses)
    place = chosen_bins.find(masses)
    place, weigh = place[place >= 0], weigh[place >= 0]
    return Counted(chosen_bins, chosen_bins.sums(place, weigh), chosen_bins.sums(place, weigh**2))
