"""The losses as functions of JAX arrays.

The core finds the loss and its gradient in one pass, and the derivative is the product
with that gradient. Where values are known the core is called directly; inside ``jit``
and ``vmap`` it is called back from the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .._evaluate import Evaluate, loss_and_grad
from .._front import NO_SECOND_DERIVATIVE, events_of
from .._options import Options, check

try:
    from jax.experimental.buffer_callback import buffer_callback
except ImportError:  # it is experimental: where it is no more, pure_callback does
    buffer_callback = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import DisCoOptions, FlatnessOptions, LossOptions

# Makes of NumPy's arrays two: for a loss, the loss and its gradient.
Compute = Callable[..., tuple[Any, NDArray[Any]]]


def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    category: Any = None,
    **options: Unpack[LossOptions],
) -> jax.Array:
    """The MoDe loss (arXiv:2010.09745) of JAX arrays, differentiable in ``score``.

    Parameters
    ----------
    score : array of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one.
    mass, weight, label, category : arrays of shape (n,) or (n, 1), mass also (n, d)
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
    return loss_of(check("mode", options), score, mass, weight, label, category)


def disco_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[DisCoOptions]
) -> jax.Array:
    """DisCo of JAX arrays: :func:`libmode.baselines.disco_loss`, otherwise as :func:`mode_loss`."""
    return loss_of(check("disco", options), score, mass, weight, label)


def flatness_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[FlatnessOptions]
) -> jax.Array:
    """The flatness loss of JAX arrays: :func:`libmode.baselines.flatness_loss`, otherwise as :func:`mode_loss`."""
    return loss_of(check("flatness", options), score, mass, weight, label)


def loss_of(
    options: Options,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    category: Any = None,
    evaluate: Evaluate = loss_and_grad,
) -> jax.Array:
    """A loss of options that are checked, by a function as :func:`loss_and_grad` is."""
    given = events_of(read, score, mass, weight, label, category)
    options = options.for_events(given.score.dtype, given.mass.dtype, given.mass.shape)
    loss: jax.Array = _loss(*map(known_to_numpy, given), partial(evaluate, options))
    return loss


def read(name: str, values: Any) -> jax.Array:
    """``values`` as an array of real numbers; scores must be floating, and categories integers."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    array = jnp.asarray(values)
    if name == "score" and not jnp.issubdtype(array.dtype, jnp.floating):
        raise TypeError(f"score has dtype {array.dtype}: expected a floating type")
    if name == "category" and not (jnp.issubdtype(array.dtype, jnp.integer) or array.dtype == bool):
        raise TypeError(f"category has dtype {array.dtype}: expected integers")
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        raise TypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    return array


def known_to_numpy(array: jax.Array | None) -> jax.Array | None:
    """The array, in float32 where its type is a smaller floating one, which NumPy may not have."""
    if array is not None and jnp.issubdtype(array.dtype, jnp.floating) and array.dtype.itemsize < 4:
        return array.astype(jnp.float32)
    return array


@partial(jax.custom_jvp, nondiff_argnums=(5,))
def _loss(score: Any, mass: Any, weight: Any, label: Any, category: Any, compute: Compute) -> Any:
    return _loss_and_grad((score, mass, weight, label, category), compute)[0]


@_loss.defjvp
def _(compute: Compute, primals: Any, tangents: Any) -> Any:
    loss, grad = _loss_and_grad(primals, compute)
    return loss, jnp.sum(grad * tangents[0])


def _loss_and_grad(arrays: tuple[Any, ...], compute: Compute) -> Any:
    return call_back(arrays, compute, jax.ShapeDtypeStruct((), arrays[0].dtype))


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def call_back(arrays: tuple[Any, ...], compute: Compute, first: jax.ShapeDtypeStruct) -> Any:
    """What compute returns for these arrays, the score and others or None: ``first``, and an array like the score.

    It has no derivative.
    """
    try:
        known = [None if array is None else np.asarray(array) for array in arrays]
    except jax.errors.TracerArrayConversionError:
        results = first, jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
        on_cpu = partial(_elsewhere if buffer_callback is None else _on_cpu, compute, results)
        return jax.lax.platform_dependent(*arrays, cpu=on_cpu, default=partial(_elsewhere, compute, results))
    one, grad = compute(*known)
    return jnp.asarray(one, first.dtype), jnp.asarray(grad)


@call_back.defjvp
def _(compute: Compute, first: jax.ShapeDtypeStruct, primals: Any, tangents: Any) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


def _on_cpu(compute: Compute, results: Any, *arrays: Any) -> Any:
    # Not pure_callback: there JAX copies the inputs on a thread that, on one processor, waits for the callback.
    return buffer_callback(partial(_fill, compute), results, vmap_method="sequential")(*arrays)


def _fill(compute: Compute, context: Any, results: Any, *buffers: Any) -> None:
    arrays = (None if buffer is None else np.asarray(buffer) for buffer in buffers)
    for result, value in zip(results, compute(*arrays), strict=True):
        np.asarray(result)[...] = value


def _elsewhere(compute: Compute, results: Any, *arrays: Any) -> Any:
    def of_numpy(*arrays: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        one, grad = compute(*arrays)  # by NumPy alone: a callback must not call JAX
        return np.asarray(one, results[0].dtype), grad

    return jax.pure_callback(of_numpy, results, *arrays, vmap_method="sequential")
