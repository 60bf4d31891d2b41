"""The losses as functions of JAX arrays.

The core finds the loss and its gradient in one pass, and the derivative is the product with that gradient. Known values
go to the core directly. Inside ``jit`` and ``vmap`` the compiled program calls back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._evaluate import loss_and_grad
from .._events import Events, read_events
from .._messages import NO_SECOND_DERIVATIVE
from .._options import Options, check_scaled
from .._read import converted
from ..option_types import Loss, LossOptions, Unpack


def as_jax(name: str, values: Any) -> jax.Array:
    """``values`` as an array of real numbers; scores must be floating, and categories integers."""
    array: jax.Array = converted(name, values, jnp.asarray, "an array of JAX")
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


try:
    from jax.experimental.buffer_callback import buffer_callback
except ImportError:  # it is experimental, and pure_callback can replace it
    buffer_callback = None  # type: ignore[assignment]

# A function of NumPy arrays, the score and others or None. It returns numbers and arrays.
Compute = Callable[..., tuple[Any, ...]]


def mode_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, category: Any = None, loss: Loss = "mode",
    strength: float | None = None, state: Any = None, **options: Unpack[LossOptions],
) -> Any:  # fmt: skip
    """The MoDe loss (arXiv:2010.09745) of JAX arrays, differentiable in ``score``.

    Parameters
    ----------
    score : array of shape (n,) or (n, 1), floating
        Inside ``score_range``. Half precision is computed in float32, up to the product of the gradient with the
        incoming gradient.
    mass, weight, label, category : arrays of shape (n,) or (n, 1), mass also (n, d)
    loss, **options
        As for :func:`libmode.mode_loss`. Arrays have the derivative 0; the loss and options are static under ``jit``.
    strength : float, optional
        K multiplies the loss by ``K |C|/|M|``, as for :class:`libmode.torch.MoDeLoss`.
    state : array of shape (3,), optional
        The number of batches and the averages of both norms over 200 batches, which replace the norms of this batch.
        ``jnp.zeros(3)`` for the first batch. With a state, the function returns ``(loss, state)``.

    Returns
    -------
    Array of shape (), float64 for float64 scores (``jax_enable_x64``) and float32 otherwise.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`; shapes and types also while tracing. Inside ``jit``, bad values are a
        ``jax.errors.JaxRuntimeError`` when the program runs, whose last line is the sentence.

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
    """
    checked, events = check_scaled(loss, options, strength), Events(score, label, mass, weight, category)
    if strength is None:
        if state is not None:
            raise ValueError("state is given, and strength = None: only a strength has averages, give strength too")
        return core_loss(checked, events)
    before = jnp.zeros(3) if state is None else jnp.asarray(state, float)
    if before.shape != (3,):
        raise ValueError(f"state has shape {before.shape}: expected (3,), as jnp.zeros(3) has")
    value, after = core_loss(checked, events, _strengthened, before)
    return value if state is None else (value, after)


def _strengthened(options: Options, *arrays: Any) -> tuple[Any, ...]:
    """Loss and gradient of events times K |C|/|M|, and the averages after the batch."""
    *events, state = arrays
    after = np.array(state, np.float64)
    return *loss_and_grad(options, *events, averages=after), after


def core_loss(options: Options, events: Events, evaluate: Any = loss_and_grad, state: Any = None) -> Any:
    """The loss of checked options, by :func:`loss_and_grad` or a function like it.

    With a state, the function takes it after the events, and returns the next one after the gradient: the result is
    the loss and this state.
    """
    batch = read_events(as_jax, *events)
    options = options.rounded_to(batch.score.dtype, batch.mass.dtype)
    arrays = *map(known_to_numpy, batch), *(() if state is None else (state,))
    values = _loss(partial(evaluate, options), *arrays)
    return values[0] if state is None else values


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _loss(compute: Compute, *arrays: Any) -> Any:
    loss, _, *after = _loss_and_grad(compute, arrays)
    return loss, *after


@_loss.defjvp
def _(compute: Compute, arrays: Any, tangents: Any) -> Any:
    loss, grad, *after = _loss_and_grad(compute, arrays)
    return (loss, *after), (jnp.sum(grad * tangents[0]), *map(jnp.zeros_like, after))


def _loss_and_grad(compute: Compute, arrays: tuple[Any, ...]) -> Any:
    score, *state = arrays[0], *arrays[len(Events._fields) :]
    return call_back(compute, (jax.ShapeDtypeStruct((), score.dtype), *map(like, (score, *state))), arrays)


def like(array: Any) -> jax.ShapeDtypeStruct:
    """The shape and the type of an array."""
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def call_back(compute: Compute, results: tuple[jax.ShapeDtypeStruct, ...], arrays: tuple[Any, ...]) -> Any:
    """The results of compute for arrays or None, of these shapes and types."""
    try:
        known = [None if array is None else np.asarray(array) for array in arrays]
    except jax.errors.TracerArrayConversionError:
        elsewhere = partial(_elsewhere, compute, results)
        on_cpu = elsewhere if buffer_callback is None else partial(_on_cpu, compute, results)
        return jax.lax.platform_dependent(*arrays, cpu=on_cpu, default=elsewhere)
    return tuple(jnp.asarray(value, kind.dtype) for value, kind in zip(compute(*known), results, strict=True))


@call_back.defjvp
def _(compute: Compute, results: Any, primals: Any, tangents: Any) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


def _on_cpu(compute: Compute, results: Any, *arrays: Any) -> Any:
    # In pure_callback, JAX copies the inputs on a thread that, on one processor, waits for the callback.
    def fill(context: Any, results: Any, *buffers: Any) -> None:
        arrays = (None if buffer is None else np.asarray(buffer) for buffer in buffers)
        for result, value in zip(results, compute(*arrays), strict=True):
            np.asarray(result)[...] = value

    return buffer_callback(fill, results, vmap_method="sequential")(*arrays)


def _elsewhere(compute: Compute, results: Any, *arrays: Any) -> Any:
    def call(*arrays: Any) -> tuple[Any, ...]:  # by NumPy: a callback must not call JAX
        return tuple(np.asarray(value, kind.dtype) for value, kind in zip(compute(*arrays), results, strict=True))

    return jax.pure_callback(call, results, *arrays, vmap_method="sequential")
