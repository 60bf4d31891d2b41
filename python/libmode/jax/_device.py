"""The loss by JAX's own operations, on the device of the arrays, see :mod:`libmode._device`.

Its sums are in float64 whether or not ``jax_enable_x64`` is set. Where a check of the events fails the core is asked,
which says what is wrong: in a compiled program by a callback that is not reached otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.experimental
import jax.numpy as jnp

from .._device.loss import loss_and_grad
from .._device.plan import Plan
from ._mesh import distributed, whole

#: The context in which there are 64-bit types; before JAX 0.8 it has another place.
_x64: Any = jax.enable_x64 if hasattr(jax, "enable_x64") else getattr(jax.experimental, "enable_x64")  # noqa: B009

#: A function of score, mass, weight, label and category, all but two perhaps None: the loss and its gradient.
Both = Callable[..., tuple[Any, Any]]


class JaxArrays:
    """:class:`libmode._device.arrays.Arrays` of JAX, where 64-bit types are on."""

    def real(self, values: Any) -> Any:
        return values.astype(jnp.float64)

    def constant(self, values: Sequence[float]) -> Any:
        return jnp.asarray(values, jnp.float64)

    def arange(self, n: int) -> Any:
        return jnp.arange(n)

    def full(self, shape: tuple[int, ...], value: float) -> Any:
        return jnp.full(shape, value, jnp.float64)

    def sort(self, values: Any) -> tuple[Any, Any]:
        return tuple(jax.lax.sort((values, jnp.arange(len(values))), num_keys=1))  # type: ignore[return-value]

    def order_of(self, numbers: Any) -> Any:
        return jnp.argsort(numbers, stable=True)

    def take(self, table: Any, places: Any) -> Any:
        return table.at[..., places].get(mode="promise_in_bounds")

    def put(self, values: Any, places: Any) -> Any:
        return jnp.zeros_like(values).at[..., places].set(values, unique_indices=True, mode="promise_in_bounds")

    def cumsum(self, values: Any) -> Any:
        return jnp.cumsum(values, -1)

    def cummax(self, values: Any) -> Any:
        return jax.lax.cummax(values, axis=values.ndim - 1)

    def segment_sums(self, values: Any, segment: Any, count: int) -> Any:
        return jnp.zeros((len(values), count)).at[:, segment].add(values)

    def searchsorted(self, edges: Any, values: Any, right: bool) -> Any:
        return jnp.searchsorted(edges, values, side="right" if right else "left")

    def where(self, condition: Any, chosen: Any, other: Any) -> Any:
        return jnp.where(condition, chosen, other)

    def stack(self, arrays: Sequence[Any]) -> Any:
        return jnp.stack(arrays)

    def concat(self, arrays: Sequence[Any]) -> Any:
        return jnp.concatenate(arrays, -1)

    def flip(self, values: Any) -> Any:
        return jnp.flip(values, -1)

    def clip(self, values: Any, low: float, high: float) -> Any:
        return jnp.clip(values, low, high)

    def exp(self, values: Any) -> Any:
        return jnp.exp(values)

    def tanh(self, values: Any) -> Any:
        return jnp.tanh(values)

    def sqrt(self, values: Any) -> Any:
        return jnp.sqrt(values)

    def sign(self, values: Any) -> Any:
        return jnp.sign(values)

    def isfinite(self, values: Any) -> Any:
        return jnp.isfinite(values)

    def mantissa(self, value: Any) -> Any:
        return jnp.frexp(value)[0]


def on_device(plan: Plan, core: Both, *arrays: Any) -> tuple[Any, Any]:
    """The loss and its gradient, of the type of the score, or what the core returns, or raises, where a check fails."""
    if not len(arrays[0]):
        return core(*arrays)
    if any(isinstance(array, jax.core.Tracer) for array in arrays):
        # One batch after the other under vmap, where a condition would take both ways.
        gathered = (None if array is None else whole(array) for array in arrays)
        loss, grad = jax.custom_batching.sequential_vmap(partial(_conditional, plan, core))(*gathered)
        return loss, distributed(grad, arrays[0])
    loss, grad, ok = _compiled(plan, *arrays)
    return (loss, grad) if ok else core(*arrays)


def _conditional(plan: Plan, core: Both, *arrays: Any) -> tuple[Any, Any]:
    *found, ok = _found(plan, *arrays)
    both: tuple[Any, Any] = jax.lax.cond(
        ok, lambda found, _: tuple(found), lambda _, arrays: core(*arrays), found, arrays
    )
    return both


def _found(plan: Plan, score: Any, mass: Any, weight: Any, label: Any, category: None) -> tuple[Any, Any, Any]:
    """The loss, its gradient, and whether all is well."""
    with _x64(True):
        found = loss_and_grad(JaxArrays(), plan, score, mass, weight, label)
        ok = jnp.stack(found.checks).all()
        return found.loss.astype(score.dtype), found.grad.astype(score.dtype), ok


_compiled = jax.jit(_found, static_argnums=0)
