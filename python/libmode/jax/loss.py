"""The losses as functions of JAX arrays.

The core finds the loss and its gradient in one pass, and the derivative is the product
with that gradient. Where values are known the core is called directly; inside ``jit``
and ``vmap`` it is called back from the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .. import _arrays
from .._evaluate import Evaluate, loss_and_grad
from .._front import NO_SECOND_DERIVATIVE, events_of
from .._options import Options, check
from ._mesh import as_varied_as

try:
    from jax.experimental.buffer_callback import buffer_callback
except ImportError:  # it is experimental: where it is no more, pure_callback does
    buffer_callback = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import Loss, LossOptions

# Of score, mass, weight, label and category, all but the first two perhaps None, the loss and its gradient.
Both = Callable[..., tuple[Any, Any]]
Axes = str | Sequence[str]

# Makes of NumPy's arrays two: for a loss, the loss and its gradient.
Compute = Callable[..., tuple[Any, NDArray[Any]]]


def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    category: Any = None,
    loss: Loss = "mode",
    axis_name: str | Sequence[str] | None = None,
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
    loss : "mode", "disco" or "flatness", default "mode"
        As for :func:`libmode.mode_loss`; static under ``jit``.
    axis_name : str or sequence of str, optional
        Inside ``jax.shard_map``: the axes of the mesh over which the events are distributed. The loss is
        that of the events of all devices, the same on each, and each has the gradient of its own events; derivatives
        are those of a loss that is a ``jax.lax.psum`` over the axes.
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

    Examples
    --------
    >>> import jax
    >>> import numpy as np
    >>> from libmode.jax import mode_loss
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.uniform(50, 300, 10_000)
    >>> score = (mass / 300 + rng.random(10_000)) / 2
    >>> loss, grad = jax.value_and_grad(mode_loss)(score, mass, order=0)
    >>> print(f"{loss:.4f}, gradient of shape {grad.shape}")
    0.0242, gradient of shape (10000,)
    >>> print(f"{mode_loss(score, mass, loss='disco'):.3f}")
    0.352
    """
    checked = check(loss, options)
    given = events_of(read, score, mass, weight, label, category)
    checked = checked.for_events(given.score.dtype, given.mass.dtype, given.mass.shape)
    both = partial(_by_core, compute=partial(loss_and_grad, checked))
    arrays = tuple(map(known_to_numpy, given))
    found: jax.Array = _loss(*arrays, both) if axis_name is None else _union(*arrays, both, axis_name)
    return found


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
    loss: jax.Array = _loss(*map(known_to_numpy, given), partial(_by_core, compute=partial(evaluate, options)))
    return loss


def read(name: str, values: Any) -> jax.Array:
    """``values`` as an array of real numbers; scores must be floating, and categories integers."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    try:
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, which has a sentence
            array = jnp.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:  # texts, objects, ragged lists, masked arrays
        _arrays.read(name, values)  # which has a sentence for it
        raise TypeError(f"{name} cannot be made an array of JAX: {error}") from None
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
def _loss(score: Any, mass: Any, weight: Any, label: Any, category: Any, both: Both) -> Any:
    return both(score, mass, weight, label, category)[0]


@_loss.defjvp
def _(both: Both, primals: Any, tangents: Any) -> Any:
    loss, grad = both(*primals)
    return loss, jnp.sum(grad * tangents[0])


@partial(jax.custom_jvp, nondiff_argnums=(5, 6))
def _union(score: Any, mass: Any, weight: Any, label: Any, category: Any, both: Both, axes: Axes) -> Any:
    return _of_union((score, mass, weight, label, category), both, axes)[0]


@_union.defjvp
def _(both: Both, axes: Axes, primals: Any, tangents: Any) -> Any:
    loss, grad = _of_union(primals, both, axes)
    return loss, jax.lax.psum(jnp.sum(grad * tangents[0]), axes)


def _of_union(arrays: tuple[Any, ...], both: Both, axes: Axes) -> tuple[Any, Any]:
    """The loss of the events of all devices along the axes, and the gradient of those of this one."""
    every = (None if array is None else jax.lax.all_gather(array, axes, tiled=True) for array in arrays)
    loss, grad = both(*every)
    n = len(arrays[0])
    own = jax.lax.dynamic_slice_in_dim(grad, jax.lax.axis_index(axes) * n, n)
    return jax.lax.pmean(loss, axes), own  # the mean of equal ones, of which JAX knows that they are equal


def _by_core(*arrays: Any, compute: Compute) -> Any:
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
        found = jax.lax.platform_dependent(*arrays, cpu=on_cpu, default=partial(_elsewhere, compute, results))
        return tuple(as_varied_as(arrays[0], result) for result in found)
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
