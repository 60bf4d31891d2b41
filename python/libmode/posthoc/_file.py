"""The file of a QuantileMap: its parameters and fitted numbers, by the names of its arguments and attributes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._messages import shown

Doubles = NDArray[np.float64]
VERSION = 1


PARAMETERS = ("order", "intervals", "mass_range")
FITTED = ("levels", "knots", "coefficients", "targets")


def read(text: str) -> dict[str, Any]:
    """The parameters and the fitted numbers in the text of a file."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is not JSON: {error}") from None
    if not isinstance(fields, dict) or fields.get("libmode") != "QuantileMap":
        raise ValueError("the text is not a QuantileMap")
    if fields.get("version") != VERSION:
        raise ValueError(f"version = {shown(fields.get('version'))} of a QuantileMap: this libmode reads {VERSION}")
    for name in (*PARAMETERS, *FITTED):
        if name not in fields:
            raise ValueError(f"{name} is missing in the file")
    knots = [_increasing("knots", ends) for ends in fields["knots"]]
    levels = _increasing("levels", fields["levels"])
    functions = math.prod(len(ends) + 2 for ends in knots)
    targets, order = fields["targets"], fields["order"]
    if (targets is None) != (order is None):
        raise ValueError(f"order = {shown(order)}, and targets are {'missing' if targets is None else 'there'}")
    coefficients = _numbers("coefficients", fields["coefficients"], (len(levels), functions))
    targets = None if targets is None else _numbers("targets", targets, (len(levels), order + 1))
    return fields | {"levels": levels, "knots": knots, "coefficients": coefficients, "targets": targets}


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> Doubles:
    """``value`` as finite numbers of this shape."""
    array = np.asarray(value, np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} = {shown(value)}: must be finite numbers of shape {shape}")
    return array


def _increasing(name: str, value: Any) -> Doubles:
    array = _numbers(name, value, np.shape(value)[:1])
    if len(array) < 2 or not (np.diff(array) > 0).all():
        raise ValueError(f"{name} = {shown(value)}: must be two increasing numbers or more")
    return array
