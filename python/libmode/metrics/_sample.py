"""The events of a call, and which of them the working point selects."""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from .._read import numbers
from ._arguments import THIS_ORDER, Doubles, labels, variables, weights, yes_or_no
from ._backwards import say_if_backwards
from ._working_point import CLASSES, point, points, tightest


class Selection(TypedDict, total=False):
    """The keywords of a working point and of the bins, see :func:`libmode.metrics.efficiency`."""

    signal_efficiency: float | None
    background_efficiency: float | None
    threshold: float | None
    selected: Any
    bins: Any
    mass_range: Any


class Sample(NamedTuple):
    """n events, of both classes or, without labels, of background alone."""

    score: Doubles  #: (n,); empty where a mask selects
    signal: NDArray[np.bool_]  #: (n,) all False without labels
    mass: Doubles  #: (n, d); (n, 0) where none is needed
    weight: Doubles  #: (n,)

    def of_background(self, values: NDArray[Any]) -> NDArray[Any]:
        """The entries of ``values``, one for each event, that belong to background events."""
        return values[~self.signal]

    def cut(self, name: str, value: float) -> float:
        """The threshold of a working point."""
        if name == "threshold":
            return value
        chosen = self.signal == (name == "signal_efficiency")
        return float(tightest(CLASSES[name], self.score[chosen], self.weight[chosen], np.array([value]))[0])


def sample(score: Any, label: Any, mass: Any, weight: Any, needs_mass: bool = True) -> Sample:
    """Checks the events, of which ``score`` and ``label`` may be None."""
    name, scores = "score", np.empty(0) if score is None else numbers("score", score)
    first: Doubles = scores
    masses = np.empty((len(scores), 0))
    if score is None:
        name, first = "mass", (masses := variables(mass))
    elif needs_mass:
        masses = variables(mass, "score", scores)
        if masses.min() >= 0 and masses.max() <= 1 < scores.min():
            raise ValueError(f"score and mass are swapped: masses lie in [0, 1], and scores above; {THIS_ORDER}")
    signal = np.zeros(len(first), bool) if label is None else labels(label, name, first)
    if needs_mass and signal.all():
        raise ValueError("label is 1 for all events: expected background, which has label 0")
    events = Sample(scores, signal, masses, weights(weight, name, first))
    if score is not None and label is not None:
        say_if_backwards(events.score, signal, events.weight)
    return events


def selected(events: Sample, selection: Selection, optional: bool = False) -> NDArray[np.bool_]:
    """Which events of both classes the working point selects; all where it is optional and there is no score."""
    mask = selection.get("selected")
    if mask is not None:
        if chosen := ["score"] * bool(len(events.score)) + points(selection):
            raise TypeError(f"selected and {chosen[0]} both say which events are selected: give one of them")
        return yes_or_no("selected", mask, "True or False, or 1 or 0", "mass", events.mass)
    if not len(events.score):
        if optional and not points(selection):
            return np.ones(len(events.mass), bool)
        raise TypeError("score is missing: a working point needs it; or give a mask of the background as selected")
    return events.score >= events.cut(*point(selection))
