"""What a selection on the score keeps: overall, and of the background against mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .data import Events

EFFICIENCIES = (0.8, 0.5, 0.2)
MASS_EDGES = np.linspace(-1, 1, 21)
MASS_CENTRES = (MASS_EDGES[1:] + MASS_EDGES[:-1]) / 2


@dataclass(frozen=True)
class Selection:
    """The events above a score that keeps a given fraction of the signal.

    rate : (20,), the false positive rate in each bin of mass
    error : (20,), its binomial standard error
    residual : rms of rate around its best polynomial in mass (plain least
        squares), relative to the mean of rate
    expected : what the event counts alone give for it
    """

    efficiency: float
    threshold: float
    rejection: float
    rate: np.ndarray
    error: np.ndarray
    residual: float
    expected: float


@dataclass(frozen=True)
class Performance:
    """All that is shown of a classifier; roc holds (signal efficiency, false positive rate)."""

    auc: float
    selections: list[Selection]
    roc: tuple[np.ndarray, np.ndarray]


def performance(score: np.ndarray, events: Events, order: int) -> Performance:
    """Measures scores (n,) of events; order is that of the polynomial in mass asked for."""
    is_signal = events.label == 1
    signal = np.sort(score[is_signal])
    background = np.sort(score[~is_signal])

    # Sigmoids in float32 tie where they saturate; a tied pair counts one half.
    below = np.searchsorted(background, signal, "left")
    up_to = np.searchsorted(background, signal, "right")
    auc = float(np.mean(below + up_to) / 2 / len(background))

    efficiency = np.linspace(0.005, 0.995, 199)
    threshold = np.quantile(signal, 1 - efficiency)
    roc = efficiency, 1 - np.searchsorted(background, threshold, "left") / len(background)

    selections = [
        select(signal, score[~is_signal], events.mass[~is_signal], efficiency, order) for efficiency in EFFICIENCIES
    ]
    return Performance(auc, selections, roc)


def select(signal: np.ndarray, background: np.ndarray, mass: np.ndarray, efficiency: float, order: int) -> Selection:
    """Cuts on the scores of signal (n_s,) and background (n_b,), the latter with masses (n_b,)."""
    threshold = float(np.quantile(signal, 1 - efficiency))
    passed = background >= threshold
    total, _ = np.histogram(mass, MASS_EDGES)
    rate = np.histogram(mass[passed], MASS_EDGES)[0] / total
    error = np.sqrt(rate * (1 - rate) / total)

    best = np.polynomial.Polynomial.fit(MASS_CENTRES, rate, order)
    residual = rate - best(MASS_CENTRES)
    # A fit of order + 1 parameters takes its share out of the fluctuations.
    free = 1 - (order + 1) / len(rate)
    fraction = np.mean(passed)
    return Selection(
        efficiency=efficiency,
        threshold=threshold,
        rejection=float(1 / fraction) if fraction > 0 else np.inf,
        rate=rate,
        error=error,
        residual=_ratio(np.sqrt(np.mean(residual**2)), np.mean(rate)),
        expected=_ratio(np.sqrt(np.mean(error**2) * free), np.mean(rate)),
    )


def _ratio(a: float, b: float) -> float:
    return float(a / b) if b > 0 else float("nan")
