"""Measures of a selection that studies share: the residual in bins of mass, and the fit of a signal to a spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from libmode import metrics
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Residual(NamedTuple):
    """The rms distance of efficiencies from their best polynomial, over their mean, and the same by chance."""

    rms: float
    expected: float


def residual(mass: Any, selected: Any, edges: Any, order: int, weight: Any = None) -> Residual:
    """Of background that is selected or not. Bins count alike; polynomials are averaged over the events of a bin."""
    masses, size = np.asarray(mass, float), np.ones(len(mass)) if weight is None else weight
    found = metrics.efficiency(selected, None, masses, threshold=1, bins=edges, weight=size)
    x = 2 * (masses - edges[0]) / (edges[-1] - edges[0]) - 1
    terms = [np.histogram(masses, edges, weights=size * term)[0] for term in legvander(x, order).T]
    means = np.stack(terms, axis=1) / found.background[:, None]
    away = found.value - means @ np.linalg.lstsq(means, found.value, rcond=None)[0]
    free = 1 - (order + 1) / len(found.value)
    rms, expected = np.sqrt(np.mean(away**2)), np.sqrt(np.mean(found.error**2) * free)
    return Residual(float(rms / found.value.mean()), float(expected / found.value.mean()))


@dataclass(frozen=True)
class Fitted:
    """A signal that is fitted to a spectrum."""

    signal: float
    error: float
    chi2: float  #: likelihood ratio of Baker and Cousins
    ndof: int

    @property
    def significance(self) -> float:
        """The signal over its error."""
        return self.signal / self.error


def fitted(mass: Any, edges: Array, degree: int, at: float, width: float) -> Fitted:
    """The maximum likelihood of a polynomial and a Gaussian signal for Poisson counts, by iterated least squares.

    RuntimeError if there are too few events for a fit.
    """
    counts, middle, steps = np.histogram(mass, edges)[0], (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    x = 2 * (middle - edges[0]) / (edges[-1] - edges[0]) - 1
    shape = np.exp(-0.5 * ((middle - at) / width) ** 2) * steps / (np.sqrt(2 * np.pi) * width)
    columns = np.column_stack([legvander(x, degree) * steps[:, None], shape])
    expected = np.maximum(counts, 1.0)
    for _ in range(50):
        information = columns.T @ (columns / expected[:, None])
        values = np.linalg.solve(information, columns.T @ (counts / expected))
        before, expected = expected, columns @ values
        if expected.min() <= 0:
            raise RuntimeError(f"{counts.sum()} events are too few for a fit of degree {degree}")
        if np.abs(expected / before - 1).max() < 1e-9:
            break
    ratio = np.where(counts > 0, counts * np.log(np.maximum(counts, 1) / expected), 0) - counts + expected
    error = float(np.sqrt(np.linalg.inv(information)[-1, -1]))
    return Fitted(float(values[-1]), error, float(2 * ratio.sum()), len(counts) - degree - 2)
