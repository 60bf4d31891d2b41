"""Arrays on a mesh of devices, and their types in JAX, whose names change from version to version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

Axes = str | Sequence[str]


def gathered_loss(both: Callable[[Any], tuple[Any, Any]], arrays: tuple[Any, ...], axes: Axes) -> tuple[Any, Any]:
    """The loss of the events of all devices along the axes, and the gradient by the events of this device."""
    loss, grad = both(tuple(None if array is None else jax.lax.all_gather(array, axes, tiled=True) for array in arrays))
    n = len(arrays[0])
    own = jax.lax.dynamic_slice_in_dim(grad, jax.lax.axis_index(axes) * n, n)
    return jax.lax.pmean(loss, axes), own  # all are equal, and pmean tells JAX so


def as_varied_as(array: Any, result: Any) -> Any:
    """The result of a callback, marked as different on the devices of a shard_map if the array is different there."""
    axes = tuple(_varying(array) - _varying(result))
    if not axes:
        return result
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(result, axes, to="varying")
    return jax.lax.pvary(result, axes)  # type: ignore[attr-defined]  # before JAX 0.8


def _varying(array: Any) -> frozenset[Any]:
    """The axes along which an array inside of a shard_map differs; none if JAX does not check that."""
    kind = jax.typeof(array)
    manual = getattr(kind, "manual_axis_type", None)
    return getattr(kind, "vma", frozenset()) if manual is None else manual.varying
