"""The function that adds MoDe's push to the gradient of any loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from .. import _softmax
from .._bad_batches import OnBadBatch
from .._constraint import NUMBERS, WITHOUT_STATE, State, outgoing
from .._events import Events, read_events, read_reference, takes_events
from .._host_constraint import FunctionConstraint, HostConstraint
from .._option_values import plain
from .._read import as_python
from .._typing import Unpack
from ..option_types import LossOptions
from ._arrays import as_jax, known_to_numpy, warn_of_parts
from .loss import call_back, like

_OPS = _softmax.Ops(
    *(jnp.where, jnp.stack, jnp.log, jax.nn.logsumexp, jnp.max, jax.lax.stop_gradient, jnp.astype),
    lambda column: jnp.asarray(column, float),
)


@takes_events
def mode_constraint(
    score: Any,
    label: Any,
    mass: Any,
    weight: Any = None,
    *,
    category: Any = None,
    reference: Events | None = None,
    strength: float | None = None,
    tolerance: float | None = None,
    training_events: float | None = None,
    state: State | None = None,
    from_logits: bool = False,
    signal: int = -1,
    categories: int | None = None,
    background_only: bool = True,
    on_bad_batch: OnBadBatch = "skip",
    **options: Unpack[LossOptions],
) -> Any:
    """The scores, unchanged; their gradient keeps the response to background smooth in the mass.

    Put it between network and loss, with a state. It changes the gradient like :class:`libmode.torch.MoDeConstraint`.
    Without a state, the push has a fixed strength. Without differentiation it computes nothing.

    Parameters
    ----------
    score, label, mass, weight, category
        As for :func:`libmode.jax.mode_loss`; scores may be logits, and outputs of a softmax, (n, k).
    reference : Events, optional
        Further events with scores of the current network, ``Events(score, label, mass, weight)``. They enter the
        distributions and get no gradient. Without labels they are background.
    state : State, optional
        The state after the last batch, ``State()`` for the first. With a state the function returns ``(score,
        state)``; without differentiation the state does not change. The first batch sets the length of ``sums``, which
        ``jax.lax.scan`` must know before: see :meth:`State.start`.
    strength : float, optional
        The fixed strength. Left out, the sum finds the strength; without a state it is 10.
    tolerance, training_events, from_logits, signal, categories, background_only, on_bad_batch, **options
        See :class:`libmode.torch.MoDeConstraint`. A tolerance needs a state. "skip" only warns, and counts nothing. All
        but the arrays and the state are static under ``jit``.

    Returns
    -------
    Array, or (Array, State)
        The scores, and with a state the state after this batch.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.jax.mode_loss`, in the pass that is differentiated; ValueError too for a tolerance without a
        state, a state of another number of labels, and a reference that does not fit the batch.

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
    if tolerance is not None and state is None:
        raise ValueError(
            f"tolerance = {tolerance} and state = None: the strength follows the state. Give "
            "state=libmode.jax.State() at the first step, and then the state that the last step returned"
        )
    if strength is None and state is None:
        strength = WITHOUT_STATE
    arguments = {
        "strength": strength,
        "tolerance": tolerance,
        "training_events": training_events,
        "from_logits": from_logits,
        "categories": categories,
    }
    function = FunctionConstraint(
        tuple(plain("mode", options, mode_constraint).items()),
        tuple((name, as_python(value)) for name, value in arguments.items()),
        on_bad_batch,
    )
    constraint, after = function.on_host(None)._constraint, state  # raises the errors of arguments now
    label = as_jax("label", label) if background_only else None

    def constrain(score: Any) -> Any:
        nonlocal after
        batch = read_events(as_jax, score, label, mass, weight, category)
        warn_of_parts("mode_constraint", batch.score)
        further = () if reference is None else read_reference(reference, partial(read_events, as_jax))
        before = None if state is None else _numbers(state, len(constraint.labels), constraint.categories)
        same, numbers = _same(function, batch.score, (batch[1:], before, further))
        if state is not None:
            after = State._make([*numbers[:NUMBERS], numbers[NUMBERS:]])
        return same.reshape(jnp.shape(score))

    if jnp.ndim(score) != 2 or jnp.shape(score)[1] == 1:
        same = constrain(score)
    else:
        score = as_jax("score", score)
        chosen = *constraint.classes(signal, score.shape), constraint.from_logits
        function, reference = replace(function, logits=True), _softmax.of_reference(_OPS, reference, *chosen)
        same = _softmax.constrained(_OPS, score, *chosen, constrain)
    return same if state is None else (same, after)


def constrained(host: HostConstraint, events: Events) -> Any:
    """The scores, (n,), with the push in their gradient; ``host`` has the state."""
    same, _ = _same(host, events.score, (events[1:], None, ()))
    return same


def _numbers(state: State, labels: int, categories: int) -> Any:
    """The numbers of a state as an array, whose length is the same before and after a batch."""
    zeros = State.start(labels, categories or None).sums
    sums = state.sums if len(state.sums) else zeros
    if jnp.shape(sums) != zeros.shape:
        raise ValueError(
            f"state.sums has shape {jnp.shape(sums)}: expected {zeros.shape} for {labels} background labels and "
            f"{categories} categories, as State.start({labels}, {categories or None}) has it"
        )
    return jnp.concatenate([jnp.ravel(jnp.asarray(number, float)) for number in (*state[:NUMBERS], sums)])


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _same(constraint: HostConstraint | FunctionConstraint, score: Any, others: Any) -> Any:
    """The scores and the state; ``others``, without gradient, are the rest of the batch, the state, the reference."""
    return score, others[1]


def _forward(constraint: HostConstraint | FunctionConstraint, score: Any, others: Any) -> Any:
    batch, state, reference = others
    compute: Any = constraint.push
    arrays: Any = tuple(map(known_to_numpy, (score, *batch, *reference)))
    kind = arrays[0].dtype
    results: tuple[Any, ...] = jax.ShapeDtypeStruct((), kind), jax.ShapeDtypeStruct((3, len(score)), kind)
    if state is not None:
        assert isinstance(constraint, FunctionConstraint)
        compute, arrays, results = constraint.push_from, (*arrays, state), (*results, like(state))
    size, rows, *after = call_back(compute, results, arrays)
    return (score, after[0] if after else None), (size, rows)


def _backward(constraint: HostConstraint | FunctionConstraint, kept: Any, incoming: Any) -> Any:
    size, rows = kept
    pushed, _ = outgoing(jnp.where, jnp.linalg.norm, incoming[0].astype(rows.dtype), rows, size)
    return pushed.astype(incoming[0].dtype), None


_same.defvjp(_forward, _backward)
