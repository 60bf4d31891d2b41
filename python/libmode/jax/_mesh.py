"""Arrays on a mesh of devices, and their types in JAX, whose names change from version to version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from .._problems import IN_LINES, TrainingWarning

Axes = str | Sequence[str]


def gathered_loss(both: Callable[[Any], tuple[Any, Any]], arrays: tuple[Any, ...], axes: Axes) -> tuple[Any, Any]:
    """The loss of the events of all devices along the axes, and the gradient by the events of this device."""
    loss, grad = both(tuple(None if array is None else jax.lax.all_gather(array, axes, tiled=True) for array in arrays))
    n = len(arrays[0])
    own = jax.lax.dynamic_slice_in_dim(grad, jax.lax.axis_index(axes) * n, n)
    return jax.lax.pmean(loss, axes), own  # all are equal, and pmean tells JAX so


def warn_of_parts(function: str, score: Any, advice: str) -> None:
    """Warns, once for a line of the program, inside of a shard_map that gives each device a part of the scores."""
    if axes := sorted(map(str, _varying(score))):
        IN_LINES.warn(
            "parts",
            f"{function} sees the events of one device of the mesh axis {', '.join(axes)} at a time, and the mean over "
            f"devices is not the result for all events: {advice}",
            TrainingWarning,
        )


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
