"""The function that adds MoDe's push to the gradient of any loss."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .. import _softmax
from .._constraint import Constraint, HostConstraint, State
from .._events import Events, read_events, read_reference, takes_events
from .._problems import OF_FUNCTIONS, OnBadBatch
from ..option_types import LayerOptions, Unpack
from .loss import as_jax, call_back, known_to_numpy, like

_OPS = _softmax.Ops(
    *(jnp.where, jnp.stack, jnp.log, jax.nn.logsumexp, jnp.max, jax.lax.stop_gradient, jnp.astype),
    lambda column: jnp.asarray(column, float),
)


@takes_events
def mode_constraint(
    score: Any, label: Any, mass: Any, weight: Any = None, *, category: Any = None, reference: Events | None = None,
    state: State | None = None, signal: int = -1, background_only: bool = True, on_bad_batch: OnBadBatch = "skip",
    **options: Unpack[LayerOptions],
) -> Any:  # fmt: skip
    """The scores, unchanged; their gradient keeps the response to background smooth in the mass.

    Put it between network and loss, with a state. It changes the gradient like :class:`libmode.torch.MoDeConstraint`.
    A function cannot remember the norm of the gradient, which is known later: so ``|G|`` is the norm of each batch.
    Without a state, each batch is like the first. Without differentiation it computes nothing.

    Parameters
    ----------
    score, label, mass, weight, category
        As for :func:`libmode.jax.mode_loss`; scores may be logits, and outputs of a softmax, (n, k).
    reference : Events, optional
        Further events with scores of the current network, ``Events(score, label, mass, weight)``. They enter the
        distributions and get no gradient. Without labels they are background.
    state : State, optional
        The state after the last batch, ``State()`` for the first. With a state the function returns ``(score,
        state)``; without differentiation the state does not change. The first batch sets the length of ``numbers``,
        which ``jax.lax.scan`` must know before: see :meth:`State.start`.
    signal, background_only, on_bad_batch, **options
        See :class:`libmode.torch.MoDeConstraint`. "skip" only warns, and counts nothing. All but the arrays and the
        state are static under ``jit``.

    Returns
    -------
    Array, or (Array, State)
        The scores, and with a state the state after this batch.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.jax.mode_loss`, in the pass that is differentiated.

    Examples
    --------
    >>> import jax
    >>> import numpy as np
    >>> from libmode.jax import State, mode_constraint
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> x = np.column_stack([mass / 300, rng.normal(label)])
    >>> @jax.jit
    ... def loss(weights, state):
    ...     score = jax.nn.sigmoid(x @ weights)
    ...     score, state = mode_constraint(score, label, mass, order=1, state=state)  # the one line
    ...     return ((score - label) ** 2).mean(), state
    >>> (value, state), gradient = jax.value_and_grad(loss, has_aux=True)(np.zeros(2), State())
    >>> print(f"{value:.2f}, gradient of shape {gradient.shape}, {state.steps:.0f} step")
    0.25, gradient of shape (2,), 1 step
    """
    if state is not None and not isinstance(state, State):
        raise TypeError(
            f"state is {type(state).__name__}: give libmode.jax.State(), or the state that the last call returned"
        )
    constraint, after = Constraint(options, said=OF_FUNCTIONS, owner=mode_constraint), state
    function = _Function(constraint, on_bad_batch)
    _on_host(function)  # raises the error of on_bad_batch now
    label = as_jax("label", label) if background_only else None

    def constrain(score: Any) -> Any:
        nonlocal after
        batch = read_events(as_jax, score, label, mass, weight, category)
        constraint.options = constraint.options.rounded_to(batch.score.dtype, batch.mass.dtype)
        further = () if reference is None else read_reference(reference, partial(read_events, as_jax))
        before = None if state is None else _numbers(state, constraint)
        same, numbers = _same(function, batch.score, (batch[1:], before, further))
        after = None if state is None else State(numbers)
        return same.reshape(jnp.shape(score))

    if jnp.ndim(score) != 2 or jnp.shape(score)[1] == 1:
        same = constrain(score)
    else:
        score = as_jax("score", score)
        chosen = *constraint.classes(signal, score.shape), constraint.from_logits
        reference = _softmax.of_reference(_OPS, reference, *chosen)
        same = _softmax.constrained(_OPS, score, *chosen, constrain)
    return same if state is None else (same, after)


class _Function(NamedTuple):
    """A constraint whose caller keeps the state. Equal ones share compiled programs."""

    constraint: Constraint
    on_bad_batch: OnBadBatch


def _on_host(constraint: HostConstraint | _Function, memory: NDArray[np.float64] | None = None) -> HostConstraint:
    """The constraint itself, or that of a function with this state."""
    if isinstance(constraint, HostConstraint):
        return constraint
    bare, on_bad_batch = constraint
    return HostConstraint(bare, name="mode_constraint", on_bad_batch=on_bad_batch, memory=memory, said=OF_FUNCTIONS)


def constrained(host: HostConstraint, events: Events) -> Any:
    """The scores, (n,), with the push in their gradient; ``host`` has the state."""
    same, _ = _same(host, events.score, (events[1:], None, ()))
    return same


def _numbers(state: State, constraint: Constraint) -> Any:
    """The numbers of a state as an array, whose length is the same before and after a batch."""
    numbers, labels, categories = state.numbers, len(constraint.labels), constraint.settings["categories"]
    if not len(numbers):
        numbers = np.zeros(constraint.size)
    if jnp.shape(numbers) != (constraint.size,):
        raise ValueError(
            f"state.numbers has shape {jnp.shape(numbers)}: expected {(constraint.size,)} for {labels} background "
            f"labels and {categories} categories, as State.start({labels}, {categories or None}) has it"
        )
    return jnp.asarray(numbers, float)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _same(constraint: HostConstraint | _Function, score: Any, others: Any) -> Any:
    """The scores and the state; ``others``, without gradient, are the rest of the batch, the state, the reference."""
    return score, others[1]


def _forward(constraint: HostConstraint | _Function, score: Any, others: Any) -> Any:
    batch, state, reference = others
    arrays: Any = tuple(map(known_to_numpy, (score, *batch, *reference)))
    results: tuple[Any, ...] = (
        jax.ShapeDtypeStruct((2 * _on_host(constraint)._constraint.size,), jnp.int32),
        jax.ShapeDtypeStruct((4, len(score)), arrays[0].dtype),
    )
    if state is not None:
        arrays, results = (*arrays, state), (*results, like(state))
    lesson, rows, *after = call_back(partial(_direction, constraint, state is not None), results, arrays)
    return (score, after[0] if after else None), (lesson, rows)


def _direction(constraint: HostConstraint | _Function, has_state: bool, *arrays: Any) -> tuple[Any, ...]:
    """The lesson, as words that JAX does not round, the rows, and the state after the batch if there is one before."""
    events, before = (arrays[:-1], arrays[-1:]) if has_state else (arrays, ())
    states = [np.array(state, np.float64) for state in before]
    host = _on_host(constraint, *states)
    lesson, rows = host.direction(*events)
    if has_state:
        host.apply(None, lesson, rows)
    return lesson.view(np.int32), rows, *states


def _backward(constraint: HostConstraint | _Function, kept: Any, incoming: Any) -> Any:
    lesson, rows = kept
    gradient = incoming[0].astype(rows.dtype)
    (pushed,) = call_back(_on_host(constraint).apply, (like(gradient),), (gradient, lesson, rows))
    return pushed.astype(incoming[0].dtype), None


_same.defvjp(_forward, _backward)
