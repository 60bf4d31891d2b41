"""Whatever the user has as one-dimensional arrays that the library can read."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._native import BatchError
from ._options import Options

_LABELS_SHOWN = 5


class Events(NamedTuple):
    """The arrays of one call: contiguous, of one length and one floating type."""

    score: NDArray[Any]
    mass: NDArray[Any]
    weight: NDArray[Any] | None
    label: NDArray[np.int32] | None
    double: bool
    given_label: NDArray[Any] | None  # before it became int32


def address(array: NDArray[Any] | None) -> int | None:
    """The address of the first element, cheaper than ``array.ctypes.data``."""
    return None if array is None else array.__array_interface__["data"][0]


def events(score: Any, mass: Any, weight: Any, label: Any, options: Options, double: bool | None = None) -> Events:
    """Checks and converts the arrays of a call.

    Numbers are read as float32 if score, mass and weight all fit in it, and
    as float64 otherwise (or as ``double`` says).
    """
    arrays = {"score": vector("score", score), "mass": vector("mass", mass)}
    if weight is not None:
        arrays["weight"] = vector("weight", weight)
    for name, array in arrays.items():
        same_length(name, array, "score", arrays["score"])
    if double is None:
        double = any(array.dtype not in (np.float32, np.float16) for array in arrays.values())
    kind = np.float64 if double else np.float32
    plain = {name: np.ascontiguousarray(array, dtype=kind) for name, array in arrays.items()}
    given = None if label is None else label_vector(label, "score", arrays["score"])
    return Events(plain["score"], plain["mass"], plain.get("weight"), label_codes(given, options), double, given)


def vector(name: str, values: Any) -> NDArray[Any]:
    """``values`` as an array of shape (n,), of a real type; (n, 1) is taken as (n,)."""
    # Looking for it in sys.modules: the first np.ma.MaskedArray would import numpy.ma, which takes 20 ms.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise TypeError(f"{name} has masked elements: select the valid events first, for instance with .compressed()")
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged lists
        raise ValueError(f"{name} cannot be made an array: {error}") from None
    if array.dtype.kind not in "fiub":
        if array.size == 0:
            return np.zeros(0)
        raise TypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: expected (n,) or (n, 1)")
    return array


def label_vector(label: Any, other_name: str, other: NDArray[Any]) -> NDArray[Any]:
    """Labels of shape (n,), as many as ``other`` has elements."""
    array = vector("label", label)
    same_length("label", array, other_name, other)
    return array


def label_codes(label: NDArray[Any] | None, options: Options) -> NDArray[np.int32] | None:
    """Labels as int32, where what is no background label may have become another such number."""
    if label is None:
        return None
    if label.dtype == np.int32:
        return np.ascontiguousarray(label)
    with np.errstate(invalid="ignore"):  # of numbers that no int32 holds
        codes = label.astype(np.int32)
    codes[codes != label] = options.unused_label
    return codes


def with_labels(error: BatchError, label: NDArray[Any] | None, options: Options) -> BatchError:
    """The error of the core or, where no label is a background label, one that lists the labels that there are.

    ``label``, of shape (n,), is what the user gave.
    """
    for background in options.labels:
        if label is not None and len(label) and not (label == background).any():
            return BatchError(no_background(label, background))
    return error


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
    if set(found.tolist()) == {-1, 1}:
        advice = "give background_label=-1"
    return (
        f"no event selected: none of the {len(label)} values of label equals background_label = {background}; "
        f"label holds {shown}: {advice}"
    )


def same_length(name: str, array: NDArray[Any], other_name: str, other: NDArray[Any]) -> None:
    if len(array) != len(other):
        raise ValueError(f"{name} has length {len(array)}, but {other_name} has length {len(other)}")
