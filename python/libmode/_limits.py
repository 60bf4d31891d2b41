"""Limits of mass and score, rounded to the type of the events.

A float32 mass of 0.8 is a little more than 0.8. Limits are therefore rounded outwards to the type of the array, so
that no event on a limit is lost.
"""

from __future__ import annotations

import math
from typing import Any

# Of the types that are less precise than Python's float: binary digits, and the largest exponent.
_NARROW = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127)}


def outwards(low: float, high: float, kind: str) -> tuple[float, float]:
    """The limits, rounded outwards to the type of this name."""
    return (0.0 - _up(-low, *_NARROW[kind]), _up(high, *_NARROW[kind])) if kind in _NARROW else (low, high)


def exact(low: float, high: float) -> bool:
    """Whether both limits are exact in every type."""
    return all(outwards(low, high, kind) == (low, high) for kind in _NARROW)


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of NumPy, JAX, TensorFlow or PyTorch, for instance "float32"."""
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def _up(limit: float, digits: int, largest: int) -> float:
    """The lowest number of a type that is not below ``limit``; ``limit`` itself if all its numbers are below."""
    if math.isinf(limit):
        return limit
    step = 2.0 ** max(math.frexp(limit)[1] - digits, 2 - largest - digits)
    rounded = math.ceil(limit / step) * step
    return limit if rounded >= 2.0 ** (largest + 1) else rounded
