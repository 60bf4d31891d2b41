"""The test of dependence at single cuts, up to the cut that leaves eight events."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ._bins import Doubles, sums
from ._chi_squared import tail
from ._spectrum import Binned, Steps, covariance

FEWEST = 8  # effective events that the tightest cut leaves
# A window of mass has at least so many selected effective events on average: in toys p < 0.01 was then right.
PER_WINDOW = 2
# From toys. Each of k nested cuts keeps half of the events: their smallest p-value is distributed like that of
# 1 + 0.8 (k - 1) independent cuts, if it is small. The smaller p-value of this test and of the test of all cuts is
# distributed like that of 1.8 independent tests. Fractions of p^2 (1 - p) correct p-values that are not small.
OF_CUTS, OF_TESTS = 0.8, 1.8
LESS_OF_CUTS, LESS_OF_TESTS = 0.3, 0.4


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
    """The probability that the smallest of so many independent p-values is at most this one (Z. Sidak, 1967)."""
    return -math.expm1(independent * math.log1p(-p_value)) if p_value < 1 else 1.0


def joined(p_all_cuts: float, chance: float) -> tuple[float, float]:
    """The p-values of the most significant cut, and of both tests; ``chance`` is that of :func:`ladder`."""
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
    # The sum of squares over all windows of so many neighbors, which may reach beyond the first and the last bin.
    width = min(math.ceil(PER_WINDOW * bins / left), bins)
    windows = np.maximum(width - np.abs(np.subtract.outer(np.arange(bins), np.arange(bins))), 0)
    variances = np.maximum(np.linalg.eigvalsh(spread.T @ windows @ spread), 0)
    p_value = tail(float(residual @ windows @ residual), variances) if variances.any() else 1.0
    efficiency = float(selected.mean())
    mean = efficiency if efficiency > 0 else math.nan  # negative weights can give any other
    rms, expected = (math.sqrt(float(np.sum(matrix**2)) / bins) / mean for matrix in (residual, spread))
    return Cut(threshold, efficiency, left, rms, expected, p_value)
