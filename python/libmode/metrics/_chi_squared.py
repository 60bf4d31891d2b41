"""The tail of a weighted sum of chi-squared variables."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# The trapezoidal rule along the path: with these, p = 1e-300 of 1 to 500 equal scales is right to 3e-13 of itself.
_POINTS, _LAST = 101, 6.0
_STEEPNESS = 0.5  # how much the path moves to the right, far out, for one unit up


def tail(value: float, scales: NDArray[np.float64], stretch: float = 1.0) -> float:
    """The probability that sum_i scales_i z_i^2 is at least ``value``, of independent unit Gaussians z_i.

    S. O. Rice, SIAM J. Sci. Stat. Comput. 1 (1980) 438: with K(z) = -1/2 sum_i log(1 - 2 z scales_i), the
    logarithm of the moment generating function::

        p = 1/(2 pi i) integral exp(K(z) - z value)/z dz

    upwards on a path that crosses the real axis between 0 and 1/(2 max_i scales_i), and p - 1 on
    one that crosses it below 0. Where value is above the mean the first is taken, which
    loses no digits however small p is, else the second; each through the saddle point
    of the integrand, along which it falls fastest, and further out on a line on which no
    factor can grow. p is 0 below 1e-300.

    scales : (k,) numbers that are not negative, and of which one is positive
    stretch : with another number than 1 the sum has the same mean and variance and so many times the third
        cumulant: each scale times it, with 1 / stretch^2 of a degree of freedom, and a constant
    """
    value, scales = value - (1 - 1 / stretch) * float(np.sum(scales)), scales * stretch
    scale, times = np.unique(scales[scales > 0] / scales.max(), return_counts=True)
    count = times / stretch**2
    q, mean = value / scales.max(), scale @ count
    if q <= 1e-32 * mean:  # even of one variable, 1 - p is less than 1e-16
        return 1.0
    above = q >= mean
    # The saddle point c is where K'(c) = q + 1/c; y = 1 - 2 c keeps its digits where c comes near to 1/2.
    low, high = (1 / (q + 4), 1.0) if above else (1.0, 1 + (count.sum() + 2) / q)
    while True:
        y = math.sqrt(low) * math.sqrt(high)
        if not low < y < high:
            break
        falls = count @ (scale / (1 - scale + scale * y)) < q + 2 / (1 - y)
        low, high = (low, y) if falls else (y, high)
    c, below = (1 - y) / 2, 1 - scale + scale * y
    height = -(count @ np.log(below)) / 2 - c * q - math.log(abs(c))
    if height < -690:
        return 0.0 if above else 1.0
    ratio = scale / below
    second = 2 * (count @ ratio**2) + 1 / c**2
    third = 8 * (count @ ratio**3) + (0 if above else -2 / c**3)
    # A hyperbola: at c it has the curvature of the path of steepest descent.
    radius, width = _STEEPNESS * 3 * second / third, 1 / math.sqrt(second)
    u = np.linspace(0, _LAST, _POINTS)
    up = width * np.sinh(u)
    distance = np.hypot(radius, up)
    move = _STEEPNESS * up**2 / (distance + radius) + 1j * up
    along = (_STEEPNESS * up / distance + 1j) * width * np.cosh(u)
    exponent = -(np.log(1 - 2 * move[:, None] * ratio) @ count) / 2 - move * q - np.log(1 + move / c)
    integrand = (np.exp(exponent) * along).imag
    p = math.exp(height) / math.pi * u[1] * (np.sum(integrand) - integrand[0] / 2)
    return float(np.clip(p if above else 1 - p, 0, 1))
