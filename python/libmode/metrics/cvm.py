"""The Cramer-von Mises distance: how the whole distribution of the score changes with mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from ._arguments import bins_or_cells, numbers, positive_sums, variables, weights


@takes_events
def cvm_flatness(score: Any, mass: Any, bins: Any, *, weight: Any = None) -> float:
    """Cramer-von Mises distance between the scores of a mass bin and all scores, averaged over bins.

    With several masses, a bin is a cell of a grid in them.

    With F_b and F the distribution functions of the scores in bin b and of all
    scores, counting an event at s itself one half, and W_b the weight fraction
    of bin b::

        CvM = sum_b W_b  integral (F_b(s) - F(s))^2 dF(s)

    0 where scores are independent of mass. A. Rogozhnikov et al.,
    arXiv:1410.4140; the same as ``BinBasedCvM`` of hep_ml 0.8.0, but
    that one makes equal bins from the lowest to the highest mass.

    Parameters
    ----------
    score : (n,) real numbers
        Scores of the background.
    mass : (n,) or (n, d) real numbers, in any unit
    bins : (b + 1,) increasing numbers, or an integer; with d masses an integer, or d such entries
        Edges, or how many bins of equal width there are from the lowest to the
        highest mass; events outside are not counted, nor are they part of F.
    weight : (n,) real numbers of either sign, optional

    Returns
    -------
    float
        An empty bin has W_b = 0 and takes no part. With negative weights, F
        need not be monotonic and the integral is taken over it as it is.

    Raises
    ------
    ValueError
        If the weights of a bin that has events do not have a positive sum, with
        the bin; for other bad values, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import cvm_flatness
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 5_000), rng.random(5_000)
    >>> print(f"{cvm_flatness(score, mass, [50, 75, 100, 150, 300]):.5f}")
    0.00013
    >>> print(f"{cvm_flatness(score * mass, mass, [50, 75, 100, 150, 300]):.5f}")
    0.02545
    """
    scores = numbers("score", score)
    masses = variables(mass, "score", scores)
    weigh = weights(weight, "score", scores)
    chosen, place = bins_or_cells(bins, masses)
    inside = place >= 0
    place, weigh = place[inside], weigh[inside]
    distinct, rank = np.unique(scores[inside], return_inverse=True)

    total, counts = positive_sums(chosen, place, weigh)
    jump = np.bincount(rank, weigh) / total.sum()
    overall = _symmetric(jump)
    result = 0.0
    for events in np.split(np.argsort(place, kind="stable"), np.cumsum(counts)[:-1]):
        if len(events) > 0:
            own = _symmetric(np.bincount(rank[events], weigh[events], len(distinct)) / weigh[events].sum())
            result += float(weigh[events].sum() * np.sum(jump * (own - overall) ** 2))
    return result / float(total.sum())


def _symmetric(jump: NDArray[np.float64]) -> NDArray[np.float64]:
    """(F(s - 0) + F(s + 0)) / 2 of a distribution with these jumps."""
    return np.cumsum(jump) - jump / 2
