"""Functions of the masses that are never negative and add up to 1, and rows that do not decrease."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from sklearn.isotonic import isotonic_regression

_DEGREE = 3  # of the splines


def count(knots: NDArray[np.float64]) -> int:
    """How many cubic B-splines there are between the first and the last of the knots."""
    return len(knots) + _DEGREE - 1


def splines(knots: Sequence[NDArray[np.float64]], masses: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The products of the cubic B-splines of each variable that are not 0: their numbers and values, (n, 4^d) each."""
    numbers, values = np.zeros((len(masses), 1), np.intp), np.ones((len(masses), 1))
    for own, mass in zip(knots, masses.T, strict=True):
        matrix = BSpline.design_matrix(np.clip(mass, own[0], own[-1]), np.pad(own, _DEGREE, "edge"), _DEGREE)
        index, value = (array.reshape(len(mass), 1, _DEGREE + 1) for array in (matrix.indices, matrix.data))
        numbers = (numbers[:, :, None] * count(own) + index).reshape(len(mass), -1)
        values = (values[:, :, None] * value).reshape(len(mass), -1)
    return numbers, values


def bernstein(mass: NDArray[np.float64], ends: tuple[float, float], order: int) -> NDArray[np.float64]:
    """B_{k,p}(u) = (p over k) u^k (1 - u)^(p - k) of masses (n,), with u from 0 to 1 between the ends, (n, p + 1)."""
    low, high = ends
    unit = np.clip((mass - low) / (high - low), 0, 1)
    matrix: NDArray[np.float64] = BSpline.design_matrix(unit, np.repeat([0.0, 1.0], order + 1), order).toarray()
    return matrix


def increasing(rows: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The columns of (m, k) numbers, made non-decreasing downwards by least squares with positive weights (m,)."""
    return np.column_stack([isotonic_regression(column, sample_weight=weight) for column in rows.T])
