"""Whatever the user has as NumPy arrays, and these as the library reads them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ctypes import addressof, c_char, c_void_p, sizeof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._events import MOST_VARIABLES, Events, flat, is_background
from ._native import LABEL_TYPES, BatchError, ModeEvents
from ._options import Options

_LABELS_SHOWN = 5

# More different values of label than these are taken for those of a mass.
_MOST_LABELS = 20

_MASSES_FOR_LABELS = (
    "are these masses? Modules and mode_constraint take (score, label, mass, weight) in this order, pack takes "
    "(label, mass), and a loss takes label=label"
)

# All others become float64, which holds every background label.
_LABEL_TYPES = {np.dtype(name): number for name, number in LABEL_TYPES.items()}

# The type that holds the addresses of so many masses.
_MASSES, _SIZE = [c_void_p * count for count in range(MOST_VARIABLES + 1)], sizeof(ModeEvents)


def address(array: NDArray[Any] | None) -> int | None:
    """The address of the first element of a contiguous array."""
    if array is None:
        return None
    if array.size and array.flags.writeable:  # takes a third of the time of what every array has
        return addressof(c_char.from_buffer(array))  # type: ignore[arg-type]
    start: int = array.__array_interface__["data"][0]
    return start


def read(name: str, values: Any) -> NDArray[Any]:
    """``values`` as an array of a real type."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    try:
        array = np.asarray(without_masks(name, values))
    except ValueError as error:  # ragged lists
        raise ValueError(f"{name} cannot be made an array: expected one number for each event") from error
    if array.dtype.kind not in "fiub" or name == "category" and array.dtype.kind == "f":
        if array.size == 0:
            return np.zeros(0, bool)
        wanted = "integers" if name == "category" else "real numbers"
        raise TypeError(f"{name} has dtype {array.dtype}: expected {wanted}")
    return array


def without_masks(name: str, values: Any) -> Any:
    """``values``, where a mass that a mask hides is NaN, a missing one; another hidden value is a TypeError.

    The masks are those of NumPy, Awkward (option types) and pandas (NA).
    """
    package = type(values).__module__.partition(".")[0]
    if package == "awkward":
        values = sys.modules[package].to_numpy(values)
    elif package == "pandas" and name == "mass" and np.asarray(values).dtype == object:
        try:
            return values.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):  # texts
            return values
    # Looking for it in sys.modules: the first np.ma.MaskedArray would import numpy.ma, which takes 20 ms.
    if "numpy.ma" not in sys.modules or not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.ma.getmaskarray(values)
    if hidden.any() and name == "mass":
        return np.where(hidden, np.nan, values.data)
    if hidden.any():
        raise TypeError(
            f"{name}{np.argwhere(hidden)[0].tolist()} is masked: take the same events of all arguments, for instance "
            f"those of ~numpy.ma.getmaskarray({name})"
        )
    return values.data


def vector(name: str, values: Any) -> NDArray[Any]:
    """``values`` as an array of shape (n,), of a real type; (n, 1) is taken as (n,)."""
    array: NDArray[Any] = flat(name, read(name, values))
    return array


def is_double(events: Events) -> bool:
    """Whether score, mass or weight do not fit in float32, so that all is computed in float64."""
    score, _, mass, weight, _ = events
    narrow = score.dtype.char in "fe" and mass.dtype.char in "fe"
    return not narrow or weight is not None and weight.dtype.char not in "fe"


def ready(events: Events, double: bool) -> Events:
    """Contiguous arrays of float64 or float32, and of types that the core reads; of several variables as rows."""
    kind = np.float64 if double else np.float32
    score, label, mass, weight, category = events
    if mass.ndim > 1:
        mass = mass.T
    mass = np.ascontiguousarray(mass, kind)
    if score is not None:
        score = np.ascontiguousarray(score, kind)
    if weight is not None:
        weight = np.ascontiguousarray(weight, kind)
    if label is not None:
        label = np.ascontiguousarray(label, label.dtype if label.dtype in _LABEL_TYPES else np.float64)
    if category is not None:  # unsigned ones that int64 has not wrap, and stay as different as they were
        category = np.ascontiguousarray(category, category.dtype if category.dtype in _LABEL_TYPES else np.int64)
    return Events(score, label, mass, weight, category)


