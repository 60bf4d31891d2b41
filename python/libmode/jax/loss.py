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
from .._options import Options, check
from .._strength import checked_strength, strengthened
from .._typing import Unpack
from ..option_types import Loss, LossOptions
from ._arrays import as_jax, as_varied_as, known_to_numpy, warn_of_parts

try:
    from jax.experimental.buffer_callback import buffer_callback
except ImportError:  # it is experimental, and pure_callback can replace it
    buffer_callback = None  # type: ignore[assignment]

# A function of NumPy arrays, the score and others or None. It returns a number or numbers, and an array like the score.
Compute = Callable[..., tuple[Any, Any]]


def mode_loss(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    category: Any = None,
    loss: Loss = "mode",
    strength: float | None = None,
    state: Any = None,
    **options: Unpack[LossOptions],
) -> Any:
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
    >>> print(f"{mode_loss(score, mass, loss='disco'):.3f}")
    0.352
    """
    checked, events = check(loss, options), Events(score, label, mass, weight, category)
    if strength is None:
        if state is not None:
            raise ValueError("state is given, and strength = None: only a strength has averages, give strength too")
        return core_loss(checked, events)
    number = checked_strength(strength, checked, **{f"loss = {loss!r}": loss != "mode"})
    before = jnp.zeros(3) if state is None else jnp.asarray(state, float)
    if before.shape != (3,):
        raise ValueError(f"state has shape {before.shape}: expected (3,), as jnp.zeros(3) has")
    value = core_loss(checked, events, partial(_strengthened, number), before)
    return value[0] if state is None else (value[0], value[1:])


def _strengthened(strength: float, options: Options, *arrays: Any) -> tuple[Any, Any]:
    """Loss and gradient of events times K |C|/|M|. The averages follow the loss."""
    *events, state = arrays
    loss, grad, after = strengthened(strength, state, options, *events)
    return np.append(loss, after), grad


def core_loss(options: Options, events: Events, evaluate: Any = loss_and_grad, state: Any = None) -> jax.Array:
    """The loss of checked options, by :func:`loss_and_grad` or a function like it.

    With a state, the function takes it after the events, and returns the loss and the state as one array.
    """
    batch = read_events(as_jax, *events)
    warn_of_parts("mode_loss", batch.score)
    options = options.rounded_to(batch.score.dtype, batch.mass.dtype)
    arrays = *map(known_to_numpy, batch), *(() if state is None else (state,))
    loss: jax.Array = _loss(partial(evaluate, options), *arrays)
    return loss


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _loss(compute: Compute, *arrays: Any) -> Any:
    return _loss_and_grad(compute, arrays)[0]


@_loss.defjvp
def _(compute: Compute, arrays: Any, tangents: Any) -> Any:
    loss, grad = _loss_and_grad(compute, arrays)
    product = jnp.sum(grad * tangents[0])
    return loss, product if loss.ndim == 0 else jnp.zeros_like(loss).at[0].set(product)


def _loss_and_grad(compute: Compute, arrays: tuple[Any, ...]) -> tuple[Any, Any]:
    size = () if len(arrays) == len(Events._fields) else (1 + len(arrays[-1]),)  # with a state
    both: tuple[Any, Any] = call_back(compute, jax.ShapeDtypeStruct(size, arrays[0].dtype), arrays)
    return both


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def call_back(compute: Compute, first: jax.ShapeDtypeStruct, arrays: tuple[Any, ...]) -> Any:
    """The results of compute for arrays or None: an array like ``first``, and an array like arrays[0]."""
    try:
        known = [None if array is None else np.asarray(array) for array in arrays]
    except jax.errors.TracerArrayConversionError:
        results = first, jax.ShapeDtypeStruct(arrays[0].shape, arrays[0].dtype)
        elsewhere = partial(_elsewhere, compute, results)
        on_cpu = elsewhere if buffer_callback is None else partial(_on_cpu, compute, results)
        values = jax.lax.platform_dependent(*arrays, cpu=on_cpu, default=elsewhere)
        return tuple(as_varied_as(arrays[0], value) for value in values)
    one, grad = compute(*known)
    return jnp.asarray(one, first.dtype), jnp.asarray(grad)


@call_back.defjvp
def _(compute: Compute, first: jax.ShapeDtypeStruct, primals: Any, tangents: Any) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


def _on_cpu(compute: Compute, results: Any, *arrays: Any) -> Any:
    # In pure_callback, JAX copies the inputs on a thread that, on one processor, waits for the callback.
    def fill(context: Any, results: Any, *buffers: Any) -> None:
        arrays = (None if buffer is None else np.asarray(buffer) for buffer in buffers)
        for result, value in zip(results, compute(*arrays), strict=True):
            np.asarray(result)[...] = value

    return buffer_callback(fill, results, vmap_method="sequential")(*arrays)


def _elsewhere(compute: Compute, results: Any, *arrays: Any) -> Any:
    def call(*arrays: Any) -> tuple[Any, Any]:
        one, grad = compute(*arrays)  # by NumPy: a callback must not call JAX
        return np.asarray(one, results[0].dtype), grad

    return jax.pure_callback(call, results, *arrays, vmap_method="sequential")
