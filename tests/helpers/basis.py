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
