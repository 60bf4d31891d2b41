"""The errors of the core in the words of a user of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import SIGMOID, WIDEN, Fault, reworded
from ._native import BatchError
from ._options import Options
from ._read import check_labels, is_background

_LABELS_SHOWN = 5

# A label with more different values than this looks like a mass.
_MOST_LABELS = 20

_MASSES_FOR_LABELS = (
    "are these masses? Modules and mode_constraint take (score, label, mass, weight) in this order, pack and "
    "planing_weights take (label, mass), and a loss takes label=label"
)


def explained(error: ValueError, score: Any, mass: Any, label: Any, options: Options, kind: Any) -> Any:
    """The error of the core, or a better one of swapped arguments, no background, or the ``kind`` of the masses."""
    if isinstance(error, BatchError):
        if label is None or not len(label):
            return error
        numbers = label.astype(np.float64)  # in float32, 2^31 would be equal to 2^31 - 1
        for background in options.labels:
            if not (numbers == background).any():
                return BatchError(no_background(label, background))
        values = np.unique(label)
        words = f"; label holds {len(values)} values: {_MASSES_FOR_LABELS}"
        return BatchError(f"{error}{words}") if _like_masses(values) else error
    fault: Fault | None = getattr(error, "fault", None)
    half = str(kind) in ("float16", "torch.float16") and np.isinf(mass).any()
    if half and fault is not None and fault.argument == "mass":
        return reworded(error, before="float16 ends at 65,504, give masses in float32: ")
    if fault is None or fault.advice not in (WIDEN, SIGMOID) or options.values["score_range"] is None:
        return error
    low, high = options.values["score_range"]
    if (score < low).any() or (mass < low).any() or (mass > high).any():  # raw outputs: they have both signs
        return error
    place = int((score > high).argmax())
    where = f" = {score[place]:g} lies outside score_range = [{low:g}, {high:g}], in which all masses lie"
    return Fault("score", place, f"{where}: score and mass are swapped").error()


def check_reference(label: NDArray[Any], labels: Sequence[int]) -> None:
    """Raises ValueError for masses in the place of labels, or a label that is NaN; BatchError where no reference event
    has one of these labels."""
    check_labels(label, labels, "reference.label")
    some = np.unique(label[:: max(1, len(label) // 50)])  # a mass can equal a label
    selects = is_background(label, labels).any()
    if selects and (len(some) <= 2 or (some == np.round(some)).all()):
        return
    values = np.unique(label)
    if _like_masses(values):
        raise ValueError(
            f"reference.label holds {len(values)} values, from {values[0]:g} to {values[-1]:g}: are these masses? "
            "Events takes (score, label, mass, weight) in this order"
        )
    if not selects:
        raise BatchError(f"reference: {no_background(label, labels[0])}")


def _like_masses(values: NDArray[Any]) -> bool:
    """Whether a label has too many distinct values, or values between integers, as a mass has."""
    numbers = values.astype(np.float64)
    return len(values) > _MOST_LABELS or len(values) > 2 and bool((numbers != np.round(numbers)).any())


def no_background(label: NDArray[Any], background: int) -> str:
    """The sentence of the error that ``label``, of shape (n,), does not hold ``background``."""
    values, counts = np.unique(label, return_counts=True)
    words = [
        f"{value:g} ({count} {'event' if count == 1 else 'events'})"
        for value, count in zip(values.astype(float), counts, strict=True)
    ]
    if len(words) > _LABELS_SHOWN:
        words[_LABELS_SHOWN:] = [f"{len(words) - _LABELS_SHOWN} other values"]
    *first, last = words
    shown = f"{', '.join(first)} and {last}" if first else last
    advice = "check background_label, or use larger batches"
    if _like_masses(values):
        advice = _MASSES_FOR_LABELS
    elif -1 in values and set(values.tolist()) <= {-1, 1}:
        advice = "labels are 0 for background and 1 for signal; for these give background_label=-1"
    return (
        f"no event selected: none of the {len(label)} values of label equals background_label = {background}; "
        f"label holds {shown}: {advice}"
    )
