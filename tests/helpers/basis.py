"""Functions of the mass in which a response is expanded, in extended precision: one row for each function."""

from __future__ import annotations

from itertools import product

import numpy as np
from reference import MP, exact, legendre

DEPENDENT = MP.mpf("1e-12")  # a row whose rest is smaller than this share of it depends on earlier rows


def to_x(mass, limits) -> np.ndarray:
    """Masses of this range as x in [-1, 1]."""
    low, high = exact(limits)
    return 2 * (exact(mass) - low) / (high - low) - 1


def products(order: int, columns) -> np.ndarray:
    """P_a(x_1) P_b(x_2) ..., for each a + b + ... <= order."""
    polynomials = [legendre(order, x) for x in columns]
    degrees = [some for some in product(range(order + 1), repeat=len(columns)) if sum(some) <= order]
    degrees.sort(key=lambda some: (sum(some), [-degree for degree in some]))
    rows = ([own[degree] for own, degree in zip(polynomials, some, strict=True)] for some in degrees)
    return np.array([np.prod(row, axis=0) for row in rows], dtype=object)


def bsplines(mass, knots, degree: int, limits) -> np.ndarray:
    """The B-spline functions of this degree on the range, by Cox and de Boor: len(knots) + degree + 1 of them.

    At the upper end, where the last interval has no right neighbor, the last function is 1.
    """
    low, high = limits
    t, mass = exact([low] * (degree + 1) + list(knots) + [high] * (degree + 1)), exact(mass)
    last = degree + len(knots)  # the interval that ends in the upper end

    def ramp(start, end):
        """0 at the start, 1 at the end; 0 on an empty interval, where the function that it multiplies is 0 too."""
        return (mass - start) / (end - start) if end > start else 0 * mass

    rows = []
    for j in range(len(t) - 1):
        inside = (t[j] <= mass) & (mass < t[j + 1]) | ((mass == t[j + 1]) if j == last else False)
        rows.append(exact(inside.astype(float)))
    for p in range(1, degree + 1):
        rows = [
            ramp(t[j], t[j + p]) * rows[j] + (1 - ramp(t[j + 1], t[j + p + 1])) * rows[j + 1]
            for j in range(len(rows) - 1)
        ]
    return np.array(rows, dtype=object)


def independent(rows) -> np.ndarray:
    """The rows without those that depend on earlier ones."""
    kept, directions = [], []
    for row in rows:
        rest = row - sum(((row * direction).sum() * direction for direction in directions), 0 * row)
        if _norm(rest) > DEPENDENT * _norm(row):
            kept.append(row)
            directions.append(rest / _norm(rest))
    return np.array(kept, dtype=object)


def _norm(row):
    return MP.sqrt((row * row).sum())
