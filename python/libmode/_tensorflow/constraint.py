"""The push that is added to whatever gradient comes in."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .._host_constraint import Added
from .loss import call_back, known_to_numpy, without_derivative


@tf.autograph.experimental.do_not_convert
def constrained(added: Added, score: Any, mass: Any, weight: Any, label: Any, category: Any) -> Any:
    """The scores, with what is added to their gradient."""
    batch = [known_to_numpy(tensor) for tensor in (score, mass, weight, label, category)]

    @tf.custom_gradient
    def same(score: Any) -> Any:
        def pushed(incoming: Any) -> Any:
            per_norm, push = call_back(added.push, batch)
            of_score = tf.cast(incoming, push.dtype)
            moved = tf.cast(push != 0, push.dtype)
            strength = per_norm * tf.norm(of_score * added.constraint.by_logit(batch[0]) * moved)
            strength = tf.where(tf.math.is_finite(strength), strength, 0)  # the scale of a loss can be too large
            return without_derivative(tf.cast(of_score + strength * push, score.dtype), score)

        return tf.identity(score), pushed

    return same(score)
