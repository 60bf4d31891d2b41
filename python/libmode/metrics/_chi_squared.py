"""The tail of a weighted sum of chi-squared variables."""

from __future__ import annotations

import math

import numpy as np

from ._bins import Doubles

# The least number of selected effective events in a window of mass, on average: in toys p < 0.01 was then right.
PER_WINDOW = 2
MEAN = 1e-3  # near the mean, log(v / w) / w is nearly 0 / 0, and its limit is used


def windows(pulls: Doubles, spread: Doubles, width: int) -> tuple[float, Doubles]:
    """The sum of squared sums of pulls, (b,), over all windows of neighboring bins, and the scales of its distribution.

    ``spread @ spread.T`` is the covariance of the pulls. Windows begin and end also beyond the first and the last bin.
    """
    place = np.arange(len(pulls))
    both = np.maximum(min(width, len(pulls)) - np.abs(np.subtract.outer(place, place)), 0)
    return float(pulls @ both @ pulls), np.maximum(np.linalg.eigvalsh(spread.T @ both @ spread), 0)


def tail(value: float, scales: Doubles) -> float:
    """The probability that sum_i scales_i z_i^2 is at least ``value``, of independent unit Gaussians z_i.

    The saddlepoint approximation of R. Lugannani and S. Rice, Adv. Appl. Prob. 12 (1980) 475, with K(z) = -1/2 sum_i
    log(1 - 2 z scales_i). It is right to 5 % of p from 1 to 0.01, and to 12 % at 1e-12. Scales are not negative.
    """
    scale = scales[scales > 0] / scales.max()
    value /= float(scales.max())
    if value <= 1e-32:  # 1 - p is less than 1e-16 even for a single variable
        return 1.0
    if value > 2 * float(scale.sum()) + 3000:  # p is below 1e-300
        return 0.0
    low, high = -len(scale) / value, 0.5  # between them K'(z) = value
    while low < (z := (low + high) / 2) < high:
        low, high = (z, high) if np.sum(scale / (1 - 2 * z * scale)) < value else (low, z)
    second = 2 * float(np.sum((scale / (1 - 2 * z * scale)) ** 2))
    size = math.sqrt(max(2 * z * value + float(np.sum(np.log1p(-2 * z * scale))), 0.0))
    w, v = math.copysign(size, z), z * math.sqrt(second)
    if size < MEAN:
        w += 8 / 6 * float(np.sum(scale**3)) / math.pow(second, 1.5)
    else:
        w += math.log(v / w) / w
    return math.erfc(w / math.sqrt(2)) / 2
