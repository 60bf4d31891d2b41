"""Limits of mass and score, and edges, rounded to the type of the events.

A float32 mass of 0.8 is a little more than 0.8. Limits are therefore rounded outwards to the type of the array, so
that no event on a limit is lost. Edges between are rounded as the masses are, so that a mass on an edge is above it.
"""

from __future__ import annotations

import math
from typing import Any

# Of the types that are less precise than Python's float: binary digits, and the largest exponent.
_NARROW = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127)}


def outwards(low: float, high: float, kind: str) -> tuple[float, float]:
    """The limits, rounded outwards to the type of this name."""
    return (0.0 - _up(-low, *_NARROW[kind]), _up(high, *_NARROW[kind])) if kind in _NARROW else (low, high)


def nearest(value: float, kind: str) -> float:
    """The value, rounded to the type of this name."""
    if kind not in _NARROW:
        return value
    digits, largest = _NARROW[kind]
    step = _step(value, digits, largest)
    return value if abs(value) >= 2.0 ** (largest + 1) else round(value / step) * step


def exact(value: float) -> bool:
    """Whether a limit is exact in every type."""
    return math.isinf(value) or all(nearest(value, kind) == value for kind in _NARROW)


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of NumPy, JAX, TensorFlow or PyTorch, for instance "float32"."""
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def _up(limit: float, digits: int, largest: int) -> float:
    """The lowest number of a type that is not below ``limit``; ``limit`` itself if all its numbers are below."""
    if math.isinf(limit):
        return limit
    step = _step(limit, digits, largest)
    rounded = math.ceil(limit / step) * step
    return limit if rounded >= 2.0 ** (largest + 1) else rounded


def _step(value: float, digits: int, largest: int) -> float:
    """The distance between neighboring numbers of a type near ``value``."""
    return 2.0 ** max(math.frexp(value)[1] - digits, 2 - largest - digits)