def for_core(events: Events) -> ModeEvents:
    """The arrays that are ready, as the library takes them."""
    score, label, mass, weight, category = events
    rows = (mass,) if mass.ndim == 1 else mass
    return ModeEvents(
        _SIZE,
        len(rows[0]),
        address(score),
        label if label is None else address(label),
        _MASSES[len(rows)](*map(address, rows)),
        len(rows),
        weight if weight is None else address(weight),
        category if category is None else address(category),
        0 if label is None else _LABEL_TYPES[label.dtype],
        0 if category is None else _LABEL_TYPES[category.dtype],
    )


def explained(error: ValueError, score: Any, mass: Any, label: Any, options: Options) -> ValueError:
    """The error of the core for these arrays or, where arguments seem to be swapped or no label fits, another."""
    if isinstance(error, BatchError):
        return with_labels(error, label, options)
    if "lies outside score_range" not in str(error) or options.score_range is None:
        return error
    low, high = options.score_range
    if (score < low).any() or (mass < low).any() or (mass > high).any():  # raw outputs have both signs
        return error
    place = int((score > high).argmax())
    return ValueError(
        f"score[{place}] = {score[place]:g} lies outside score_range = [{low:g}, {high:g}], in which all masses lie: "
        "score and mass are swapped"
    )


def check_labels(label: NDArray[Any] | None, labels: Sequence[int], name: str = "label") -> None:
    """Raises ValueError for a label that is NaN, as where a join of tables finds no partner.

    Where no label is a background label, the error of the core lists the labels, and NaN among them.
    """
    if label is None or label.dtype.kind != "f":
        return
    missing = np.isnan(label)
    if np.count_nonzero(missing) and is_background(label, labels).any():  # in a third of the time of missing.any()
        raise ValueError(f"{name}[{missing.argmax()}] = nan: expected a number; leave such events out of all arguments")


def check_reference(label: NDArray[Any], labels: Sequence[int]) -> None:
    """Raises ValueError for masses in the place of labels, or a label that is NaN; BatchError where no reference event
    has one of these labels."""
    check_labels(label, labels, "reference.label")
    some = np.unique(label[:: max(1, len(label) // 50)])  # a mass may be 0 too
    selects = is_background(label, labels).any()
    if selects and (len(some) <= 2 or (some == np.round(some)).all()):
        return
    found = np.unique(label)
    if _like_masses(found):
        raise ValueError(
            f"reference.label holds {len(found)} values, from {found[0]:g} to {found[-1]:g}: are these masses? Events "
            "takes (score, label, mass, weight) in this order"
        )
    if not selects:
        raise BatchError(f"reference: {no_background(label, labels[0])}")


def with_labels(error: BatchError, label: NDArray[Any] | None, options: Options) -> BatchError:
    """The error of the core or, where no label is a background label, or labels are like masses, one that says so."""
    if label is not None and len(label):
        numbers = label.astype(np.float64)  # in float32, 2^31 would be equal to 2^31 - 1
        for background in options.labels:
            if not (numbers == background).any():
                return BatchError(no_background(label, background))
        found = np.unique(label)
        if _like_masses(found):
            return BatchError(f"{error}; label holds {len(found)} values: {_MASSES_FOR_LABELS}")
    return error


def _like_masses(found: NDArray[Any]) -> bool:
    """Whether the different values of labels are more, and less like integers, than labels are."""
    numbers = found.astype(np.float64)
    return len(found) > _MOST_LABELS or len(found) > 2 and bool((numbers != np.round(numbers)).any())


def no_background(label: NDArray[Any], background: int) -> str:
    """The sentence of the error: ``label``, of shape (n,), does not hold ``background``."""
    found, counts = np.unique(label, return_counts=True)
    held = [
        f"{value:g} ({count} {'event' if count == 1 else 'events'})"
        for value, count in zip(found.astype(float), counts, strict=True)
    ]
    if len(held) > _LABELS_SHOWN:
        held[_LABELS_SHOWN:] = [f"{len(held) - _LABELS_SHOWN} other values"]
    *first, last = held
    shown = f"{', '.join(first)} and {last}" if first else last
    advice = "check background_label, or use larger batches"
    if _like_masses(found):
        advice = _MASSES_FOR_LABELS
    elif -1 in found and set(found.tolist()) <= {-1, 1}:
        advice = "labels are 0 for background and 1 for signal; for these give background_label=-1"
    return (
        f"no event selected: none of the {len(label)} values of label equals background_label = {background}; "
        f"label holds {shown}: {advice}"
    )
