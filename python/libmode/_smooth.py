"""Residuals of a batch as smooth functions of mass and score, in which most of the noise of a batch is left out.

An event has a rank q in (0, 1) among the scores of its group, and one among each of its masses. The functions are the
products of cosines of these ranks, looked up on a grid.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The cosines of the score's rank, and those of the rank of each mass, by the number of masses: how many, and on how
# many cells. studies/zoo compares numbers.
OF_SCORE, _SCORE_CELLS = 12, 32
_OF_MASS = {1: (12, 32), 2: (5, 8), 3: (3, 4)}

# Ranges of scores, in each of which the direction has the mean 0, and how many events each needs.
_PARTS, _IN_PART = 16, 20


def of_mass(variables: int) -> int:
    """How many functions there are of so many variables of mass."""
    return int(_OF_MASS[variables][0] ** variables)


class Group:
    """Events whose response is to be smooth: background of one label and category.

    score : (n,)
    mass : (n, d), NaN where an event takes no part for this variable
    weight : (n,), of either sign and none 0, their mean size about 1
    """

    def __init__(self, score: Array, mass: Array, weight: Array) -> None:
        size = np.abs(weight)
        self._weight, self._total = weight, float(size.sum())
        self._rank = _ranks(score, size)
        self._of_mass = _table_of_masses(mass.shape[1])
        cells = _OF_MASS[mass.shape[1]][1]
        place = np.zeros(len(score), np.intp)
        for column in mass.T:
            present = column == column
            found = np.full(len(column), cells)  # the last row of the table, for those that are absent
            if present.all():
                found = (_ranks(column, size) * cells).astype(np.intp)
            else:
                found[present] = (_ranks(column[present], size[present]) * cells).astype(np.intp)
            place = place * (cells + 1) + found
        self._cell = place * _SCORE_CELLS + (self._rank * _SCORE_CELLS).astype(np.intp)

    def direction(self, grad: Array) -> Array:
        """The gradient of the loss by the scores as a push of logits, (n,).

        The loss is an integral over scores. Over the logits, with the weight 1/sqrt(q (1 - q)), each working
        point counts by what can be seen at it: the noise of a residual is in proportion to sqrt(q (1 - q)). A loss of
        CDFs also falls where scores are squeezed, signal and background alike, which makes nothing flatter. That
        part is the mean of the gradient at a score (the derivative of the integrand J by the score, since
        sum_b f_b r_b = J'/2), and is taken out as its mean per weight in each of 16 ranges of equal weight.
        """
        scaled = grad / np.sqrt(self._rank * (1 - self._rank))
        parts = max(1, min(_PARTS, int(self._total**2 / float(self._weight @ self._weight)) // _IN_PART))
        part = (self._rank * parts).astype(np.intp)
        size = np.abs(self._weight)
        sums, sizes = np.bincount(part, scaled * np.sign(self._weight), parts), np.bincount(part, size, parts)
        result: Array = scaled - self._weight * (sums / np.maximum(sizes, 1e-300))[part]
        return result

    def residual(self, direction: Array) -> Array:
        """The direction per weight as a sum of smooth functions: their coefficients, (of masses, of score)."""
        rows = len(self._of_mass)
        cells = np.bincount(self._cell, direction, rows * _SCORE_CELLS).reshape(rows, _SCORE_CELLS)
        result: Array = self._of_mass.T @ cells @ _cosines(OF_SCORE, _SCORE_CELLS) / self._total
        return result

    def at(self, residual: Array) -> Array:
        """The value of such a sum at each event, times its weight, (n,)."""
        grid = self._of_mass @ residual @ _cosines(OF_SCORE, _SCORE_CELLS).T
        result: Array = grid.ravel()[self._cell] * self._weight
        return result


def _ranks(values: Array, size: Array) -> Array:
    """The part of the sum of sizes that lies below each value, with half of that of equal ones: inside (0, 1)."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    below = np.concatenate([[0.0], size[order].cumsum()])
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    starts = np.flatnonzero(first)
    ends = np.concatenate([starts[1:], [len(values)]])
    middle = (below[starts] + below[ends]) / (2 * below[-1])
    result = np.empty(len(values))
    result[order] = middle[first.cumsum() - 1]
    return result


@lru_cache
def _cosines(count: int, cells: int) -> Array:
    """cos(pi k q) in the middle of each cell, (cells, count), of mean square 1."""
    rank = (np.arange(cells) + 0.5) / cells
    table = np.cos(np.pi * np.outer(rank, np.arange(count)))
    table[:, 1:] *= np.sqrt(2)
    return table


@lru_cache
def _table_of_masses(variables: int) -> Array:
    """Products of cosines of each mass, (cells of all, functions). An absent mass has a cell where only 1 is not 0."""
    count, cells = _OF_MASS[variables]
    one = np.vstack([_cosines(count, cells), np.eye(1, count)])
    table = one
    for _ in range(variables - 1):
        table = np.einsum("ai,bj->abij", table, one).reshape(len(table) * len(one), -1)
    return table
