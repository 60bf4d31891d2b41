"""DisCo of the events of a call: the distance correlation of mass and score, for each label, category and variable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, no_background
from ._events import Events
from ._options import Options


def disco(options: Options, events: Events, double: bool, grad: NDArray[Any] | None) -> float:
    """DisCo of arrays that are ready for the core. ``grad`` is set, to 0 for events that take no part."""
    loss, unbiased = 0.0, bool(options.struct.unbiased)
    rows = (events.mass,) if events.mass.ndim == 1 else events.mass
    if grad is not None:
        grad[:] = 0
    for of_whom, index, share in _parts(events, options.labels):
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
                sentence = named(str(error), ("mass", "score", "weight", "grad"), index)
                raise type(error)(f"{of_whom}{variable}{sentence}") from None
            loss += share / len(rows) * value
            if grad is not None and part is not None:
                grad[slice(None) if index is None else index] += part * grad.dtype.type(share / len(rows))
    return loss


def _parts(events: Events, labels: Sequence[int]) -> Iterator[tuple[str, NDArray[Any] | None, float]]:
    """For each label and category: the name in errors, the places, and the share of the label's sum of weights."""
    if events.label is None and events.category is None:
        yield "", None, 1.0
        return
    for label in (None,) if events.label is None else labels:
        of = np.ones(len(events.score), bool) if label is None else events.label == label
        if label is not None and not of.any():
            raise _native.BatchError(no_background(events.label, label))
        whose = [] if label is None or len(labels) == 1 else [f"with background_label = {label}"]
        category = np.zeros(len(of), bool) if events.category is None else events.category
        categories = np.unique(category[of])
        for one in categories:
            index = np.flatnonzero(of & (category == one))
            name = " ".join(["events", *whose, *([f"of category = {one}"] if len(categories) > 1 else [])])
            name = "" if name == "events" else f"{name}: "
            weight = np.ones(len(of)) if events.weight is None else events.weight
            share = 1.0 if len(categories) == 1 else float(weight[index].sum(dtype=float) / weight[of].sum(dtype=float))
            if not share > 0 and np.isfinite(weight[of]).all():
                raise _native.BatchError(
                    f"{name}their share of the sum of weights is {share:g}, and must be positive: use larger batches, "
                    "or leave these events out"
                )
            yield name, index, share


def named(message: str, names: Sequence[str], index: NDArray[Any] | None = None) -> str:
    """A message of the core about x, y, weight and grad_y, with these names and the places in the input."""
    known = dict(zip(("x", "y", "weight", "grad_y"), names, strict=False))

    def replaced(found: re.Match[str]) -> str:
        name = known.get(found[1], found[1])
        return name if found[2] is None else f"{name}[{found[2] if index is None else index[int(found[2])]}]"

    return re.sub(r"\b(x|y|weight|grad_y)\b(?:\[(\d+)\])?", replaced, message)
