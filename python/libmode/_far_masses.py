"""Warnings about wrong masses: a few far from all others, or labels in the place of masses.

A missing mass often stands as -999. One per cent of such events turns a polynomial of order 1 into a constant.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._events import is_background
from ._messages import level_of_the_user
from ._monitor import TrainingWarning

if TYPE_CHECKING:
    from ._options import Options
    from ._said import Said

FAR = 5.0  # the range of all masses over the range of the bulk, at most
_SAMPLE = 1_000  # events for the percentiles
_LEAST = 20  # events for percentiles, at least
_FEW = 500  # events of a first look
_THING, _HALF = "far masses", "half masses"


def look(said: Said, options: Options, mass: Any, label: Any) -> None:
    """Warns, once, if a few of the selected masses, (n,) or (d, n), are far from the others, or if they are labels."""
    if options.loss != "mode" or not said.due(_THING):
        return
    mass, label = np.asarray(mass), None if label is None else np.asarray(label)
    for k, row in enumerate(mass if mass.ndim > 1 else (mass,)):
        if not options.takes_default_range(k):
            continue
        if label is None and _are_labels(row):
            said.warn(
                _THING,
                f"mass has only the values {row.min():g} and {row.max():g}, as labels have, and label is not given: "
                "a loss takes (score, mass, label=label). For two groups of events give binning='values'",
                TrainingWarning,
            )
        elif _may_be_far(row, label, options.labels):
            sentence = far(row if label is None else row[is_background(label, options.labels)])
            if sentence:
                said.warn(_THING, _with(sentence, "mass_range"))


_DIGITS = {"float16": 11, "bfloat16": 8}  # of the types of half precision, binary


def look_at_type(said: Said, kind: Any, mass: Any = None) -> None:
    """Warns, once, of masses of a type of half precision; ``mass`` has their values, if they are known."""
    name = str(kind).removeprefix("torch.")
    if name not in _DIGITS or said.has_said(_HALF):
        return
    what = f"mass is in {name}, of {_DIGITS[name]} binary digits"
    if mass is not None:
        mass = np.asarray(mass, np.float64)
        values = np.unique(mass[np.isfinite(mass)])
        top = float(np.abs(values).max(initial=0))
        step = 2.0 ** (math.floor(math.log2(top)) + 1 - _DIGITS[name]) if top > 0 else 0.0
        what += f": masses near {top:.6g} are {step:.3g} apart, and {mass.size} masses have {len(values)} values"
    said.warn(
        _HALF,
        f"{what}. Give the masses in float32, and keep them out of what casts inputs, such as FSDP's "
        "cast_forward_inputs or a training in half precision",
        TrainingWarning,
    )


def _are_labels(mass: NDArray[Any]) -> bool:
    """Whether the masses, (n,), have the values of labels: 1, and 0 or -1."""
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    alike = len(mass) >= _LEAST and low in (-1, 0) and high == 1
    return bool(alike and ((mass == low) | (mass == high)).all())


def say_if_far(mass: NDArray[Any], remedy: str) -> bool:
    """Warns if a few masses, (n,), are far from the others, with advice to give ``remedy``. Returns whether it did."""
    sentence = far(mass)
    if sentence:
        warnings.warn(_with(sentence, remedy), stacklevel=level_of_the_user())
    return sentence is not None


def _with(sentence: str, remedy: str) -> str:
    return f"{sentence}: leave out events without a mass, and give {remedy}"


def _may_be_far(mass: NDArray[Any], label: NDArray[Any] | None, labels: tuple[int, ...]) -> bool:
    """A fast first look at a few masses of these labels: False if none is far."""
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    step = max(1, len(mass) // _FEW)
    some = mass[::step]
    if label is not None:
        some = some[is_background(label[::step], labels)]
    some = some[(some > low) & (some < high)]
    if len(some) < _LEAST or not np.isfinite(high - low):
        return True
    some.partition((first := len(some) // 100, last := len(some) - 1 - first))
    return bool(high - low > 0.8 * FAR * (some[last] - some[first]))


def far(mass: NDArray[Any]) -> str | None:
    """A sentence about the few masses, (n,), that are far from the others; None if there are none."""
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    if not np.isfinite(high - low):  # a missing mass is NaN
        mass = mass[np.isfinite(mass)]
        low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    some = mass[:: max(1, len(mass) // _SAMPLE)]
    others = some[(some > low) & (some < high)]
    if len(others) < _LEAST:
        return None
    first, last = np.quantile(others.astype(np.float64), (0.01, 0.99))
    width = last - first
    if not 0 < FAR * width < float(high) - float(low):
        return None
    # The sentence names the masses beyond half of the way from the bulk to the end.
    end, bulk = (low, first) if first - low > high - last else (high, last)
    there = (mass - bulk) / (end - bulk) > 0.5
    count = int(np.count_nonzero(there))
    several = "" if (mass[there] == end).all() else "down to " if end == low else "up to "
    times = (float(high) - float(low)) / width
    return (
        f"mass is {several}{end:.6g} for {count} of {len(mass)} events ({100 * count / len(mass):.2g} %): its range, "
        f"{low:.6g} to {high:.6g}, is {times:.0f} times that from the 1st to the 99th percentile of the others, "
        f"{first:.6g} to {last:.6g}"
    )
