"""Events, or a histogram of them, as sums over bins of mass: what all metrics of a selection are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import read
from ._arguments import Bins, Doubles, only_events, sums, variables, weights, yes_or_no
from ._histogram import add, histogram, is_histogram


class Split(NamedTuple):
    """Sums over the events of each mass bin: selected ones in row 0, the others in row 1, each array (2, bins)."""

    bins: Bins
    weight: Doubles
    square: Doubles  #: of weights
    filled: NDArray[np.bool_]  #: (bins,) whether the bin has an event
    polynomials: Callable[[int], Doubles]  #: of a degree: sums of w P_l(x) for l up to it, (bins, terms)


def split(mass: Any, selected: Any, bins: Any, weight: Any, cut: Any) -> Split:
    """The selected events and the others, in bins of one mass or cells of several."""
    if is_histogram(mass):
        if cut is None:
            raise TypeError("cut is missing: a histogram needs the edge of score from which events are selected")
    elif selected is None or bins is None:
        raise TypeError("selected and bins are both needed with events")
    return _read(mass, selected, bins, weight, cut)


def spectrum(mass: Any, selected: Any, bins: Any, weight: Any, cut: Any) -> Split:
    """As :func:`split` of one mass; all events are selected where neither ``selected`` nor ``cut`` is given."""
    events = _read(mass, selected, bins, weight, cut)
    if len(events.bins.axes) > 1:
        raise ValueError(f"mass has {len(events.bins.axes)} columns: expected one, shape (n,)")
    return events


def _read(mass: Any, selected: Any, bins: Any, weight: Any, cut: Any) -> Split:
    if is_histogram(mass):
        only_events(selected=selected, weight=weight)
        cells = histogram(mass)
        chosen, edges = cells.merged(bins)
        at = 0 if cut is None else cells.cell(cut)
        total, square = (
            add(np.stack([table[:, at:].sum(axis=1), table[:, :at].sum(axis=1)]), edges)
            for table in (cells.weight, cells.square)
        )
        filled = square.sum(axis=0) > 0
        return Split(chosen, total, square, filled, lambda degree: cells.polynomials(chosen, edges, degree))
    if bins is None:
        raise TypeError("bins is missing: it is needed with events")
    if cut is not None:
        raise TypeError("cut belongs to a histogram: with events, select those with score >= cut")
    if selected is None and np.ndim(bins) and len(read("mass", mass)) == 0:  # a tight selection leaves nothing
        empty = Bins(bins, np.empty((0, 1)))
        nothing = np.zeros((2, empty.count))
        return Split(empty, nothing, nothing, nothing[0] > 0, lambda degree: np.zeros((empty.count, degree + 1)))
    masses = variables(mass)
    passed = np.ones(len(masses), bool)
    if selected is not None:
        passed = yes_or_no("selected", selected, "True or False, or 1 or 0", "mass", masses)
    return _of_events(masses, passed, bins, weights(weight, "mass", masses))


def _of_events(masses: Doubles, passed: NDArray[np.bool_], bins: Any, weight: Doubles) -> Split:
    chosen = Bins(bins, masses)
    place = chosen.find(masses)
    inside = place >= 0
    masses, place, passed, weight = masses[inside], place[inside], passed[inside], weight[inside]

    def both(values: Doubles) -> Doubles:
        return np.stack([sums(place[which], values[which], chosen.count) for which in (passed, ~passed)])

    def polynomials(degree: int) -> Doubles:
        terms = chosen.polynomials(masses, degree)
        return np.stack([sums(place, weight * term, chosen.count) for term in terms], axis=1)

    filled = np.bincount(place, minlength=chosen.count) > 0
    return Split(chosen, both(weight), both(weight**2), filled, polynomials)
