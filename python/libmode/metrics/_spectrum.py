"""The variances of the independent Gaussians whose squares the plain loss of a polynomial response is made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from ._arguments import Bins

# At how many scores the covariance is taken, and in how many directions of them in each bin: with twice as many of
# both, p from 0.5 to 1e-13 changed by at most 1.5 % of itself, of scores in [0, 1] and of some with tails of 1/s^2.
SCORES, MOST_DIRECTIONS = 96, 16
# A matrix of so many rows is diagonalised in 0.1 s; each bin has at least two.
MOST_ROWS = 1024
MOST_BINS = MOST_ROWS // 2


class Binned(NamedTuple):
    """Events that are all in the bins and have a weight, or cells of score with their sums over events.

    Arrays are (n,) with an entry for each event or cell, or (bins,).
    """

    bins: Bins
    place: NDArray[np.intp]  #: (n,) the bin
    score: NDArray[np.float64]  #: (n,)
    share: NDArray[np.float64]  #: (n,) sums of w_i / W_b, the share of the weight of the bin
    square: NDArray[np.float64]  #: (n,) sums of the squares of shares
    means: NDArray[np.float64]  #: (bins, order + 1) P, the mean of each Legendre polynomial
    cubes: NDArray[np.float64]  #: (bins,) sums of |share|^3
    sixths: NDArray[np.float64]  #: (bins,) of its square

    @classmethod
    def of_events(
        cls,
        bins: Bins,
        place: NDArray[np.intp],
        score: NDArray[np.float64],
        mass: NDArray[np.float64],
        share: NDArray[np.float64],
        order: int,
    ) -> Binned:
        """Of arrays (n,)."""
        low, high = bins.edges[[0, -1]]
        powers = legvander((mass - low) / (high - low) * 2 - 1, order).T
        means = np.column_stack([bins.sums(place, share * power) for power in powers])
        cubes, sixths = (bins.sums(place, np.abs(share) ** power) for power in (3, 6))
        return cls(bins, place, score, share, share**2, means, cubes, sixths)


class Spectrum(NamedTuple):
    """What the distribution of the loss is made of, in any unit of the loss."""

    variances: NDArray[np.float64]  #: the eigenvalues of R V R, none negative; empty where all events have one score
    skewness: float  #: what pairs of events add to the third cumulant of the sum of squares, 0 in the limit


def spectrum(events: Binned) -> Spectrum:
    """The eigenvalues of R V R, see :func:`libmode.metrics.dependence`, and how far F_b is from Gaussian."""
    at, width = _quadrature(events)
    if len(at) == 0:
        return Spectrum(np.empty(0), 0.0)
    flat = np.linalg.qr(events.means)[0]
    variances = _eigenvalues(flat, _covariance(events, flat, at) * np.sqrt(width * width[:, None]))
    return Spectrum(variances, _of_pairs(events, flat, at, width))


def _quadrature(events: Binned) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores, and the width ds that each has in the integral, in any unit: both (k,), k at most SCORES.

    With F the mean of the bins' distribution functions by absolute weights, each score stands
    for an equal part of the integral of F (1 - F) ds, to which the variance of F_b(s) is about
    proportional: however the scores are spread, they lie where the loss comes from. Where there
    are few distinct scores, these are all but the last, and the widths are exact.
    """
    size = np.abs(events.share)
    size /= events.bins.sums(events.place, size)[events.place]
    order = np.argsort(events.score)
    score, below = events.score[order], np.cumsum(size[order])
    steps = np.flatnonzero(score[1:] > score[:-1])
    width = score[steps + 1] - score[steps]
    if len(width) == 0:
        return width, width
    width /= width.max()
    if len(steps) > SCORES:
        fraction = below[steps] / below[-1]
        variance = fraction * (1 - fraction)
        part = np.cumsum(variance * width)
        middles = part[-1] * (np.arange(SCORES) + 0.5) / SCORES
        chosen, times = np.unique(np.searchsorted(part, middles), return_counts=True)
        steps, width = steps[chosen], times * part[-1] / SCORES / variance[chosen]
    return score[steps], width


