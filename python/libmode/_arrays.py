"""The errors of the core in the words of a user of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import Fault, reworded
from ._native import BatchError
from ._options import Options
from ._read import check_labels, is_background

_LABELS_SHOWN = 5


def explained(error: ValueError, mass: Any, label: Any, options: Options, kind: Any) -> Any:
    """The error of the core, or a better one of no background, or of the ``kind`` of the masses."""
    if isinstance(error, BatchError) and label is not None and len(label):
        numbers = label.astype(np.float64)  # in float32, 2^31 would be equal to 2^31 - 1
        for background in options.labels:
            if not (numbers == background).any():
                return BatchError(no_background(label, background))
    fault: Fault | None = getattr(error, "fault", None)
    half = str(kind) in ("float16", "torch.float16") and np.isinf(mass).any()
    if half and fault is not None and fault.argument == "mass":
        return reworded(error, before="float16 ends at 65,504, give masses in float32: ")
    return error


def check_reference(label: NDArray[Any], labels: Sequence[int]) -> None:
    """ValueError for a label that is NaN; BatchError where no reference event has one of these labels."""
    check_labels(label, labels, "reference.label")
    if not is_background(label, labels).any():
        raise BatchError(f"reference: {no_background(label, labels[0])}")


def no_background(label: NDArray[Any], background: int) -> str:
    """The sentence of the error that ``label``, of shape (n,), does not hold ``background``."""
    values, counts = np.unique(label, return_counts=True)
    words = [f"{value:g} ({count} times)" for value, count in zip(values.astype(float), counts, strict=True)]
    shown = ", ".join(words[:_LABELS_SHOWN]) + f" and {len(words) - _LABELS_SHOWN} other values" * (
        len(words) > _LABELS_SHOWN
    )
    return (
        f"no event selected: none of the {len(label)} values of label equals background_label = {background}; label "
        f"holds {shown}: check background_label, or use larger batches"
    )
