"""The strength K of MoDeLoss, a multiple of the gradient of cross entropy: ``K |C|/|M|`` multiplies the loss.

C is the gradient of the mean cross entropy by the scores of background, and M that of the plain loss. Both norms are
averages over batches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._events import is_background
from ._messages import shown
from ._option_values import real
from ._options import Options

#: How many batches the averages cover.
BATCHES = 200

#: The least 1 - s of an event: without it a single event of background with a score near 1 would rule.
LEAST_DISTANCE = 0.01


def checked_strength(strength: Any, options: Options, **others: bool) -> float:
    """The strength as a number; ``others`` says which arguments are given that go without one."""
    number = real("strength", strength)
    if not 0 <= number < math.inf:
        raise ValueError(f"strength = {shown(strength)}: must be finite and at least 0")
    others["score_range other than (0, 1)"] = options.score_range != (0, 1)
    if which := [name for name, given in others.items() if given]:
        raise ValueError(
            f"strength = {shown(strength)} and {which[0]}: a strength is relative to the cross entropy of scores from "
            "0 to 1; leave it out, and multiply the loss by a number of your own"
        )
    return number


def norms_of(score: Any, label: Any, weight: Any, grad: Any, labels: Sequence[int]) -> NDArray[np.float64]:
    """The norms of C and M of a batch, of arrays."""
    push = 1 / np.maximum(1 - np.ravel(score).astype(float), LEAST_DISTANCE)
    if weight is not None:
        push = push * np.ravel(weight)
    if label is not None:
        push = push[is_background(np.ravel(label), labels)]
    return np.array([np.linalg.norm(push) / len(score), np.linalg.norm(np.asarray(grad, float))])


def averaged(averages: NDArray[Any], norms: NDArray[Any]) -> NDArray[Any]:
    """The number of batches and the averages of both norms, (3,), with those of one more batch."""
    batches = averages[0] + 1
    rate = max(1 / batches, 1 / BATCHES)
    return np.append(batches, averages[1:] + rate * (norms - averages[1:]))


def scale_of(strength: float, averages: NDArray[Any]) -> float:
    """What multiplies the loss; 0 where MoDe has no gradient."""
    _, of_entropy, of_mode = averages
    return float(strength * of_entropy / of_mode) if of_mode > 0 else 0.0
