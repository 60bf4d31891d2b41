"""Whether the ABCD method closes: the background that three regions of two scores predict for the fourth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._events import takes_events
from .._read import number, numbers
from ._bins import Doubles
from ._sample import CLASSES, read_events, tightest

#: The fractions of the background in A by default.
FRACTIONS = (0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


class Worst(NamedTuple):
    """The pair of cuts of a :class:`Closure` with the largest significance of either sign."""

    threshold: float  #: on the first score
    second_threshold: float  #: on the second one
    seen: float  #: background in A
    ratio: float  #: predicted over seen
    error: float  #: of the ratio
    significance: float


@dataclass(frozen=True, eq=False)
class Closure:
    """Predicted and seen background of region A for the cut i on the first score and j on the second one."""

    fractions: Doubles  #: (k,) of background in A where both cuts have the same efficiency, for independent scores
    threshold: Doubles  #: (k,) cuts on the first score
    second_threshold: Doubles  #: (k,) cuts on the second one
    seen: Doubles  #: (k, k) background in A
    predicted: Doubles  #: (k, k) B C / D
    ratio: Doubles  #: (k, k) predicted over seen; NaN where nothing is seen
    error: Doubles  #: (k, k) standard error of the ratio, from the events of the four regions
    significance: Doubles  #: (k, k) of the non-closure, above 0 where the ratio is above 1
    contamination: Doubles | None  #: (4, k, k) signal over background in A, B, C, D; None without signal

    @property
    def worst(self) -> Worst:
        """The pair of cuts with the largest significance of either sign."""
        i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(self.significance)), self.significance.shape))
        at = (array[i, j].item() for array in (self.seen, self.ratio, self.error, self.significance))
        return Worst(self.threshold[i].item(), self.second_threshold[j].item(), *at)


@takes_events
def closure(
    score: Any, label: Any, second: Any, *, weight: Any = None, fractions: Sequence[float] = FRACTIONS
) -> Closure:
    r"""Compares the ABCD prediction of the background with the true background, over pairs of cuts on two scores.

    In region A both scores are at or above their cuts, in B the first alone, in C the second alone, in D neither.
    The prediction for A is B C / D. With D = F - F_1 F_2 of the distributions below the cuts,

    .. math::

        \mathrm{significance} = -D \Big/ \sqrt{F_1 (1 - F_1) F_2 (1 - F_2) / N},
        \qquad N = (\sum w)^2 / \sum w^2

    is standard normal for independent scores. :class:`libmode.torch.ABCDLoss` makes its mean square small.

    Parameters
    ----------
    score, label, weight
        As for :func:`roc`.
    second : (n,) real numbers
        A second score, or a variable such as a mass.
    fractions : k numbers above 0, below 1
        Each makes a cut on either score that keeps its root of the background. For independent scores, A then has
        this fraction of the background if both cuts have the same efficiency. All k x k pairs are compared.

    Returns
    -------
    Closure
        Arrays over the pairs of cuts; ``worst`` is the least closed pair.

    Raises
    ------
    ValueError, TypeError
        If the weights of the background have no positive sum, and for fractions out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import closure
    >>> rng = np.random.default_rng(1)
    >>> label = (rng.random(200_000) < 0.03).astype(int)
    >>> common = rng.normal(size=200_000)
    >>> score, second = common + rng.normal(size=(2, 200_000)) + 2 * label
    >>> closed = closure(score, label, second, weight=np.ones(200_000), fractions=[0.05, 0.01])
    >>> [f"{ratio:.2f} +- {error:.2f}" for ratio, error in zip(closed.ratio.diagonal(), closed.error.diagonal())]
    ['0.22 +- 0.00', '0.17 +- 0.00']
    >>> closed.contamination[:, 0, 0].round(2)  # of A, B, C, D
    array([0.19, 0.03, 0.03, 0.01])
    >>> independent = closure(rng.random(100_000), np.zeros(100_000), rng.random(100_000))
    >>> print(f"{independent.worst.significance:.1f} standard deviations")
    -2.2 standard deviations
    """
    events = read_events(score, label, None, weight, needs_mass=False)
    first, signal, weigh = events.score, events.signal, events.weight
    other = numbers("second", second, "score", first)
    wanted = [number(f"fractions[{k}]", value, above=0, most=1) for k, value in enumerate(fractions)]
    if not wanted or max(wanted) == 1:
        raise ValueError(f"fractions = {list(fractions)!r}: expected numbers above 0 and below 1")
    if signal.all():
        raise ValueError("label is 1 for all events: expected background, which has label 0")
    kept = np.sqrt(wanted)
    name = CLASSES["background_efficiency"]
    cuts = [tightest(name, values[~signal], weigh[~signal], kept) for values in (first, other)]
    above = [
        np.array([values >= cut for cut in thresholds]) for values, thresholds in zip((first, other), cuts, strict=True)
    ]
    total, squares = (_regions(above, power, ~signal) for power in (weigh, weigh**2))
    a, b, c, d = total
    every = total.sum(0)
    effective = every**2 / squares.sum(0)
    pass_1, pass_2 = (a + b) / every, (a + c) / every
    variance = pass_1 * (1 - pass_1) * pass_2 * (1 - pass_2) / effective
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted = b * c / d
        ratio = predicted / a
        error = np.abs(ratio) * np.sqrt((squares / total**2).sum(0))
        contamination = _regions(above, weigh, signal) / total if signal.any() else None
        significance = np.where(variance > 0, (b * c - a * d) / every**2 / np.sqrt(variance), 0.0)
    ratio = np.where(np.isfinite(ratio), ratio, np.nan)
    return Closure(np.array(wanted), cuts[0], cuts[1], a, predicted, ratio, error, significance, contamination)


def _regions(above: list[NDArray[np.bool_]], weight: Doubles, chosen: NDArray[np.bool_]) -> Doubles:
    """Sums over the chosen events in A, B, C, D, (4, k, k)."""
    first, second = (passed[:, chosen] for passed in above)
    weigh = weight[chosen]
    weighted = second * weigh
    a = first @ weighted.T
    of_first, of_second = (first @ weigh)[:, None], weighted.sum(1)
    return np.array([a, of_first - a, of_second - a, weigh.sum() - of_first - of_second + a])
