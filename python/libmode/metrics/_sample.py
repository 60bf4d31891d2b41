"""The events of a call, or a histogram of them, and the cut that its working point means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._arguments import (
    THIS_ORDER,
    Doubles,
    labels,
    number,
    numbers,
    only_events,
    variables,
    weights,
    yes_or_no,
)
from ._backwards import say_if_backwards
from ._histogram import Histogram, histogram, is_histogram

# Sums of weights are rounded, so that 0.5 may come out as a little less.
ROUNDING = 1e-12
POINTS = ("signal_efficiency", "background_efficiency", "threshold")
CLASSES = {"signal_efficiency": "signal (label 1)", "background_efficiency": "background (label 0)"}


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


def sample(score: Any, label: Any, mass: Any, weight: Any, needs_mass: bool = True, is_trained: bool = True) -> Sample:
    """Checks the events, of which ``score`` and ``label`` may be None; scores in a training may separate badly."""
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
    if is_trained and score is not None and label is not None:
        say_if_backwards(events.score, signal, events.weight)
    return events


def points(selection: Mapping[str, Any], names: tuple[str, ...] = POINTS) -> list[str]:
    """The names of the working points that have a value."""
    return [name for name in names if selection.get(name) is not None]


def point(selection: Mapping[str, Any], names: tuple[str, ...] = POINTS) -> tuple[str, float]:
    """The name and the value of the one working point."""
    chosen = points(selection, names)
    if len(chosen) != 1:
        which = f"only one of {' and '.join(chosen)}" if chosen else f"one of {', '.join(names)}"
        raise TypeError(f"a working point is needed: give {which}, such as {names[0]}=0.5")
    (name,) = chosen
    value = selection[name]
    if name != "threshold":
        return name, number(name, value, 0, 1)
    return name, value if value == -np.inf else number(name, value)


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


def tightest(name: str, score: Doubles, weight: Doubles, fractions: Doubles) -> Doubles:
    """For each fraction the largest score that keeps at least so much of the weight; ``name`` is the class."""
    order = np.argsort(score)[::-1]
    ordered, passed = score[order], np.cumsum(weight[order])
    if not len(passed):
        raise ValueError(f"label has no {name}: expected events of both classes")
    if not passed[-1] > 0:
        raise ValueError(f"weight sums to {passed[-1]:g} over the {name}: expected a positive sum")
    last = np.append(ordered[1:] != ordered[:-1], True)
    kept, thresholds = passed[last] / passed[-1], ordered[last]
    return np.array([thresholds[np.argmax(kept >= one * (1 - ROUNDING))] for one in fractions])


def histogram_of(score: Any, **arguments: Any) -> Histogram | None:
    """The histogram that is in the place of the scores, or None; TypeError for arguments of events next to it."""
    if not is_histogram(score):
        return None
    only_events(**arguments)
    return histogram(score)


def cut_of(cells: Histogram, name: str, value: float) -> float:
    """The edge of score that is the threshold of a working point."""
    if name == "threshold":
        return value
    table = cells.signal if name == "signal_efficiency" else cells.background()
    if table is None:
        raise ValueError("the histogram has no axis label: expected background and signal")
    filled = table[1] > 0
    return float(tightest(CLASSES[name], cells.score[:-1][filled], table[0][filled], np.array([value]))[0])
