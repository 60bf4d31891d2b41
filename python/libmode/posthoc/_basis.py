"""Functions of the masses that are never negative and add up to 1: B-splines, and Bernstein's polynomials."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_DEGREE = 3  # of the splines


class Local(NamedTuple):
    """For each event the functions that are not 0 there: their numbers, from the first on, and values."""

    first: NDArray[np.intp]  # (n,)
    values: NDArray[np.float64]  # (n, degree + 1)


class Splines:
    """Cubic B-splines on the interval between the first and the last of the knots, which increase.

    Between neighbouring inner knots they are polynomials, with two continuous derivatives at each knot.
    """

    def __init__(self, knots: NDArray[np.float64]) -> None:
        self.knots = knots
        ends = np.repeat(knots[[0, -1]], _DEGREE).reshape(2, -1)
        self._all = np.concatenate([ends[0], knots, ends[1]])
        self.count = len(knots) + _DEGREE - 1

    def at(self, mass: NDArray[np.float64]) -> Local:
        """At masses (n,), clipped to the interval, by C. de Boor's recurrence (J. Approx. Theory 6 (1972) 50)."""
        inside = np.clip(mass, self.knots[0], self.knots[-1])
        place = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        at = place + _DEGREE  # among all knots
        values = np.ones((len(mass), _DEGREE + 1))
        for degree in range(1, _DEGREE + 1):
            saved = np.zeros(len(mass))
            for k in range(degree):
                low, high = self._all[at + k + 1 - degree], self._all[at + k + 1]
                share = values[:, k] / (high - low)
                values[:, k] = saved + (high - inside) * share
                saved = (inside - low) * share
            values[:, degree] = saved
        return Local(place, values)


def bernstein(unit: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """B_{k,p}(u) = (p over k) u^k (1 - u)^(p - k) at u (n,) from 0 to 1, of shape (n, p + 1)."""
    columns = [math.comb(order, k) * unit**k * (1 - unit) ** (order - k) for k in range(order + 1)]
    return np.column_stack(columns)


def increasing(rows: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The columns of (m, k) numbers, made non-decreasing downwards by least squares with weights (m,).

    Isotonic regression by the pooling of adjacent violators (M. Ayer et al., Ann. Math. Stat. 26 (1955) 641).
    """
    found = np.empty_like(rows)
    for k in range(rows.shape[1]):
        found[:, k] = _isotonic(rows[:, k], weight)
    return found


def _isotonic(values: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    if (np.diff(values) >= 0).all():
        return values
    means: list[float] = []
    sums: list[float] = []
    counts: list[int] = []
    for value, w in zip(values.tolist(), weight.tolist(), strict=True):
        mean, total, count = value, w, 1
        while means and means[-1] > mean:
            other, of_other = means.pop(), sums.pop()
            mean = (mean * total + other * of_other) / (total + of_other)
            total += of_other
            count += counts.pop()
        means.append(mean)
        sums.append(total)
        counts.append(count)
    return np.repeat(np.array(means), counts)


def product(of: list[Local], counts: list[int]) -> Any:
    """The products of the functions of several variables at each event: (numbers (n, k), values (n, k))."""
    numbers = of[0].first[:, None] + np.arange(of[0].values.shape[1])
    values = of[0].values
    for local, count in zip(of[1:], counts[1:], strict=True):
        other = local.first[:, None] + np.arange(local.values.shape[1])
        numbers = (numbers[:, :, None] * count + other[:, None, :]).reshape(len(numbers), -1)
        values = (values[:, :, None] * local.values[:, None, :]).reshape(len(values), -1)
    return numbers, values
