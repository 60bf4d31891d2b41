"""Selected background and the rest in bins of mass, of which all metrics of a selection are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._messages import refuse_unknown
from ._bins import Bins, Doubles, sums
from ._histogram import Histogram, add, read_histogram
from ._sample import Sample, Selection, point, sample, selected


class Split(NamedTuple):
    """Sums over the background of each mass bin, (2, bins): selected events in row 0, the others in row 1."""

    bins: Bins
    weight: Doubles
    square: Doubles  #: of weights
    filled: NDArray[np.bool_]  #: (bins,) whether the bin has an event
    polynomials: Callable[[int], Doubles]  #: of an order: sums of w P_l(x) for l up to it, (bins, terms)


def split(function: str, score: Any, label: Any, mass: Any, weight: Any, selection: Selection) -> Split:
    """The background that the working point selects and the rest, in bins of one mass or cells of several."""
    refuse_unknown(function, selection.keys() - Selection.__annotations__.keys(), Selection.__annotations__)
    events_only = {name: selection.get(name) for name in ("selected", "mass_range")}
    cells = read_histogram(score, label=label, mass=mass, weight=weight, **events_only)
    if cells is not None:
        return of_histogram(cells, cells.cut(*point(selection)), selection.get("bins"))
    events = sample(score, label, mass, weight)
    return of_sample(events, selected(events, selection), selection.get("bins"), selection.get("mass_range"))


def of_histogram(cells: Histogram, threshold: float, edges: Any) -> Split:
    """The cells from this edge of score on, and the others."""
    bins, places = cells.merged(edges)
    at = cells.cell(threshold)
    weight, square = (
        add(np.stack([table[:, at:].sum(axis=1), table[:, :at].sum(axis=1)]), places)
        for table in (cells.weight, cells.square)
    )
    return Split(bins, weight, square, square.sum(axis=0) > 0, lambda order: cells.polynomials(bins, places, order))


def of_sample(events: Sample, passed: NDArray[np.bool_], bins: Any, mass_range: Any = None) -> Split:
    """The background that has ``passed``, and the rest."""
    mass, weight, passed = (events.of_background(values) for values in (events.mass, events.weight, passed))
    chosen = Bins(bins, mass, mass_range)
    place = chosen.find(mass)
    inside = place >= 0
    mass, place, passed, weight = mass[inside], place[inside], passed[inside], weight[inside]

    def both(values: Doubles) -> Doubles:
        return np.stack([sums(place[which], values[which], chosen.count) for which in (passed, ~passed)])

    def polynomials(order: int) -> Doubles:
        _, terms = chosen.polynomials(mass, order)
        return np.stack([sums(place, weight * term, chosen.count) for term in terms], axis=1)

    filled = np.bincount(place, minlength=chosen.count) > 0
    return Split(chosen, both(weight), both(weight**2), filled, polynomials)
