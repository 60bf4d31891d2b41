"""The strength K of MoDeLoss, a multiple of the gradient of cross entropy: ``K |C|/|M|`` multiplies the loss.

C is the gradient of the mean cross entropy by the scores of background, and M the gradient of the plain loss. Both
norms are averages over batches, which the core computes.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._evaluate import evaluate
from ._messages import shown
from ._native import ModeStrength, address
from ._options import Options
from ._problems import IN_LINES, Said
from ._read import number


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


def check_averages(averages: Any) -> None:
    """Raises ValueError for loaded averages that would make all further losses NaN or 0."""
    for place, value in enumerate(averages):
        number(f"norms[{place}]", float(value), least=0)


def strengthened(
    strength: float, averages: NDArray[Any], options: Options, *events: Any, said: Said = IN_LINES
) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """Loss and gradient of NumPy arrays with a strength, and the averages after the batch."""
    after = np.array(averages, np.float64)
    how = ModeStrength(ctypes.sizeof(ModeStrength), strength, 1.0, 0, address(after))
    result = evaluate(options, *events, loss_alone=True, strength=how, said=said)
    return how.scale * result.loss, result.grad, after
