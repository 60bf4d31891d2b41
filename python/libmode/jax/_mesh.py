"""What JAX's types say of arrays on a mesh of devices, under names that have changed from version to version."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec


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


def whole(array: Any) -> Any:
    """The array, gathered where its type says that it is distributed: on Explicit axes; on others XLA does that."""
    sharding = _sharding(array)
    if sharding is None:
        return array
    return jax.sharding.reshard(array, NamedSharding(sharding.mesh, PartitionSpec(*(None for _ in array.shape))))


def distributed(array: Any, like: Any) -> Any:
    """The array, distributed as another one is by its type."""
    sharding = _sharding(like)
    return array if sharding is None else jax.sharding.reshard(array, sharding)


def _sharding(array: Any) -> Any:
    sharding = getattr(jax.typeof(array), "sharding", None)
    return sharding if any(getattr(sharding, "spec", ())) else None
