"""The function that adds MoDe's gradient to whatever gradient comes in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp

from .._added import Added, of_function
from .._bad_batches import OnBadBatch
from .._constraint import ScoreTransform, State
from .._front import Events, events_of, of_reference, takes_events
from .loss import call_back, known_to_numpy, read

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import LossOptions


@takes_events
def mode_constraint(
    score: Any,
    label: Any,
    mass: Any,
    weight: Any = None,
    *,
    category: Any = None,
    reference: Events | None = None,
    relative_strength: float = 30.0,
    tolerance: float | None = None,
    state: State | None = None,
    score_transform: ScoreTransform = "odds",
    from_logits: bool = False,
    background_only: bool = True,
    on_bad_batch: OnBadBatch = "skip",
    **options: Unpack[LossOptions],
) -> Any:
    """The scores, unchanged, to whose gradient that of the MoDe loss (arXiv:2010.09745) is added.

    Put it between network and loss. To the gradient G that comes in, of whatever loss is there, it adds that of
    MoDe, g, scaled to it::

        G + relative_strength min(1, sigma) |G|/|g| g

    with norms over the batch and with respect to the logits, and sigma the standard deviation of the
    background's logits, small in a network that has learned nothing yet; it is 1 without limits of the
    scores. So there is no strength to guess, and no scale of a loss enters. Where nothing is
    differentiated, nothing is computed. The direction g is not the gradient of :func:`mode_loss`, see
    :class:`libmode.torch.MoDeConstraint`.

    Parameters
    ----------
    score : array of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``, or logits. float16 and bfloat16 are computed in float32.
    label, mass, weight, category : arrays of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. Their derivative is 0.
    reference : Events, optional
        Further events with the scores of the network as it is, ``Events(score, mass, weight, label)``,
        which count in the distributions and get no gradient. Without labels they are background.
    relative_strength : float, default 30
        The factor. With a tolerance, the most that it may be.
    tolerance : float, optional
        "As flat as so many background events can tell": the relative strength is lowered, to no less
        than 1, while the dependence is below that, and raised again where it is above. It is judged by
        averages over ten times as many events, which are in ``state``.
    state : State, optional
        What was remembered after the last batch, ``State()`` for the first. Given one, the function returns
        ``(score, state)``; where nothing is differentiated the state stays as it is. ``state.dependence(N)`` is
        rho with its error, at most 1 where the dependence cannot be told from none by N events.
    score_transform : {"odds", None}, default "odds"
        "odds" integrates over W(s) = c s/(1 + c - s), c = 0.3, in place of s (the paper's footnote 1), so that
        tight selections count too. None is the MoDe loss as it is.
    from_logits : bool, default False
        Whether scores are logits, of any size, in place of scores from 0 to 1.
    background_only : bool, default True
        False pools all events, whatever their label.
    on_bad_batch : {"raise", "skip"}, default "skip"
        "skip" adds nothing for a batch without background, or with too little for the bins, and warns
        (RuntimeWarning) at the first. Scores that are NaN are an error all the same.
    **options
        Those of :func:`libmode.mode_loss`; ``order`` is 1 by default. They and all but the arrays and the
        state are static under ``jit``.

    Returns
    -------
    Array like ``score``; with ``state``, that and the new state.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.jax.mode_loss`, in the pass that is differentiated; ValueError too for a tolerance
        without a state, and for a reference that does not fit the batch.

    Examples
    --------
    >>> import jax
    >>> import numpy as np
    >>> from libmode.jax import mode_constraint
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> x = np.column_stack([mass / 300, rng.normal(label)])
    >>> @jax.jit
    ... def loss(weights):
    ...     score = mode_constraint(jax.nn.sigmoid(x @ weights), label, mass, order=1)  # the one line
    ...     return ((score - label) ** 2).mean()
    >>> value, gradient = jax.value_and_grad(loss)(np.zeros(2))
    >>> print(f"{value:.2f}, gradient of shape {gradient.shape}")
    0.25, gradient of shape (2,)
    """
    added = of_function(
        options,
        relative_strength=relative_strength,
        tolerance=tolerance,
        score_transform=score_transform,
        from_logits=from_logits,
        on_bad_batch=on_bad_batch,
    )
    if state is not None and not isinstance(state, State):
        raise TypeError(
            f"state is {type(state).__name__}: give libmode.jax.State(), or what was returned with the scores"
        )
    if tolerance is not None and state is None:
        raise ValueError(
            f"tolerance = {tolerance} and state = None: the strength follows what is remembered. Give "
            "state=libmode.jax.State() at the first step, and then what is returned with the scores"
        )
    label = read("label", label) if background_only else None
    further = () if reference is None else of_reference(reference, partial(events_of, read))
    same, after = constrained(added, score, mass, weight, label, category, further, state)
    return same if state is None else (same, after)


def constrained(
    added: Added,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    category: Any,
    reference: tuple[Any, ...] = (),
    state: State | None = None,
) -> tuple[Any, State | None]:
    """The scores, with what is added to their gradient, and the state after the batch."""
    batch = events_of(read, score, mass, weight, label, category)
    before = None if state is None else jnp.stack([jnp.asarray(number, float) for number in state])
    same, after = _constrained(added, batch.score, _Others(batch[1:], before, reference))
    return same.reshape(jnp.shape(score)), None if after is None else State(*after)


class _Others(NamedTuple):
    """What gets no gradient."""

    batch: tuple[Any, ...]  #: mass, weight, label, category
    state: Any
    reference: tuple[Any, ...]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _constrained(added: Added, score: Any, others: _Others) -> Any:
    return score, others.state


def _forward(added: Added, score: Any, others: _Others) -> Any:
    known: Any = known_to_numpy(score)
    batch, reference = (tuple(map(known_to_numpy, arrays)) for arrays in (others.batch, others.reference))
    if others.state is None:
        after, first = None, jax.ShapeDtypeStruct((), known.dtype)
        per_norm, grad = call_back((known, *batch, *reference), added.push, first)
    else:
        first = jax.ShapeDtypeStruct(others.state.shape, others.state.dtype)
        after, grad = call_back((known, *batch, others.state, *reference), added.push_from, first)
        now = State(*after)
        full = added.constraint.relative_strength * now.factor * now.spread
        per_norm = full / jnp.where(now.norm > 0, now.norm, jnp.inf)
    return (score, after), (score, grad, per_norm)


def _backward(added: Added, kept: Any, incoming: Any) -> Any:
    score, grad, per_norm = kept
    of_score = incoming[0].astype(grad.dtype)
    by_logit = added.constraint.by_logit(score.astype(grad.dtype))
    strength = per_norm * jnp.linalg.norm(of_score * by_logit)
    strength = jnp.where(jnp.isfinite(strength), strength, 0).astype(grad.dtype)  # the scale of a loss can be too large
    return (of_score + strength * grad).astype(score.dtype), None


_constrained.defvjp(_forward, _backward)
