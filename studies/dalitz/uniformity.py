"""SDE and Cramer-von Mises distance of cells and of neighbors, A. Rogozhnikov et al., arXiv:1410.4140.

They are those of hep_ml 0.8.0 without weights, for many cuts at once and in
O(n k log k) time for k neighbors, where hep_ml takes O(n^2).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree

CHUNK = 20_000  # events whose neighbors are sorted at once


def sde(score: np.ndarray, mass: np.ndarray, cuts: np.ndarray, bins: int) -> float:
    """The standard deviation of the efficiency of ``score >= cut`` over equal cells of two masses.

    sqrt(mean over cuts of sum_b W_b (e_b - e)^2), with W_b the fraction of the events in cell b.
    """
    total, *edges = np.histogram2d(*mass.T, bins)
    filled = total > 0
    passed = [np.histogram2d(*mass[score >= cut].T, edges)[0][filled] / total[filled] for cut in cuts]
    return _deviation(np.array(passed), total[filled])


def sde_of_neighbors(score: np.ndarray, mass: np.ndarray, cuts: np.ndarray, neighbors: int) -> float:
    """The same over groups of the nearest neighbors of each event, which include the event.

    An event that is in c groups counts 1/c in each.
    """
    members = _neighbors(mass, neighbors)
    share = 1 / np.maximum(np.bincount(members.ravel(), minlength=len(mass)), 1)
    total = share[members].sum(axis=1)
    passed = [(share * (score >= cut))[members].sum(axis=1) / total for cut in cuts]
    return _deviation(np.array(passed), total)


def cvm(score: np.ndarray, mass: np.ndarray, bins: int) -> float:
    """sum_b W_b sum_i (F_b(s_i) - F(s_i))^2 / n over equal cells of two masses, an event at s counting one half."""
    edges = [np.linspace(own.min(), own.max(), bins + 1)[1:-1] for own in mass.T]
    cell = np.ravel_multi_index(
        [np.searchsorted(e, own, "right") for e, own in zip(edges, mass.T, strict=True)], (bins, bins)
    )
    values, rank = np.unique(score, return_inverse=True)
    jump = np.bincount(rank) / len(score)
    found = 0.0
    for one in np.unique(cell):
        own = np.bincount(rank[cell == one], minlength=len(values))
        share = own / own.sum()
        found += own.sum() / len(score) * float((np.cumsum(share - jump) - (share - jump) / 2) ** 2 @ jump)
    return found


def cvm_of_neighbors(score: np.ndarray, mass: np.ndarray, neighbors: int) -> float:
    """The mean over these groups g of sum_i (F_g(s_i) - F(s_i))^2 / n, an event at s counting one half in F(s)."""
    members, n = _neighbors(mass, neighbors), len(score)
    share = 1 / np.maximum(np.bincount(members.ravel(), minlength=n), 1)
    total = share[members].sum(axis=1)
    values, rank = np.unique(score, return_inverse=True)
    jump = np.bincount(rank) / n
    overall = np.cumsum(jump) - jump / 2
    found = 0.0
    for first in range(0, n, CHUNK // neighbors):
        some = slice(first, first + CHUNK // neighbors)
        ordered = np.sort(rank[members[some]], axis=1)
        at = np.arange(len(values))
        below = np.array([np.searchsorted(row, at) + np.searchsorted(row, at, "right") for row in ordered])
        found += float(total[some] @ (((below / (2 * neighbors) - overall) ** 2) @ jump))
    return found / float(total.sum())


def _neighbors(mass: np.ndarray, neighbors: int) -> np.ndarray:
    return KDTree(mass).query(mass, np.arange(1, neighbors + 1))[1]


def _deviation(efficiencies: np.ndarray, weight: np.ndarray) -> float:
    """The deviation of efficiencies (cuts, groups) from the mean of each cut."""
    mean = np.average(efficiencies, axis=1, weights=weight)
    return float(np.sqrt(np.mean(np.average((efficiencies - mean[:, None]) ** 2, axis=1, weights=weight))))
