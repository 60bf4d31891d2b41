"""Errors for numbers of 64 bits that JAX, which has 32 bits by default, would change."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

# Enough to see whether float32 keeps masses apart.
_MASSES_LOOKED_AT = 1000

_WITHOUT = "JAX without jax_enable_x64"
_ENABLE = 'call jax.config.update("jax_enable_x64", True)'


def refuse_to_change(name: str, values: Any, dtype: np.dtype[Any]) -> None:
    """Raises ValueError if integers would change in this type of JAX, or if most different masses would be equal."""
    before = getattr(values, "dtype", None)
    if isinstance(values, jax.Array) or not isinstance(before, np.dtype) or before.itemsize <= dtype.itemsize:
        return
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        _refuse_changed(name, array, array.astype(dtype))
    elif name == "mass":
        for column in array.reshape(len(array), -1).T:
            _refuse_equal(column[:: max(1, len(column) // _MASSES_LOOKED_AT)], dtype)


def _refuse_changed(name: str, array: NDArray[Any], narrow: NDArray[Any]) -> None:
    changed = np.argwhere(array != narrow)
    if len(changed):
        place = ", ".join(map(str, changed[0]))
        advice = " or number the categories by numpy.unique(category, return_inverse=True)[1]" * (name == "category")
        raise ValueError(
            f"{name}[{place}] = {array[tuple(changed[0])]}: exceeds the integers of {_WITHOUT}: {_ENABLE}{advice}"
        )


def _refuse_equal(mass: NDArray[Any], dtype: np.dtype[Any]) -> None:
    with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, with an error of its own
        before, after = len(np.unique(mass)), len(np.unique(mass.astype(dtype)))
    if 2 * after < before:
        raise ValueError(
            f"mass[0] = {mass[0]}: {_WITHOUT} rounds the masses to {dtype}, in which {before} different masses have "
            f"only {after} values: subtract a constant from the masses, or {_ENABLE}"
        )
