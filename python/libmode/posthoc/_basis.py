"""Functions of the masses that are never negative and add up to 1: B-splines, and Bernstein's polynomials."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from sklearn.isotonic import isotonic_regression

_DEGREE = 3  # of the splines


class Local(NamedTuple):
    """For each event the functions that are not 0 there: their numbers, from the first on, and values."""

    first: NDArray[np.intp]  # (n,)
    values: NDArray[np.float64]  # (n, degree + 1)


class Splines:
    """Cubic B-splines on the interval between the first and the last of the knots, which increase."""

    def __init__(self, knots: NDArray[np.float64]) -> None:
        self._ends = knots[[0, -1]]
        self._all = np.concatenate([self._ends[:1].repeat(_DEGREE), knots, self._ends[1:].repeat(_DEGREE)])
        self.count = len(knots) + _DEGREE - 1

    def at(self, mass: NDArray[np.float64]) -> Local:
        """At masses (n,), clipped to the interval."""
        matrix = BSpline.design_matrix(np.clip(mass, *self._ends), self._all, _DEGREE)
        shape = len(mass), _DEGREE + 1
        return Local(matrix.indices.reshape(shape)[:, 0].astype(np.intp), matrix.data.reshape(shape))


def bernstein(unit: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """B_{k,p}(u) = (p over k) u^k (1 - u)^(p - k) at u (n,) from 0 to 1, of shape (n, p + 1)."""
    columns = [math.comb(order, k) * unit**k * (1 - unit) ** (order - k) for k in range(order + 1)]
    return np.column_stack(columns)


def increasing(rows: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The columns of (m, k) numbers, made non-decreasing downwards by least squares with positive weights (m,)."""
    fitted = [isotonic_regression(column, sample_weight=weight) for column in rows.T]
    return np.column_stack(fitted)


def product(of: list[Local], counts: list[int]) -> Any:
    """The products of the functions of several variables at each event: (numbers (n, k), values (n, k))."""
    numbers = of[0].first[:, None] + np.arange(of[0].values.shape[1])
    values = of[0].values
    for local, count in zip(of[1:], counts[1:], strict=True):
        other = local.first[:, None] + np.arange(local.values.shape[1])
        numbers = (numbers[:, :, None] * count + other[:, None, :]).reshape(len(numbers), -1)
        values = (values[:, :, None] * local.values[:, None, :]).reshape(len(values), -1)
    return numbers, values
