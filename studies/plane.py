"""How uniform an efficiency is over cells of two masses, some of which have few events."""

from __future__ import annotations

import numpy as np


def rms_pull(score: np.ndarray, mass: np.ndarray, cut: float, bins: int) -> float:
    """The root mean square over the cells of (e - f) / error: 1 for a uniform efficiency.

    e is the efficiency of ``score >= cut`` in a cell of n of the N events, and f the total efficiency. Cells have equal
    widths; empty cells do not count. The variance of e - f is V (1 - 2 n / N) + sum n^2 V / N^2 with
    V = r g (1 - g) / n: g is f, but at least 1 / (2 n + 2) from 0 and 1, and r makes V right on average.
    ``spectra.residual`` gives cells equal weights, which is a worse measure where they have few events.

    score : (n,)
    mass : (n, 2)
    """
    selected = score >= cut
    total, *edges = np.histogram2d(*mass.T, bins)
    passed = np.histogram2d(*mass[selected].T, edges)[0][total > 0]
    n = total[total > 0]
    every, overall = n.sum(), passed.sum() / n.sum()
    away = 1 / (2 * n + 2)
    expected = np.clip(overall, away, 1 - away)
    binomial = expected * (1 - expected) / n
    scatter = np.sum(passed * (1 - expected) ** 2 + (n - passed) * expected**2)
    variance = scatter / np.sum(n**2 * binomial) * binomial
    of_difference = variance * (1 - 2 * n / every) + np.sum(n**2 * variance) / every**2
    return float(np.sqrt(np.mean((passed / n - overall) ** 2 / of_difference)))