def _covariance(events: Binned, flat: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """V_b(s, t) at these scores, (bins, k, k), positive semidefinite for each bin.

    flat : (bins, order + 1), orthonormal columns that span what a polynomial in mass is in the bins

    E F_b and the expected fraction of sum w^2 are fits to all bins. What the bins hold
    themselves has the scatter of some 16 events, which makes large eigenvalues larger: of samples of 500 events
    15 % too few had p < 0.1, and 35 % with exponential weights.
    """
    columns, bins = len(at) + 1, len(flat)
    cell = events.place * columns + np.searchsorted(at, events.score)
    sums, squares = (np.bincount(cell, power, bins * columns) for power in (events.share, events.square))
    each = squares.reshape(bins, columns).cumsum(axis=1)
    total = each[:, -1:]
    fraction = _fitted(flat, sums.reshape(bins, columns).cumsum(axis=1)[:, :-1])
    of_squares = _fitted(flat, each[:, :-1] / total)
    # A distribution function, as what is fitted was in each bin, makes it positive semidefinite.
    of_squares = np.maximum.accumulate(np.clip(of_squares, 0, 1), axis=1)
    index = np.arange(len(at))
    both_below = of_squares[:, np.minimum(index, index[:, None])]
    apart = fraction - of_squares
    of_unit = both_below - _outer(of_squares) + _outer(apart)
    covariance: NDArray[np.float64] = total[:, :, None] * of_unit
    return covariance


def _of_pairs(events: Binned, flat: NDArray[np.float64], at: NDArray[np.float64], width: NDArray[np.float64]) -> float:
    """The sum over pairs of events of the third moments of what each adds to the sum of squares, 2 Q_ij.

    Q_ij = share_i share_j R_{b_i b_j} K(s_i, s_j), K(s, t) = integral (Theta(u - s) - F(u)) (Theta(u - t) - F(u)) du.
    The other terms of the third cumulant, of three events each, are those of Gaussian F_b: 8 times the sum of the
    cubes of the eigenvalues. Where a few events with scores far above all others make most of the integral, what
    counts is how many pairs of them share a bin, which is no Gaussian.
    """
    cell, size = np.searchsorted(at, events.score), np.abs(events.share)
    chance = np.bincount(cell, size, len(at) + 1) / size.sum()
    away = (np.arange(len(at) + 1)[:, None] <= np.arange(len(at))) - np.cumsum(chance)[:-1]
    third = chance @ ((away * width) @ away.T) ** 3 @ chance
    residual = (np.eye(len(flat)) - flat @ flat.T) ** 3
    return float(4 * third * (events.cubes @ residual @ events.cubes - np.diag(residual) @ events.sixths))


def _fitted(flat: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    fitted: NDArray[np.float64] = flat @ (flat.T @ values)
    return fitted


def _outer(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows[:, :, None] * rows[:, None]


def _eigenvalues(flat: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of R V R, with V_b (bins, k, k) the blocks of V, as far as they are not 0.

    Directions in k in which the bins' mean covariance is large are taken as they are in
    each bin. For the others, which make next to nothing of the spread, the mean stands for
    every bin; that is exact where all bins have the same covariance.
    """
    bins = len(flat)
    small, directions = np.linalg.eigh(covariance.mean(axis=0))
    leading = directions[:, -min(MOST_ROWS // bins, MOST_DIRECTIONS) :]
    size = leading.shape[1]
    residual = np.eye(bins) - flat @ flat.T
    inner = leading.T @ covariance @ leading
    projected = np.einsum("ba,bc,bij->aicj", residual, residual, inner, optimize=True)
    large = np.linalg.eigvalsh(projected.reshape(bins * size, bins * size))
    found: NDArray[np.float64] = np.concatenate([large, np.repeat(small[:-size], bins - flat.shape[1])])
    return np.maximum(found, 0)
