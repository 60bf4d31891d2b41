"""DisCo of the events of a call: the distance correlation of mass and score, for each background label."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import no_background
from ._events import Events
from ._messages import Fault, reworded
from ._native import BatchError, address, call_with
from ._options import Options


def disco(options: Options, events: Events, double: bool, grad: NDArray[Any] | None) -> float:
    """DisCo of arrays that are ready for the core. It fills ``grad``, with 0 for events that take no part."""
    label, several = events.label, len(options.labels) > 1
    if events.category is not None or events.mass.ndim > 1:
        what = f"mass has {len(events.mass)} variables" if events.category is None else "category is given"
        raise ValueError(f"{what}, and loss = 'disco' takes one mass and no category: call it for each of them")
    if grad is not None:
        grad[:] = 0
    loss = 0.0
    for background in options.labels if label is not None else options.labels[:1]:
        index = None if label is None else np.flatnonzero(label == background)
        if index is not None and not len(index):
            raise BatchError(no_background(label, background))
        arrays = [
            array if index is None or array is None else array[index]
            for array in (events.mass, events.score, events.weight)
        ]
        part = None if grad is None else np.empty_like(arrays[1])
        unbiased, addresses = bool(options.struct.unbiased), [*map(address, arrays)]
        try:
            loss += correlation(double, len(arrays[1]), addresses, unbiased, (None, address(part)), (arrays, part))
        except ValueError as error:
            before = f"events with background_label = {background}: " if several and label is not None else ""
            raise named(error, ("mass", "score", "weight", "grad"), index, before) from None
        if grad is not None:
            grad[slice(None) if index is None else index] = part
    return loss


def correlation(
    double: bool, n: int, arrays: Sequence[int | None], unbiased: bool, grads: Sequence[int | None], held: Any
) -> float:
    """DCorr^2 of x and y with weights, at the addresses ``arrays``; the derivatives by x and y go to ``grads``."""
    value = ctypes.c_double()
    call_with("mode_distance_correlation", double, n, held, n, *arrays, unbiased, value, *grads)
    return value.value


def named(error: Exception, names: Sequence[str], index: NDArray[Any] | None = None, before: str = "") -> Exception:
    """An error of the core about x, y, weight and grad_y, with these names, and places in the input."""
    known = dict(zip(("x", "y", "weight", "grad_y"), names, strict=False))
    fault = getattr(error, "fault", Fault("", None, ""))
    place = fault.place if fault.place is None or index is None else int(index[fault.place])
    name = known.get(fault.argument, fault.argument)
    return reworded(error, before=before + fault.before, argument=name, place=place)
