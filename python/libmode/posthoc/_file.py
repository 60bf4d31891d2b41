"""The file of a QuantileMap: an error names the field that is wrong."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._messages import shown
from .._read import MOST_VARIABLES

Doubles = NDArray[np.float64]
VERSION = 1
HIGHEST_ORDER = 16
_LARGEST = 1e100  # of a coefficient: sums of products of them do not overflow


class Fields(NamedTuple):
    """The fitted numbers in the file."""

    ranges: list[tuple[float, float]]  #: of each variable low < high
    levels: Doubles  #: (k,) increasing
    knots: list[Doubles]  #: of each variable, increasing, from the low end of its range to the high one
    coefficients: Doubles  #: (k, functions), which do not decrease with the level; of one variable 0 to 1
    targets: Doubles | None  #: (k, order + 1), likewise


def read(text: str) -> tuple[dict[str, Any], Fields]:
    """The parameters and the fields in the text of a file."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the text is not JSON: {error}") from None
    if not isinstance(fields, dict) or fields.get("libmode") != "QuantileMap":
        raise ValueError("the text is not a QuantileMap")
    if not _is_whole(fields.get("version")) or fields["version"] != VERSION:
        raise ValueError(f"version = {shown(fields.get('version'))} of a QuantileMap: this libmode reads {VERSION}")
    for name in ("order", "intervals", "mass_range", *Fields._fields):
        if name not in fields:
            raise ValueError(f"{name} is missing in the file")
    levels = _increasing("levels", fields["levels"])
    if not isinstance(fields["knots"], list) or not 1 <= len(fields["knots"]) <= MOST_VARIABLES:
        raise ValueError(
            f"knots = {shown(fields['knots'])}: must be a list for each of 1 to {MOST_VARIABLES} variables"
        )
    knots = [_increasing(f"knots[{k}]", ends) for k, ends in enumerate(fields["knots"])]
    ranges = [(float(ends[0]), float(ends[-1])) for ends in knots]
    if not np.array_equal(_numbers("ranges", fields["ranges"], (len(knots), 2)), ranges):
        raise ValueError(f"ranges = {shown(fields['ranges'])}: must be the ends of the knots, {ranges}")
    targets = fields["targets"]
    if targets is not None:
        targets = _numbers("targets", targets, (len(levels), -1))
    order = None if targets is None else targets.shape[1] - 1
    if fields["order"] != order or isinstance(fields["order"], (bool, float)) or order and len(knots) > 1:
        raise ValueError(f"order = {shown(fields['order'])}, but the targets are of order {order}")
    if order and order > HIGHEST_ORDER:
        raise ValueError(f"order = {order}: must be at most {HIGHEST_ORDER}")
    shape = len(levels), math.prod(len(ends) + 2 for ends in knots)
    coefficients = _numbers("coefficients", fields["coefficients"], shape)
    least, most = (0.0, 1.0) if len(knots) == 1 else (-_LARGEST, _LARGEST)
    for name, rows in (("coefficients", coefficients), ("targets", targets)):
        if rows is None:
            continue
        _refuse((rows < least) | (rows > most), name, rows, f"must be from {least:g} to {most:g}")
        _refuse(np.diff(rows, axis=0, prepend=rows[:1]) < 0, name, rows, "must not decrease with the level")
    _check_parameters(fields["intervals"], fields["mass_range"], len(knots))
    parameters = {name: fields[name] for name in ("order", "intervals", "mass_range")}
    return parameters, Fields(ranges, levels, knots, coefficients, targets)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_parameters(intervals: Any, mass_range: Any, variables: int) -> None:
    """Checks the parameters that only another fit needs."""
    if intervals is not None and (not _is_whole(intervals) or intervals < 1):
        raise ValueError(f"intervals = {shown(intervals)}: must be an integer of at least 1, or null")
    if mass_range is None:
        return
    pairs = [mass_range] if variables == 1 and np.ndim(mass_range) == 1 else mass_range
    ends = _numbers("mass_range", pairs, (variables, 2))
    if not (ends[:, 0] < ends[:, 1]).all():
        raise ValueError(
            f"mass_range = {shown(mass_range)}: must be two numbers for each variable, the lower one first"
        )


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> Doubles:
    """``value`` as finite numbers of this shape, in which -1 stands for any length."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} = {shown(value)}: must be lists of numbers")
    array = array.astype(np.float64)
    if array.ndim != len(shape) or any(
        want not in (-1, length) for length, want in zip(array.shape, shape, strict=True)
    ):
        raise ValueError(f"{name} has shape {array.shape}: must be {shape}")
    _refuse(~np.isfinite(array), name, array, "must be finite")
    return array


def _increasing(name: str, value: Any) -> Doubles:
    array = _numbers(name, value, (-1,))
    if len(array) < 2 or not math.isfinite(float(array[-1]) - float(array[0])):
        raise ValueError(f"{name} = {shown(value)}: must be two numbers or more, of finite length")
    _refuse(np.diff(array, prepend=-np.inf) <= 0, name, array, "must increase")
    return array


def _refuse(wrong: NDArray[np.bool_], name: str, array: Doubles, expected: str) -> None:
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"{name}{''.join(f'[{k}]' for k in place)} = {array[place]:g}: {expected}")
