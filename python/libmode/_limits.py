"""Limits of mass and score, and edges, rounded to the type of the events.

A float32 mass of 0.8 is a little more than 0.8. Limits are therefore rounded outwards to the type of the array, so
that no event on a limit is lost. Edges between are rounded as the masses are, so that a mass on an edge is above it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

# Of the types that are less precise than Python's float: binary digits, and the largest exponent.
_NARROW = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127)}


def rounded(limits: tuple[float, ...], kind: str) -> tuple[float, ...]:
    """Increasing limits in the type of this name: both ends rounded outwards, and others to the nearest number."""
    low, *inner, high = limits
    return _near(low, kind, math.floor), *(_near(edge, kind, round) for edge in inner), _near(high, kind, math.ceil)


def exact(value: float) -> bool:
    """Whether a limit is exact in every type."""
    return all(_near(value, kind, round) == value for kind in _NARROW)


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of NumPy, JAX, TensorFlow or PyTorch, for instance "float32"."""
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def _near(value: float, kind: str, to_integer: Callable[[float], int]) -> float:
    """A number of a type near the value; the value itself if the type does not reach it."""
    if kind not in _NARROW or math.isinf(value):
        return value
    digits, largest = _NARROW[kind]
    step = 2.0 ** max(math.frexp(value)[1] - digits, 2 - largest - digits)  # between neighboring numbers of the type
    near = to_integer(value / step) * step
    return value if abs(near) >= 2.0 ** (largest + 1) else near
