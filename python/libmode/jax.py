"""The MoDe loss for JAX: :func:`mode_loss`, which goes through ``jit``, ``grad``, ``jvp`` and ``vmap``.

The core finds the loss and its gradient in one pass, and the derivative is the product
with that gradient. Where values are known the core is called directly; inside ``jit``
and ``vmap`` it is called back from the compiled program.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._functions import NO_SECOND_DERIVATIVE, Evaluate, loss_and_grad
from ._missing import needed
from ._options import LossOptions, Options, options

with needed("jax", by="libmode.jax", extra="jax"):
    import jax
    import jax.numpy as jnp
    from jax.experimental.buffer_callback import buffer_callback

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["mode_loss"]

# The options and the function that computes with them: static, so both are hashable.
How = tuple[Options, Evaluate]


def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    background_label: int | Sequence[int] = 0,
    **given: Unpack[LossOptions],
) -> jax.Array:
    """The MoDe loss (arXiv:2010.09745) of JAX arrays, differentiable in ``score``.

    Parameters
    ----------
    score : array of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one.
    mass, weight, label : arrays of shape (n,) or (n, 1)
        As for :func:`libmode.mode_loss`. Their derivative is 0.
    **options
        Those of :func:`libmode.mode_loss`; static under ``jit``.

    Returns
    -------
    Array of shape (), float64 for float64 scores (``jax_enable_x64``) and float32 otherwise.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`, for shapes and types while tracing too. What is
        wrong with values inside ``jit`` is known when the program runs: then a
        ``jax.errors.JaxRuntimeError``, whose last line is that sentence.
    """
    return loss_of(score, mass, weight, label, options(background_label, given), loss_and_grad)


def loss_of(score: Any, mass: Any, weight: Any, label: Any, chosen: Options, evaluate: Evaluate) -> jax.Array:
    """:func:`mode_loss` with options that are ready, by a function as :func:`loss_and_grad` is."""
    score = _vector("score", score)
    if not jnp.issubdtype(score.dtype, jnp.floating):
        raise TypeError(f"score has dtype {score.dtype}: expected a floating type")
    others = {"mass": _vector("mass", mass)}
    for name, values in (("weight", weight), ("label", label)):
        if values is not None:
            others[name] = _vector(name, values)
    for name, array in others.items():
        if len(array) != len(score):
            raise ValueError(f"{name} has length {len(array)}, but score has length {len(score)}")
    loss: jax.Array = _loss(score, others["mass"], others.get("weight"), others.get("label"), (chosen, evaluate))
    return loss


def _vector(name: str, values: Any) -> jax.Array:
    """``values`` as an array of shape (n,) that NumPy has the type of."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    array = jnp.asarray(values)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: expected (n,) or (n, 1)")
    small = jnp.issubdtype(array.dtype, jnp.floating) and array.dtype.itemsize < 4
    return array.astype(jnp.float32) if small else array


@partial(jax.custom_jvp, nondiff_argnums=(4,))
def _loss(score: Any, mass: Any, weight: Any, label: Any, how: How) -> Any:
    return _loss_and_grad(score, mass, weight, label, how)[0]


@_loss.defjvp
def _(how: How, primals: Any, tangents: Any) -> Any:
    loss, grad = _loss_and_grad(*primals, how)
    return loss, jnp.sum(grad * tangents[0])


@partial(jax.custom_jvp, nondiff_argnums=(4,))
def _loss_and_grad(score: Any, mass: Any, weight: Any, label: Any, how: How) -> Any:
    arrays = (score, mass, weight, label)
    if not any(isinstance(array, jax.core.Tracer) for array in arrays):
        loss, grad = _compute(how, *arrays)
        return jnp.asarray(loss), jnp.asarray(grad)
    return jax.lax.platform_dependent(*arrays, cpu=partial(_on_cpu, how), default=partial(_elsewhere, how))


@_loss_and_grad.defjvp
def _(how: How, primals: Any, tangents: Any) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


def _on_cpu(how: How, *arrays: Any) -> Any:
    # Not pure_callback: there JAX copies the inputs on a thread that, on one processor, waits for the callback.
    return buffer_callback(partial(_fill, how), _result(arrays[0]), vmap_method="sequential")(*arrays)


def _fill(how: How, context: Any, results: Any, *buffers: Any) -> None:
    arrays = (None if buffer is None else np.asarray(buffer) for buffer in buffers)
    for result, value in zip(results, _compute(how, *arrays), strict=True):
        np.asarray(result)[...] = value


def _elsewhere(how: How, *arrays: Any) -> Any:
    return jax.pure_callback(partial(_compute, how), _result(arrays[0]), *arrays, vmap_method="sequential")


def _result(score: Any) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    return jax.ShapeDtypeStruct((), score.dtype), jax.ShapeDtypeStruct(score.shape, score.dtype)


def _compute(how: How, *arrays: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The loss and its gradient, by NumPy alone: a callback must not call JAX."""
    chosen, evaluate = how
    loss, grad = evaluate(chosen, *arrays)
    return np.asarray(loss, dtype=grad.dtype), grad
