"""The file of a QuantileMap: what may stand in each of its fields. All else is an error that names the field."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._front import MOST_VARIABLES
from .._shown import near, shown

VERSION = 1
HIGHEST_ORDER = 16
_LARGEST = 1e100  # of a coefficient: sums of products of them do not overflow


class Fields(NamedTuple):
    """The fields of the file, checked, but for "libmode" and "version"."""

    order: int | None  #: 0 to 16; of several variables 0 or None
    intervals: int | None  #: at least 1
    mass_range: list[Any] | None  #: (low, high), or one for each of d variables
    ranges: list[tuple[float, float]]  #: of each variable low < high
    levels: NDArray[np.float64]  #: (k,) increasing, at least two
    knots: list[NDArray[np.float64]]  #: of each variable, increasing, from the low end of its range to the high one
    coefficients: NDArray[np.float64]  #: (k, functions), which do not decrease with the level; of one variable 0 to 1
    targets: NDArray[np.float64] | None  #: (k, order + 1), likewise; None where order is None


def read(text: str) -> Fields:
    """The fields in the text of a file."""
    try:
        given = json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("the text is nested too deeply for a QuantileMap") from None
    except ValueError as error:  # JSONDecodeError is one; another is for integers of thousands of digits
        raise ValueError(f"the text is no JSON: {error}") from None
    if not isinstance(given, dict) or given.get("libmode") != "QuantileMap":
        raise ValueError("the text is no QuantileMap")
    version = given.get("version")
    if type(version) is not int or version != VERSION:
        raise ValueError(f"version = {shown(version)} of a QuantileMap: this libmode reads {VERSION}")
    names = ("libmode", "version", *Fields._fields)
    for name in given:
        if name not in names:
            meant = near(name, names)
            raise ValueError(f"unknown field {shown(name)}" + (f": did you mean {meant}?" if meant else ""))
    for name in names:
        if name not in given:
            raise ValueError(f"{name} is missing in the file")
    return _checked(given)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the field {shown(name)} stands twice")
        found[name] = value
    return found


def _checked(given: dict[str, Any]) -> Fields:
    ranges = [_pair(f"ranges[{k}]", ends) for k, ends in enumerate(_list("ranges", given["ranges"]))]
    if not 1 <= len(ranges) <= MOST_VARIABLES:
        raise ValueError(
            f"ranges has length {len(ranges)}: must be 1 to {MOST_VARIABLES}, one for each variable of mass"
        )
    order = _integer("order", given["order"], 0, HIGHEST_ORDER if len(ranges) == 1 else 0)
    intervals = _integer("intervals", given["intervals"], 1, None)
    levels = _increasing("levels", given["levels"])
    knots = [_increasing(f"knots[{k}]", of_one) for k, of_one in enumerate(_list("knots", given["knots"], len(ranges)))]
    for k, (own, ends) in enumerate(zip(knots, ranges, strict=True)):
        if (own[0], own[-1]) != ends:
            raise ValueError(f"knots[{k}] is from {own[0]:g} to {own[-1]:g}: must be the ends of ranges[{k}] = {ends}")
    shape = len(levels), math.prod(len(own) + 2 for own in knots)
    targets = given["targets"]
    if (order is None) != (targets is None):
        raise ValueError(f"targets = {shown(targets)}, but order = {order}: both are null, or neither")
    return Fields(
        order=order,
        intervals=intervals,
        mass_range=_mass_range(given["mass_range"], len(ranges)),
        ranges=ranges,
        levels=levels,
        knots=knots,
        coefficients=_distribution("coefficients", given["coefficients"], shape, len(ranges)),
        targets=None if order is None else _distribution("targets", targets, (len(levels), order + 1), len(ranges)),
    )


def _list(name: str, value: Any, length: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} = {shown(value)}: must be a list")
    if length is not None and len(value) != length:
        raise ValueError(f"{name} has length {len(value)}: must be {length}")
    return value


def _integer(name: str, value: Any, least: int, most: int | None) -> int | None:
    if value is not None and (type(value) is not int or value < least or most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        allowed = f"{least}" if least == most else f"an integer {limits}"
        raise ValueError(f"{name} = {shown(value)}: must be {allowed}, or null")
    return value


def _number(name: str, value: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"{name} = {shown(value)}: must be a number")
    try:
        number = float(value)
    except OverflowError:  # an integer
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} = {shown(value)}: must be finite")
    return number


def _numbers(name: str, value: Any, length: int | None = None) -> NDArray[np.float64]:
    return np.array([_number(f"{name}[{k}]", one) for k, one in enumerate(_list(name, value, length))])


def _increasing(name: str, value: Any) -> NDArray[np.float64]:
    found = _numbers(name, value)
    if len(found) < 2:
        raise ValueError(f"{name} has length {len(found)}: must be at least 2")
    down = np.flatnonzero(found[1:] <= found[:-1])
    if len(down):
        k = down[0]
        raise ValueError(f"{name}[{k + 1}] = {found[k + 1]:g} after {found[k]:g}: must increase")
    if not math.isfinite(float(found[-1]) - float(found[0])):
        raise ValueError(f"{name} is from {found[0]:g} to {found[-1]:g}: its length must be finite")
    return found


def _pair(name: str, value: Any) -> tuple[float, float]:
    low, high = _increasing(name, _list(name, value, 2)).tolist()
    return low, high


def _mass_range(value: Any, count: int) -> list[Any] | None:
    """One pair, a list of one for each variable, or their numbers in one list."""
    if value is None:
        return None
    if value and isinstance(value, list) and isinstance(value[0], list):
        return [list(_pair(f"mass_range[{k}]", ends)) for k, ends in enumerate(_list("mass_range", value, count))]
    numbers: list[Any] = _numbers("mass_range", value, 2 * count).tolist()
    for k in range(0, 2 * count, 2):
        _pair("mass_range", numbers[k : k + 2])
    return numbers


def _distribution(name: str, value: Any, shape: tuple[int, int], variables: int) -> NDArray[np.float64]:
    rows = [_numbers(f"{name}[{k}]", row, shape[1]) for k, row in enumerate(_list(name, value, shape[0]))]
    found = np.array(rows)
    least, most = (0.0, 1.0) if variables == 1 else (-_LARGEST, _LARGEST)
    wrong = np.argwhere((found < least) | (found > most))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(f"{name}[{row}][{column}] = {found[row, column]:g}: must be from {least:g} to {most:g}")
    down = np.argwhere(found[1:] < found[:-1])
    if len(down):
        row, column = down[0]
        raise ValueError(
            f"{name}[{row + 1}][{column}] = {found[row + 1, column]:g} after {found[row, column]:g}: "
            "must not decrease with the level"
        )
    return found
