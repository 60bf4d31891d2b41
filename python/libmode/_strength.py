"""The strength K of MoDeLoss, a multiple of the gradient of cross entropy: ``K |C|/|M|`` multiplies the loss.

C is the gradient of the mean cross entropy by the scores of background, and M the gradient of the plain loss. Both
norms are averages over batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import shown
from ._options import Options
from ._read import is_background, number

#: How many batches the averages cover.
BATCHES = 200

#: The least 1 - s of an event: without it a single event of background with a score near 1 would rule.
LEAST_DISTANCE = 0.01


def checked_strength(strength: Any, options: Options, **others: bool) -> float:
    """The strength as a number; ``others`` says which arguments are set that exclude a strength."""
    checked = number("strength", strength, least=0)
    others["score_range other than (0, 1)"] = options.score_range != (0, 1)
    if which := [name for name, is_set in others.items() if is_set]:
        raise ValueError(
            f"strength = {shown(strength)} and {which[0]}: a strength is relative to the cross entropy of scores from "
            "0 to 1; leave it out, and multiply the loss by a number of your own"
        )
    return checked


def scale(
    strength: float, averages: Any, batch: Iterable[Any], labels: Sequence[int], where: Callable[..., Any]
) -> tuple[Any, tuple[Any, Any, Any]]:
    """The factor of the loss of a batch, and the averages after the batch: the number of batches, |C| and |M|.

    ``batch`` has score, label, weight and the gradient of the plain loss. All are NumPy arrays or PyTorch tensors in
    double precision, and ``where`` is the function of their framework.
    """
    score, label, weight, grad = batch
    push = 1 / (1 - score).clip(min=LEAST_DISTANCE)
    if weight is not None:
        push = push * weight
    if label is not None:
        push = where(is_background(label, labels), push, 0.0)
    batches = averages[0] + 1
    rate = (1 / batches).clip(min=1 / BATCHES)
    norms = ((vector**2).sum() ** 0.5 for vector in (push / len(score), grad))
    entropy, mode = (average + rate * (norm - average) for average, norm in zip(averages[1:], norms, strict=True))
    some = mode > 0
    return where(some, strength * entropy / where(some, mode, 1.0), 0.0), (batches, entropy, mode)


def scaled(
    strength: float,
    averages: NDArray[Any],
    loss: float,
    score: Any,
    label: Any,
    weight: Any,
    grad: NDArray[Any],
    labels: Sequence[int],
) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """Loss and gradient of NumPy arrays with a strength, and the averages."""
    batch = (None if array is None else np.ravel(array).astype(float) for array in (score, label, weight, grad))
    factor, after = scale(strength, averages, batch, labels, np.where)
    return float(factor * loss), grad.dtype.type(factor) * grad, np.array(after)
