"""Spectra in two variables."""

import numpy as np


def in_two(n=40_000, seed=0):
    """(pT, mass), correlated in background."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    pt = 500 + 500 * rng.beta(1, np.where(label == 1, 1.2, 2), n)
    mass = np.where(label == 1, rng.normal(95, 18, n), 50 + 100 * rng.beta(1, 2.5 - pt / 600, n)).clip(50, 150)
    return np.column_stack([pt, mass]), label


def histogram(mass, edges, weight=None):
    found = np.histogramdd(mass, edges, weights=weight)[0]
    return found / found.sum()
