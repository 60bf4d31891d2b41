"""Arrays of JAX, whose numbers have 32 bits by default."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _read


def as_jax(name: str, values: Any) -> jax.Array:
    """``values`` as an array of real numbers; scores must be floating, and categories integers."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    values = _read.without_masks(name, values)
    try:
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, with an error of its own
            array = jnp.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:  # strings, objects, ragged lists
        _read.as_array(name, values)  # raises its error
        raise TypeError(f"{name} cannot be made an array of JAX: {error}") from None
    floating = jnp.issubdtype(array.dtype, jnp.floating)
    whole = jnp.issubdtype(array.dtype, jnp.integer) or array.dtype == bool
    expected, fits = {"score": ("a floating type", floating), "category": ("integers", whole)}.get(
        name, ("real numbers", floating or whole)
    )
    if not fits:
        raise TypeError(f"{name} has dtype {array.dtype}: expected {expected}")
    _refuse_to_change(name, values, array.dtype)
    return array


def known_to_numpy(array: jax.Array | None) -> jax.Array | None:
    """The array, in float32 if its floating type is a smaller one, which NumPy may lack."""
    if array is not None and jnp.issubdtype(array.dtype, jnp.floating) and array.dtype.itemsize < 4:
        return array.astype(jnp.float32)
    return array


def _refuse_to_change(name: str, values: Any, dtype: np.dtype[Any]) -> None:
    """Raises ValueError if integers would change in this type of JAX."""
    before = getattr(values, "dtype", None)
    if isinstance(values, jax.Array) or not isinstance(before, np.dtype) or before.itemsize <= dtype.itemsize:
        return
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        for place in np.argwhere(array != array.astype(dtype))[:1]:
            where = ", ".join(map(str, place))
            numbers = " or number the categories by numpy.unique(category, return_inverse=True)[1]"
            raise ValueError(
                f"{name}[{where}] = {array[tuple(place)]}: exceeds the integers of JAX without jax_enable_x64: call "
                f'jax.config.update("jax_enable_x64", True){numbers if name == "category" else ""}'
            )
