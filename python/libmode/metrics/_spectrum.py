"""The tests of a dependence: the Gaussians whose squares make the plain loss, and single cuts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._bins import Bins, Doubles, sums
from ._chi_squared import PER_WINDOW, tail, windows

# At how many scores the covariance is taken, and in how many directions of them in each bin: with twice as many of
# both, p from 0.5 to 1e-13 changed by at most 1.5 % of itself, of scores in [0, 1] and of some with tails of 1/s^2.
SCORES, MOST_DIRECTIONS = 96, 16
# A matrix with this number of rows is diagonalized in 0.1 s; each bin has at least two rows.
MOST_ROWS = 1024
MOST_BINS = MOST_ROWS // 2
FEWEST = 8  # effective events that the tightest cut leaves
# From toys. Each of k nested cuts keeps half of the events: their smallest p-value is distributed like that of
# 1 + 0.8 (k - 1) independent cuts, if it is small. The smaller p-value of this test and of the test of all cuts is
# distributed like that of 1.8 independent tests. Fractions of p^2 (1 - p) correct p-values that are not small.
OF_CUTS, OF_TESTS = 0.8, 1.8
LESS_OF_CUTS, LESS_OF_TESTS = 0.3, 0.4


class Binned(NamedTuple):
    """Events that are all in the bins and have a weight, or cells of score with their sums over events."""

    bins: Bins
    place: NDArray[np.intp]  #: (n,) the bin
    score: Doubles  #: (n,)
    share: Doubles  #: (n,) sums of w_i / W_b, the share of the weight of the bin
    square: Doubles  #: (n,) sums of the squares of shares
    means: Doubles  #: (bins, order + 1) P, the mean of each Legendre polynomial


class Steps(NamedTuple):
    """The places between neighbors of the k + 1 distinct scores, arrays (k,)."""

    below: Doubles  #: the lower score
    above: Doubles  #: the higher score
    fraction: Doubles  #: of the background up to the lower score, by absolute weights, averaged over the bins


def steps(events: Binned) -> Steps:
    """The places between the scores of all events; none if all events have one score."""
    size = np.abs(events.share)
    size /= sums(events.place, size, events.bins.count)[events.place]
    order = np.argsort(events.score)
    score, below = events.score[order], np.cumsum(size[order])
    last = np.flatnonzero(score[1:] > score[:-1])
    return Steps(score[last], score[last + 1], below[last] / below[-1])


def spectrum(events: Binned, between: Steps) -> tuple[Doubles, float]:
    """The eigenvalues of R V R over a unit of score, see :func:`libmode.metrics.dependence`, and this unit."""
    at, width, unit = _quadrature(between)
    flat = np.linalg.qr(events.means)[0]
    return _eigenvalues(flat, covariance(events, flat, at) * np.sqrt(width * width[:, None])), unit


def _quadrature(between: Steps) -> tuple[Doubles, Doubles, float]:
    """Scores, and the width ds that each has in the integral over a unit: both (k,), k at most SCORES; and the unit."""
    # Each stands for an equal part of the integral of F (1 - F) ds, F by absolute weights, to which the variance of
    # F_b(s) is about proportional. If there are few distinct scores, all but the last are taken, with exact widths.
    width = between.above - between.below
    unit = float(width.max())  # scores of any size: their squares neither overflow nor vanish
    width /= unit
    if len(width) <= SCORES:
        return between.below, width, unit
    variance = between.fraction * (1 - between.fraction)
    part = np.cumsum(variance * width)
    middles = part[-1] * (np.arange(SCORES) + 0.5) / SCORES
    chosen, times = np.unique(np.searchsorted(part, middles), return_counts=True)
    return between.below[chosen], times * part[-1] / SCORES / variance[chosen], unit


def covariance(events: Binned, flat: Doubles, at: Doubles) -> Doubles:
    """V_b(s, t) at these scores, (bins, k, k); ``flat`` has orthonormal columns that span the polynomials in mass."""
    # E F_b and the fraction of sum w^2 are fits to all bins. The values of a single bin scatter like those of 16
    # events and make large eigenvalues larger: 15 % too few samples of 500 events had p < 0.1.
    columns, bins = len(at) + 1, len(flat)
    cell = events.place * columns + np.searchsorted(at, events.score)
    share, square = (
        sums(cell, power, bins * columns).reshape(bins, columns) for power in (events.share, events.square)
    )
    each = square.cumsum(axis=1)
    total = each[:, -1:]
    fraction = flat @ (flat.T @ share.cumsum(axis=1)[:, :-1])
    of_squares = flat @ (flat.T @ (each[:, :-1] / total))
    # It rises from 0 to 1 like the distribution of each bin. Otherwise the matrix would not be positive semidefinite.
    of_squares = np.maximum.accumulate(np.clip(of_squares, 0, 1), axis=1)
    index = np.arange(len(at))
    both_below = of_squares[:, np.minimum(index, index[:, None])]
    away = fraction - of_squares
    of_unit = both_below - of_squares[:, :, None] * of_squares[:, None] + away[:, :, None] * away[:, None]
    return np.asarray(total[:, :, None] * of_unit)


def _eigenvalues(flat: Doubles, covariance: Doubles) -> Doubles:
    """The eigenvalues of R V R that are not 0; V_b, (bins, k, k), are the blocks of V."""
    # In the directions in k where the bins' mean covariance is small, the mean stands for every bin.
    bins = len(flat)
    small, directions = np.linalg.eigh(covariance.mean(axis=0))
    leading = directions[:, -min(MOST_ROWS // bins, MOST_DIRECTIONS) :]
    size = leading.shape[1]
    residual = np.eye(bins) - flat @ flat.T
    inner = leading.T @ covariance @ leading
    projected = np.einsum("ba,bc,bij->aicj", residual, residual, inner, optimize=True)
    large = np.linalg.eigvalsh(projected.reshape(bins * size, bins * size))
    eigenvalues = np.concatenate([large, np.repeat(small[:-size], bins - flat.shape[1])])
    return np.asarray(np.maximum(eigenvalues, 0))


@dataclass(frozen=True)
class Cut:
    """The cut at which a response is least a polynomial in mass, see :func:`libmode.metrics.dependence`."""

    threshold: float  #: events with score >= threshold are selected
    efficiency: float  #: of the background, averaged over the bins
    events: float  #: selected effective events
    residual: float  #: rms of the background efficiency around its best polynomial, over its mean
    expected: float  #: the rms from statistics alone
    p_value: float  #: of this cut alone


def of_several(p_value: float, independent: float) -> float:
    """The probability that the smallest of some independent p-values is at most ``p_value`` (Z. Sidak, 1967)."""
    return -math.expm1(independent * math.log1p(-p_value)) if p_value < 1 else 1.0


def joined(p_all_cuts: float, chance: float) -> tuple[float, float]:
    """The p-values of the most significant cut, and of both tests; ``chance`` comes from :func:`ladder`."""
    both = of_several(min(p_all_cuts, chance), OF_TESTS)
    return chance - LESS_OF_CUTS * chance**2 * (1 - chance), both - LESS_OF_TESTS * both**2 * (1 - both)


def ladder(events: Binned, between: Steps) -> tuple[Cut | None, float]:
    """The cut with the smallest p-value, or None without cuts, and the probability of a p-value that small."""
    bins, effective = events.bins.count, events.bins.count**2 / float(events.square.sum())
    rungs = max(int(math.log2(max(effective / FEWEST, 1))), 0)
    kept = 1 - between.fraction
    # For each rung the tightest cut that keeps at least so much. Ties can make two of them one.
    at = np.unique(np.searchsorted(-kept, -(0.5 ** np.arange(1, rungs + 1)), "right") - 1)
    at = at[at >= 0]
    if len(at) == 0:
        return None, 1.0
    flat = np.linalg.qr(events.means)[0]
    variance = np.diagonal(covariance(events, flat, between.below[at]), axis1=1, axis2=2)
    cell = events.place * (len(at) + 1) + np.searchsorted(between.below[at], events.score)
    selected = sums(cell, events.share, bins * (len(at) + 1)).reshape(bins, -1)[:, :0:-1].cumsum(axis=1)[:, ::-1]
    tested = [
        _test(flat, selected[:, k], variance[:, k], float(between.above[step]), float(kept[step]) * effective)
        for k, step in enumerate(at)
    ]
    best = min(tested, key=lambda cut: cut.p_value)
    return best, of_several(best.p_value, 1 + OF_CUTS * (len(tested) - 1))


def _test(flat: Doubles, selected: Doubles, variance: Doubles, threshold: float, left: float) -> Cut:
    """Tests the efficiencies of the bins, (bins,), with these variances; ``flat`` spans the allowed responses."""
    bins = len(flat)
    free = np.eye(bins) - flat @ flat.T
    residual = free @ selected
    spread = free * np.sqrt(variance)  # spread @ spread.T is the covariance of the residuals
    value, variances = windows(residual, spread, math.ceil(PER_WINDOW * bins / left))
    p_value = tail(value, variances) if variances.any() else 1.0
    efficiency = float(selected.mean())
    mean = efficiency if efficiency > 0 else math.nan  # negative weights can give any other
    rms, expected = (math.sqrt(float(np.sum(matrix**2)) / bins) / mean for matrix in (residual, spread))
    return Cut(threshold, efficiency, left, rms, expected, p_value)
