"""What JAX's types say of arrays on a mesh of devices, under names that have changed from version to version."""

from __future__ import annotations

from typing import Any

import jax


def as_varied_as(array: Any, result: Any) -> Any:
    """The result of a callback; JAX is told that it differs between the devices of a shard_map if the array does."""
    axes = tuple(_varying(array) - _varying(result))
    if not axes:
        return result
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(result, axes, to="varying")
    return jax.lax.pvary(result, axes)  # type: ignore[attr-defined]  # before JAX 0.8


def _varying(array: Any) -> frozenset[Any]:
    """The axes along which an array inside of a shard_map differs; none where JAX does not check that."""
    kind = jax.typeof(array)
    manual = getattr(kind, "manual_axis_type", None)
    axes: frozenset[Any] = getattr(kind, "vma", frozenset()) if manual is None else manual.varying
    return axes
