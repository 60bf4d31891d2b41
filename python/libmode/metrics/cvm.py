"""Cramer-von Mises measures: how the whole distribution of the score changes with mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from ._arguments import bins_or_cells, numbers, positive_sums, variables, weights, whole
from ._neighbours import groups

# Windows are sorted this many numbers at a time, 8 MB.
CHUNK = 2**20


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


@takes_events
def cvm_knn(score: Any, mass: Any, *, n_neighbours: int = 50, weight: Any = None) -> float:
    """Cramer-von Mises distance between the scores of neighbours in mass and all scores, averaged.

    As :func:`cvm_flatness`, with the ``n_neighbours`` nearest events g of each
    event, itself included, for a bin, and W_g the sum over the group of w_i / c_i
    with c_i the number of groups that event i is in, relative to that of all::

        CvM = sum_g W_g  integral (F_g(s) - F(s))^2 dF(s)

    A. Rogozhnikov et al., arXiv:1410.4140; ``KnnBasedCvM`` of hep_ml 0.8.0, here
    in O(n k log k) time for k neighbours, where that one takes O(n^2).
    Scores independent of mass give 1 / (6 k), about, and not 0.

    Parameters
    ----------
    score : (n,) real numbers
        Scores of the events whose response is to be flat.
    mass : (n,) or (n, d) real numbers, in any unit
        The distance is the Euclidean one: scale masses that have different units.
    n_neighbours : int, at least 1 and at most n
    weight : (n,) real numbers of either sign, optional

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
    >>> from libmode.metrics import cvm_knn
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.random((2_000, 2)), rng.random(2_000)
    >>> print(f"{cvm_knn(score, mass):.4f}, by chance {1 / (6 * 50):.4f}")
    0.0030, by chance 0.0033
    >>> print(f"{cvm_knn(score * mass[:, 0], mass):.4f}")
    0.0551
    """
    scores = numbers("score", score)
    masses = variables(mass, "score", scores)
    weigh = weights(weight, "score", scores)
    near = groups(masses, weigh, n_neighbours)
    rank = np.unique(scores, return_inverse=True)[1]
    jump = np.bincount(rank, weigh) / weigh.sum()
    rows = max(1, CHUNK // near.members.shape[1])
    result = 0.0
    for first in range(0, len(scores), rows):
        some = slice(first, first + rows)
        result += float(near.weight[some] @ _distances(rank[near.members[some]], weigh[near.members[some]], jump))
    return result / float(near.weight.sum())


def _distances(rank: NDArray[np.intp], weight: NDArray[np.float64], jump: NDArray[np.float64]) -> NDArray[np.float64]:
    """integral (F_g - F)^2 dF of groups of k events, (groups,).

    rank, weight : (groups, k), place of the events' scores among the distinct ones, and their weights
    jump : (distinct,), of F at these
    """
    overall = _symmetric(jump)
    # Below rank r: integrals of 1, F and F^2.
    below = [np.append(0.0, np.cumsum(jump * overall**power)) for power in range(3)]
    order = np.argsort(rank, axis=1)
    rank = np.take_along_axis(rank, order, 1)
    weight = np.take_along_axis(weight, order, 1)
    after = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)

    # Between a score of the group and its next, F_g is constant.
    start = np.minimum(rank + 1, len(jump))
    end = np.append(rank[:, 1:], np.full((len(rank), 1), len(jump)), axis=1)
    end = np.maximum(start, end)
    ones, of_f, of_f2 = (integral[end] - integral[start] for integral in below)
    total: NDArray[np.float64] = below[2][rank[:, 0]] + np.sum(after**2 * ones - 2 * after * of_f + of_f2, axis=1)

    # At a score of the group, which several of its events may share, F_g is the mean of both sides.
    new = np.diff(rank, axis=1, prepend=-1) > 0
    last = np.append(new[:, 1:], np.ones((len(rank), 1), bool), axis=1)
    before_own = np.append(np.zeros((len(rank), 1)), after[:, :-1], axis=1)
    first = np.maximum.accumulate(np.where(new, np.arange(rank.shape[1]), 0), axis=1)
    middle = (np.take_along_axis(before_own, first, 1) + after) / 2
    total += np.sum(np.where(last, jump[rank] * (middle - overall[rank]) ** 2, 0), axis=1)
    return total


def cvm_correlation(score: Any, mass: Any, *, n_neighbours: int = 200, step: int = 50) -> float:
    """Cramer-von Mises distance between the scores of neighbours in mass and all scores, averaged.

    Events in order of mass make windows of ``n_neighbours``, which start at
    events 0, step, 2 step, ... as long as they are full. With F_w and F the
    fractions of a window and of all n events with score <= s::

        CvM = mean over windows w of  sum_i (F_w(s_i) - F(s_i))^2 / n

    The correlation test of LHCb's challenge "Flavours of Physics: Finding
    tau -> mu mu mu" (Kaggle, 2015), where it had to be below 0.002;
    ``compute_cvm`` there, with the same defaults. Scores independent of mass
    give 1 / (6 n_neighbours) on average, and not 0. That test breaks ties of
    score by the order of sorting; here equal scores are equal, so that constant
    scores give 0. It knows no weights.

    Parameters
    ----------
    score : (n,) real numbers
        Scores of the background.
    mass : (n,) real numbers, in any unit
        Equal masses stay in the order given.
    n_neighbours : int, at least 1 and at most n
    step : int, at least 1

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For bad values, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import cvm_correlation
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 5_000), rng.random(5_000)
    >>> print(f"{cvm_correlation(score, mass):.4f}, by chance {1 / (6 * 200):.4f}")
    0.0007, by chance 0.0008
    >>> print(f"{cvm_correlation(score * mass, mass):.4f}")
    0.0275
    """
    scores = numbers("score", score)
    masses = numbers("mass", mass, "score", scores)
    size, step = whole("n_neighbours", n_neighbours, 1), whole("step", step, 1)
    n = len(scores)
    if size > n:
        raise ValueError(f"n_neighbours = {size} with {n} events: expected at most as many as there are events")

    ordered = np.sort(scores)
    below = np.searchsorted(ordered, scores, "left")[np.argsort(masses, kind="stable")]
    # fraction_i is F at the i-th score; from_here_k sums it over i >= k.
    fraction = np.searchsorted(ordered, ordered, "right") / n
    from_here = np.append(np.cumsum(fraction[::-1])[::-1], 0.0)

    # Multiplied out, with scores ordered inside the window: an event is counted in F_w(s_i) for each i from
    # its own on, so sum_i F F_w needs from_here alone; and in sum_i F_w^2 the j-th is the higher one of 2 j - 1
    # ordered pairs of events.
    pairs = 2.0 * np.arange(1, size + 1) - 1
    starts = np.lib.stride_tricks.sliding_window_view(below, size)[::step]
    chunk = max(1, CHUNK // size)
    total = 0.0
    for first in range(0, len(starts), chunk):
        window = np.sort(starts[first : first + chunk], axis=1)
        crossed = from_here[window].sum(axis=1) / size
        squared = (n - window) @ pairs / size**2
        total += float(np.sum(squared - 2 * crossed + np.sum(fraction**2)))
    return max(total, 0.0) / n / len(starts)  # rounding makes a little less than 0 of constant scores
