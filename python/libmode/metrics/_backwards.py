"""A warning where signal scores below background: labels, or scores, are the wrong way round."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import NDArray

from .._messages import level_of_the_user
from ._arguments import Doubles, sums

BELOW, SURE = 0.1, 5.0  # the AUC is so far below 0.5, and so many standard errors
LOOKED_AT = 1_000  # events of each class


def sentence(auc: float, signal: float, background: float, label: str = "label", score: str = "score") -> str | None:
    """The warning about an AUC of so many events of each class, or None; ``label`` and ``score`` name the arguments."""
    if not 0.5 - auc > max(BELOW, SURE * math.sqrt((1 / signal + 1 / background) / 12)):
        return None
    return (
        f"{label} or {score} is the wrong way round: the AUC is {auc:.3f}, so signal ({label} 1) scores below "
        f"background ({label} 0). Swap 0 and 1, or give scores that are higher for signal"
    )


def say_if_backwards(score: Doubles, signal: NDArray[np.bool_], weight: Doubles) -> None:
    """Warns if the AUC of up to a thousand events of each class is far below 0.5; arrays are (n,)."""
    some = [np.flatnonzero(chosen) for chosen in (signal, ~signal)]
    some = [places[:: 1 + len(places) // LOOKED_AT] for places in some]
    weights = [weight[places] for places in some]
    if min(map(len, some)) == 0 or min(float(each.sum()) for each in weights) <= 0:
        return
    distinct, place = np.unique(score[np.concatenate(some)], return_inverse=True)
    parts = np.split(place, [len(some[0])])
    passed, rest = (sums(at, each / each.sum(), len(distinct)) for at, each in zip(parts, weights, strict=True))
    auc = float(np.sum(passed * (np.cumsum(rest) - rest / 2)))
    of_signal, of_background = (float(each.sum() ** 2 / np.sum(each**2)) for each in weights)
    said = sentence(auc, of_signal, of_background)
    if said is not None:
        warnings.warn(said, stacklevel=level_of_the_user())
