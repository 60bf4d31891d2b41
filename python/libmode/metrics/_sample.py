"""The events of a call as arrays, and which of them the working point selects: a threshold, or its efficiency."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._messages import level_of_the_user
from .._options import check
from .._read import as_array, check_labels, coded, finite, number, numbers, refuse, same_length, vector, whole
from ._bins import Doubles

MOST_LABELS = 20  # an array with more is no label
THIS_ORDER = "metrics take (score, label, mass) in this order"
# Sums of weights are rounded, so that 0.5 may come out as a little less.
ROUNDING = 1e-12
POINTS = ("signal_efficiency", "background_efficiency", "threshold")
CLASSES = {"signal_efficiency": "signal (label 1)", "background_efficiency": "background (label 0)"}
BELOW, SURE = 0.1, 5.0  # the least distance of the AUC below 0.5, absolute and in standard errors
LOOKED_AT = 1_000  # events of each class


def variables(mass: Any, infinite: bool = False) -> Doubles:
    """Finite masses of shape (n, d); (n,) becomes (n, 1).

    float32 stays float32, since limits are rounded to the type of the masses. Masses may be ``infinite``: outside.
    """
    array = as_array("mass", mass)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"mass has shape {array.shape}: expected (n,) or (n, d), neither of them 0")
    if array.dtype != np.float32:
        array = array.astype(np.float64, copy=False)
    if not infinite:
        place = (slice(None), 0) if array.shape[1] == 1 else slice(None)  # mass[3] rather than mass[3, 0]
        finite("mass", array[place])
    return array


def weights(weight: Any, like_name: str, like: NDArray[Any]) -> Doubles:
    """Weights whose squares can be summed; 1 by default."""
    if weight is None:
        return np.ones(len(like))
    array = numbers("weight", weight, like_name, like)
    size = np.abs(array)
    refuse("weight", array, (size > 1e150) | (size < 1e-150) & (size > 0), "0, or a size from 1e-150 to 1e150")
    return array


def read_labels(label: Any, background: Any, like_name: str, like: NDArray[Any]) -> NDArray[np.bool_]:
    """Which events are signal: all whose label is none of ``background``, a label or several, numbers or strings."""
    if label is None:
        return np.zeros(len(like), bool)
    label, background = coded(label, background)
    array, wanted = vector("label", label), [background] if np.ndim(background) == 0 else list(background)
    same_length("label", array, like_name, like)
    check_labels(array, wanted)
    if len(np.unique(array[:: max(1, len(array) // 1000)])) > MOST_LABELS:
        raise ValueError(f"label has more than {MOST_LABELS} different values: are these masses? {THIS_ORDER}")
    for one in wanted:
        if not np.any(array == one):
            kinds = ", ".join(map(repr, np.unique(array).tolist()))
            raise ValueError(f"background_label = {one!r}: expected one of label's {kinds}")
    return np.asarray(np.all([array != one for one in wanted], axis=0))


def point(selection: Mapping[str, Any], place: str = "") -> tuple[str, float]:
    """The name and the value of the one working point that has a value; errors name its place too."""
    chosen = {name: value for name, value in selection.items() if value is not None}
    if len(chosen) != 1:
        which = f"only one of {' and '.join(chosen)}" if chosen else f"one of {', '.join(selection)}"
        raise TypeError(f"a working point is needed: give {which}, such as {next(iter(selection))}=0.5")
    ((name, value),) = chosen.items()
    if name != "threshold":
        return name, number(name + place, value, above=0, most=1)
    return name, float(value) if np.ndim(value) == 0 and value == -np.inf else number(name + place, value)


@dataclass(frozen=True, eq=False)
class Sample:
    """n events, of both classes or, without labels, of background alone."""

    score: Doubles  #: (n,); empty where scores come later
    signal: NDArray[np.bool_]  #: (n,) all False without labels
    mass: Doubles  #: (n, d); (n, 0) where none is needed
    weight: Doubles  #: (n,)

    def of_class(self, point: str) -> NDArray[np.bool_]:
        """Which events count for this working point; ValueError if there are none."""
        chosen: NDArray[np.bool_] = self.signal == (point == "signal_efficiency")
        if not chosen.any():
            raise ValueError(f"label has no {CLASSES[point]}: expected events of both classes")
        return chosen

    def cut(self, name: str, value: float) -> float:
        """The threshold of a working point: the largest score that keeps at least so much of the weight."""
        if name == "threshold":
            return value
        chosen = self.of_class(name)
        score, weight, least = self.score[chosen], self.weight[chosen], value * (1 - ROUNDING)
        if not (total := weight.sum()) > 0:
            raise ValueError(f"weight sums to {total:g} over the {CLASSES[name]}: expected a positive sum")
        if np.all(weight == weight[0]):  # many times faster than a sort
            place = len(score) - max(math.ceil(least * len(score)), 1)
            return float(np.partition(score, place)[place])
        order = np.argsort(score)[::-1]
        ordered, passed = score[order], np.cumsum(weight[order])
        last = np.append(ordered[1:] != ordered[:-1], True)
        return float(ordered[last][np.argmax(passed[last] / passed[-1] >= least)])


def effective(weight: Doubles) -> float:
    """The number of effective events."""
    return float(weight.sum() ** 2 / np.sum(weight**2))


def read_events(score: Any, label: Any, mass: Any, weight: Any, background: Any = 0, needs_mass: bool = True) -> Sample:
    """Checks the events; ``label`` and ``weight`` may be None."""
    scores = numbers("score", score)
    masses = variables(mass) if needs_mass else np.empty((len(scores), 0))
    same_length("mass", masses, "score", scores)
    signal = read_labels(label, background, "score", scores)
    events = Sample(scores, signal, masses, weights(weight, "score", scores))
    examine(events)
    return events


def wrong_way(events: Sample) -> str | None:
    """The warning about an AUC of up to 2,000 events that is far below 0.5, or None."""
    some = [np.flatnonzero(chosen) for chosen in (events.signal, ~events.signal)]
    some = [places[:: 1 + len(places) // LOOKED_AT] for places in some]
    (signal, own), (background, weight) = ((events.score[places], events.weight[places]) for places in some)
    if not (own.sum() > 0 and weight.sum() > 0):
        return None
    order = np.argsort(background)
    ordered, up_to = background[order], np.append(0, np.cumsum(weight[order]))
    below = sum(up_to[np.searchsorted(ordered, signal, side)] for side in ("left", "right")) / 2 / up_to[-1]
    auc = float(np.average(below, weights=own))
    if not 0.5 - auc > max(BELOW, SURE * math.sqrt((1 / effective(own) + 1 / effective(weight)) / 12)):
        return None
    return (
        f"label or score is the wrong way round: the AUC is {auc:.3f}, so signal (label 1) scores below background "
        "(label 0). Swap 0 and 1, or give scores that are higher for signal"
    )


def examine(events: Sample) -> None:
    """ValueError for score and mass that are swapped; warns if the AUC is far below 0.5."""
    score, mass = events.score, events.mass
    if mass.size and mass.min() >= 0 and mass.max() <= 1 < score.min():
        raise ValueError(f"score and mass are swapped: masses lie in [0, 1], and scores above; {THIS_ORDER}")
    said = wrong_way(events)
    if said is not None:
        warnings.warn(said, stacklevel=level_of_the_user())


@dataclass
class Settings:
    """The arguments of :func:`check` but for the events, which raise its errors for bad values."""

    order: Any = None
    background_label: Any = 0
    signal_efficiency: Any = None
    background_efficiency: Any = None
    threshold: Any = None
    bins: Any = 20
    mass_range: Any = None
    missing: str = "error"
    signal_mass: Any = None
    signal_width: Any = None
    search_events: Any = None
    flat_below: Any = 5.0
    training_events: Any = None
    max_slope: Any = None
    monotonic: bool = False
    points: list[tuple[str, float]] = field(init=False)  #: names and values of the working points

    def __post_init__(self) -> None:
        names = ("order", "mass_range", "missing", "max_slope", "monotonic", "training_events")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        options = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
        values = check("mode", options, more=("training_events",)).values  # the core refuses bad ones
        vars(self).update((name, values[name]) for name in names)
        chosen = {name: value for name in POINTS if (value := getattr(self, name)) is not None} or {POINTS[0]: 0.5}
        ((name, points), *others) = chosen.items()
        if others or np.ndim(points) == 0:
            self.points = [point(chosen)]
        elif not len(points):
            raise ValueError(f"{name} is empty: expected at least one number")
        else:
            self.points = [point({name: each}, f"[{k}]") for k, each in enumerate(points)]
        for name in ("signal_mass", "signal_width"):
            if (given := getattr(self, name)) is not None:
                setattr(self, name, numbers(name, np.atleast_1d(given)))
        if self.search_events is not None:
            self.search_events = number("search_events", self.search_events, above=0)
        self.flat_below = number("flat_below", self.flat_below, above=0)
        if np.ndim(self.bins) == 0:
            whole("bins", self.bins, 2)
