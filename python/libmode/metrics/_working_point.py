"""Working points: a threshold, or the efficiency that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._read import number
from ._arguments import Doubles

# Sums of weights are rounded, so that 0.5 may come out as a little less.
ROUNDING = 1e-12
POINTS = ("signal_efficiency", "background_efficiency", "threshold")
CLASSES = {"signal_efficiency": "signal (label 1)", "background_efficiency": "background (label 0)"}


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
    return name, number_of_point(name, name, selection[name])


def number_of_point(shown: str, name: str, value: Any) -> float:
    """The checked value of a working point; ``shown`` is its name in errors."""
    if name != "threshold":
        return number(shown, value, above=0, most=1)
    return float(value) if value == -np.inf else number(shown, value)


def tightest(name: str, score: Doubles, weight: Doubles, fractions: Doubles) -> Doubles:
    """For each fraction the largest score that keeps at least so much of the weight; ``name`` is the class."""
    if np.all(weight == weight[:1]):  # a sort of values is several times faster
        ordered, passed = np.sort(score)[::-1], np.cumsum(weight)
    else:
        order = np.argsort(score)[::-1]
        ordered, passed = score[order], np.cumsum(weight[order])
    if not len(passed):
        raise ValueError(f"label has no {name}: expected events of both classes")
    if not passed[-1] > 0:
        raise ValueError(f"weight sums to {passed[-1]:g} over the {name}: expected a positive sum")
    last = np.append(ordered[1:] != ordered[:-1], True)
    kept, thresholds = passed[last] / passed[-1], ordered[last]
    return np.array([thresholds[np.argmax(kept >= fraction * (1 - ROUNDING))] for fraction in fractions])
