"""The tail of a weighted sum of chi-squared variables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Where the saddlepoint is closer to 0, in standard deviations, its formula is the quotient of two numbers that cancel.
_NEAR_THE_MEAN = 1e-4


def tail(value: float, scales: NDArray[np.float64]) -> float:
    """The probability that sum_i scales_i z_i^2 is at least ``value``, of independent unit Gaussians z_i.

    D. Kuonen, Biometrika 86 (1999) 929: with K(t) = -1/2 sum_i log(1 - 2 t scales_i), the
    logarithm of the moment generating function, and t where K'(t) = value::

        w = sign(t) sqrt(2 (t value - K(t))),   v = t sqrt(K''(t))
        p = 1 - Phi(w + log(v / w) / w)

    At p = 1e-8 the error of p is a tenth of it for one variable and a thousandth for 31 equal
    ones, and hardly grows further out. p is 0 below 5e-324.

    scales : (k,) numbers that are not negative, and of which one is positive
    """
    largest = scales.max()
    scale = scales[scales > 0] / largest
    q, mean = value / largest, scale.sum()
    if q <= 1e-32 * mean:  # even of one variable, 1 - p is less than 1e-16
        return 1.0
    # y = 1 - 2 t is what the largest scale has in the denominator, and lies between these.
    low, high = (1 / q, 1.0) if q > mean else (1.0, 1 + mean / q)
    while True:
        y = math.sqrt(low) * math.sqrt(high)
        if not low < y < high:
            break
        low, high = (low, y) if np.sum(scale / (1 - scale + scale * y)) < q else (y, high)
    t, ratio = (1 - y) / 2, scale / (1 - scale + scale * y)
    v = t * ratio.max() * math.sqrt(2 * np.sum((ratio / ratio.max()) ** 2))  # whose square may be infinite
    if abs(v) < _NEAR_THE_MEAN:
        at = 8 * np.sum(scale**3) / (2 * np.sum(scale**2)) ** 1.5 / 6  # a sixth of the skewness
    else:
        w = math.copysign(math.sqrt(2 * t * q + np.sum(np.log1p(-2 * t * scale))), t)
        at = w + math.log(v / w) / w
    return math.erfc(at / math.sqrt(2)) / 2
