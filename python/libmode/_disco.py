"""DisCo of the events of a call: the distance correlation of mass and score, for each label, category and variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, no_background
from ._events import Events
from ._messages import Fault, reworded
from ._options import Options


def disco(options: Options, events: Events, double: bool, grad: NDArray[Any] | None) -> float:
    """DisCo of arrays that are ready for the core. It fills ``grad``, with 0 for events that take no part."""
    loss, unbiased = 0.0, bool(options.struct.unbiased)
    rows = (events.mass,) if events.mass.ndim == 1 else events.mass
    if grad is not None:
        grad[:] = 0
    for whose, index, share in _parts(events, options.labels):
        for k, row in enumerate(rows):
            arrays = [
                array if index is None or array is None else array[index]
                for array in (row, events.score, events.weight)
            ]
            part = None if grad is None else np.empty_like(arrays[1])
            try:
                value = _native.distance_correlation(
                    double, len(arrays[1]), [*map(address, arrays)], unbiased, (None, address(part)), (arrays, part)
                )
            except ValueError as error:
                variable = f"variable {k} of mass: " if len(rows) > 1 else ""
                raise named(error, ("mass", "score", "weight", "grad"), index, whose + variable) from None
            loss += share / len(rows) * value
            if grad is not None and part is not None:
                grad[slice(None) if index is None else index] += part * grad.dtype.type(share / len(rows))
    return loss


def _parts(events: Events, labels: Sequence[int]) -> Iterator[tuple[str, NDArray[Any] | None, float]]:
    """For each label and category: its name in errors, the places of its events, its share of the label's weights."""
    if events.label is None and events.category is None:
        yield "", None, 1.0
        return
    for label in (None,) if events.label is None else labels:
        chosen = np.ones(len(events.score), bool) if label is None else events.label == label
        if label is not None and not chosen.any():
            raise _native.BatchError(no_background(events.label, label))
        words = ["events"] if label is None or len(labels) == 1 else [f"events with background_label = {label}"]
        category = np.zeros(len(chosen), bool) if events.category is None else events.category
        weight = np.ones(len(chosen)) if events.weight is None else events.weight
        categories, total = np.unique(category[chosen]), float(weight[chosen].sum(dtype=float))
        for one in categories:
            index = np.flatnonzero(chosen & (category == one))
            name = " ".join([*words, *([f"of category = {one}"] if len(categories) > 1 else [])])
            name = "" if name == "events" else f"{name}: "
            share = 1.0 if len(categories) == 1 else float(weight[index].sum(dtype=float)) / total
            if not share > 0 and np.isfinite(weight[chosen]).all():
                raise _native.BatchError(
                    f"{name}their share of the sum of weights is {share:g}, and must be positive: use larger batches, "
                    "or leave these events out"
                )
            yield name, index, share


def named(error: Exception, names: Sequence[str], index: NDArray[Any] | None = None, before: str = "") -> Exception:
    """An error of the core about x, y, weight and grad_y, with these names, and places in the input."""
    known, fault = (
        dict(zip(("x", "y", "weight", "grad_y"), names, strict=False)),
        getattr(error, "fault", Fault("", None, "")),
    )
    after = " ".join(known.get(word, word) for word in fault.after.split(" "))
    place = fault.place if fault.place is None or index is None else int(index[fault.place])
    name = known.get(fault.argument, fault.argument)
    return reworded(error, before=before + fault.before, argument=name, place=place, after=after)
