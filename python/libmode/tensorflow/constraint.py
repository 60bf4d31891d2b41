"""The function that adds MoDe's push to whatever gradient comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from .._added import Added, of_function
from .._bad_batches import OnBadBatch
from .._front import NO_SECOND_DERIVATIVE, Events, of_reference, takes_events
from .loss import call_back, known_to_numpy, tensors_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..option_types import LossOptions


@takes_events
@tf.autograph.experimental.do_not_convert
def mode_constraint(
    score: Any,
    label: Any,
    mass: Any,
    weight: Any = None,
    *,
    category: Any = None,
    reference: Events | None = None,
    relative_strength: float | None = None,
    from_logits: bool = False,
    background_only: bool = True,
    on_bad_batch: OnBadBatch = "skip",
    **options: Unpack[LossOptions],
) -> Any:
    """The scores, unchanged; the gradient gets a push that keeps the response to background smooth in the mass.

    The push is that of :func:`libmode.jax.mode_constraint` with a fixed strength: nothing is remembered from batch to
    batch, so that a dependence remains, the smaller the larger the strength. :class:`libmode.keras.MoDeConstraint` has
    no strength to guess. Only where a gradient is taken is anything computed.

    Parameters
    ----------
    score : tensor of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``, or logits. float16 and bfloat16 are computed in float32.
    label, mass, weight, category : tensors of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. They get no gradient.
    relative_strength : float, optional
        K: the push is ``K r``, r the residual of the batch. Left out, it is 10.
    reference, from_logits, background_only, on_bad_batch, **options
        As for :func:`libmode.jax.mode_constraint`.

    Returns
    -------
    Tensor like ``score``.

    Raises
    ------
    BatchError, ValueError, TypeError, RuntimeError
        As :func:`libmode.tensorflow.mode_loss`, where the gradient is computed; ValueError too for a reference
        that does not fit the batch.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorflow as tf
    >>> from libmode.tensorflow import mode_constraint
    >>> rng = np.random.default_rng(1)
    >>> label, mass = rng.integers(0, 2, 4_000).astype("float32"), rng.uniform(50, 300, 4_000)  # 0 is background
    >>> score = tf.Variable((mass / 300 + rng.random(4_000)) / 2, dtype="float32")
    >>> with tf.GradientTape() as tape:
    ...     same = mode_constraint(score, label, mass, order=1)  # the one line
    ...     loss = tf.reduce_mean(tf.keras.losses.binary_crossentropy(label, same))
    >>> bool(tf.reduce_all(same == score)), tape.gradient(loss, score).shape
    (True, TensorShape([4000]))
    """
    added = of_function(
        options,
        relative_strength=relative_strength,
        from_logits=from_logits,
        on_bad_batch=on_bad_batch,
    )
    if background_only and label is None:
        raise TypeError("label is None: expected a tensor of real numbers")
    further = [] if reference is None else of_reference(reference, tensors_of)
    return constrained(added, score, mass, weight, label if background_only else None, category, further)


@tf.autograph.experimental.do_not_convert
def constrained(
    added: Added, score: Any, mass: Any, weight: Any, label: Any, category: Any, reference: list[Any] | None = None
) -> Any:
    """The scores, with what is added to their gradient."""
    tensors = list(map(known_to_numpy, [*tensors_of(score, mass, weight, label, category), *(reference or [])]))

    @tf.custom_gradient
    def same(score: Any) -> Any:
        def pushed(incoming: Any) -> Any:
            per_norm, push = call_back(added.push, tensors)
            return tf.cast(_sum(added, tf.cast(incoming, push.dtype), per_norm, push, tensors[0]), score.dtype)

        return tf.identity(score), pushed

    return same(tf.convert_to_tensor(score))


def _sum(added: Added, incoming: Any, per_norm: Any, push: Any, score: Any) -> Any:
    moved = tf.cast(push != 0, push.dtype)
    strength = per_norm * tf.norm(incoming * added.constraint.by_logit(score) * moved)
    strength = tf.where(tf.math.is_finite(strength), strength, 0)  # the scale of a loss can be too large

    @tf.custom_gradient
    def of_both(incoming: Any, score: Any) -> Any:
        # The score takes no part; it ties the sum to what it must not be derived by.
        def no_second_derivative(*_: Any) -> Any:
            raise RuntimeError(NO_SECOND_DERIVATIVE)

        return incoming + strength * push, no_second_derivative

    return of_both(incoming, score)
