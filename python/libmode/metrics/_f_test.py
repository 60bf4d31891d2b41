"""How many parameters the background has: an F-test."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ._likelihood import Fitted, Likelihood, Spectrum
from ._shapes import Family, degree_of, shape

F_TEST = "f-test"
IMPROVES = 0.05  # p-value below which more parameters are taken to describe the events better
AHEAD = 2  # a spectrum may have a cubic term and no quadratic one
MOST_PULLS = 3.0  # of Pearson's chi2: what describes the events is within so many standard deviations


def lowest_degree(spectrum: Spectrum, kind: Family, energy: Any) -> int:
    """The lowest degree that describes the spectrum and that neither of the next two degrees improves."""
    from scipy.stats import f

    bins = len(spectrum.weight)
    if not spectrum.has_events:
        return degree_of(kind, None)

    @lru_cache
    def fitted(degree: int) -> Fitted:
        return Likelihood(spectrum, shape(kind, degree, spectrum.edges, energy)).background()

    most = min(kind.most, bins - 4)  # such that a fit with a signal has a degree of freedom
    for degree in range(kind.least, most + 1):
        found, ndof = fitted(degree), bins - degree - 1
        spread = np.sqrt(2 * ndof + np.sum(1 / np.maximum(found.expected, 1e-2)))
        if found.pearson > ndof + MOST_PULLS * spread:
            continue
        better = False
        for more in range(1, min(AHEAD, most - degree) + 1):
            other = fitted(degree + more)
            ratio = (found.chi2 - other.chi2) / more / (other.chi2 / (ndof - more))
            better |= bool(f.sf(ratio, more, ndof - more) < IMPROVES)
        if not better:
            return degree
    raise ValueError(
        f"degree = {F_TEST!r}: no {kind.name} background of degree {most} or less describes the events in bins"
    )
