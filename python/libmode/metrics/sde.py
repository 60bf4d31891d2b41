"""The standard deviation of efficiency: how much a selection's efficiency changes with mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from ._arguments import bins_or_cells, numbers, positive_sums, variables, weights
from ._neighbours import groups


@takes_events
def sde(score: Any, mass: Any, cut: Any, bins: Any, *, weight: Any = None) -> float:
    """The standard deviation of the efficiency over bins of mass, or over cells of several masses.

    With e_b the efficiency of ``score >= cut`` in bin b (see :func:`efficiency`),
    W_b the weight fraction of the bin and e the overall efficiency::

        SDE = sqrt( mean over cuts  sum_b W_b (e_b - e)^2 )

    0 where the efficiency is the same everywhere and known exactly: fluctuations
    add e (1 - e) / n_b on average to each square, see :func:`residual_map`. A.
    Rogozhnikov et al., arXiv:1410.4140. It is ``BinBasedSDE`` of hep_ml 0.8.0,
    but that one makes equal bins from the lowest to the highest mass, selects
    ``score > cut``, cuts at quantiles ``target_rcp`` of the score, so at
    efficiencies of 1 - target_rcp, and divides by 1 where the weights of a bin
    sum to less than 1.

    Parameters
    ----------
    score : (n,) real numbers
        Scores of the events whose efficiency is to be flat.
    mass : (n,) or (n, d) real numbers, in any unit
    cut : number, or (c,) of them
        For efficiencies e of events without weights: ``np.quantile(score, 1 - e)``.
    bins : an integer, or (b + 1,) increasing numbers; with d masses an integer, or d such entries
        How many bins of equal width there are from the lowest to the highest
        mass, or edges; events outside are not counted.
    weight : (n,) real numbers of either sign, optional

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the weights of a bin that has events do not have a positive sum, with
        the bin; for other bad values, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import sde
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 5_000), rng.random(5_000)
    >>> cuts = np.quantile(score, [0.5, 0.8])
    >>> print(f"{sde(score, mass, cuts, [50, 75, 100, 150, 300]):.3f}")
    0.014
    >>> print(f"{sde(score * mass / 100, mass, cuts, [50, 75, 100, 150, 300]):.3f}")
    0.218
    """
    scores, masses, weigh, cuts = _arguments(score, mass, weight, cut)
    chosen, place = bins_or_cells(bins, masses)
    inside = place >= 0
    place, scores, weigh = place[inside], scores[inside], weigh[inside]
    total, counts = positive_sums(chosen, place, weigh)
    filled = counts > 0
    passed = [chosen.sums(place, weigh * (scores >= at))[filled] / total[filled] for at in cuts]
    return _deviation(np.array(passed), total[filled])


@takes_events
def sde_knn(score: Any, mass: Any, cut: Any, *, n_neighbours: int = 50, weight: Any = None) -> float:
    """The standard deviation of the efficiency over groups of events that are neighbours in mass.

    As :func:`sde`, with the ``n_neighbours`` nearest events of each event,
    itself included, for a bin. Since some events are in more groups than
    others, each counts in its c_i groups with the weight w_i / c_i, in their
    efficiencies and in their weights; so the mean efficiency is the overall one.
    ``KnnBasedSDE`` of hep_ml 0.8.0, which selects ``score > cut`` at efficiencies
    of ``target_rcp``.

    Parameters
    ----------
    score, cut, weight
        As for :func:`sde`.
    mass : (n,) or (n, d) real numbers, in any unit
        The distance is the Euclidean one: scale masses that have different units.
    n_neighbours : int, at least 1 and at most n

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the weights of a group do not have a positive sum, with the event
        that it is around; for other bad values, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import sde_knn
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.random((2_000, 2)), rng.random(2_000)
    >>> print(f"{sde_knn(score, mass, 0.5):.3f}")  # of groups of 50, so 0.5 / sqrt(50) by chance
    0.069
    >>> print(f"{sde_knn(score * mass[:, 0], mass, 0.5, n_neighbours=200):.3f}")
    0.181
    """
    scores, masses, weigh, cuts = _arguments(score, mass, weight, cut)
    near = groups(masses, weigh, n_neighbours)
    passed = [(near.share * (scores >= at))[near.members].sum(axis=1) / near.weight for at in cuts]
    return _deviation(np.array(passed), near.weight)


def _arguments(score: Any, mass: Any, weight: Any, cut: Any) -> tuple[NDArray[np.float64], ...]:
    scores = numbers("score", score)
    masses = variables(mass, "score", scores)
    return scores, masses, weights(weight, "score", scores), numbers("cut", [cut] if np.ndim(cut) == 0 else cut)


def _deviation(efficiencies: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Of efficiencies (cuts, groups) around the mean of each cut, groups of these weights."""
    # Sums of one kind, so that equal efficiencies have exactly their value as the mean; `@` adds as BLAS has threads.
    mean = (efficiencies * weight).sum(axis=1) / weight.sum()
    squares = ((efficiencies - mean[:, None]) ** 2 * weight).sum(axis=1) / weight.sum()
    return float(np.sqrt(np.mean(squares)))
