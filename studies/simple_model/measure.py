"""Efficiencies of a selection: in total, and of the background against mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from libmode import metrics

from ..spectra import fitted, residual
from .data import SIGNAL_MASS, SIGNAL_WIDTH, Events

EFFICIENCIES = (0.8, 0.5, 0.2)
MASS_EDGES = np.linspace(-1, 1, 21)
SPECTRUM = np.linspace(-0.8, 0.8, 33)  # for the fit of a signal; beyond, tight selections leave bins empty
DEGREE = 2  # of the selected spectrum: that before the selection is flat, and the selection may be a parabola


@dataclass(frozen=True)
class Selection:
    """The events above the score where a given fraction of the signal passes.

    rate : (20,), the background efficiency in each bin of mass
    error : (20,), its binomial standard error
    residual, expected : of the rate, see studies.spectra
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
    """All numbers that are shown of a classifier; roc holds (signal efficiency, background efficiency)."""

    auc: float
    selections: list[Selection]
    roc: tuple[np.ndarray, np.ndarray]


def performance(score: np.ndarray, events: Events, order: int) -> Performance:
    """Measures scores (n,) of events; order is the degree of the allowed polynomial in mass."""
    curve = metrics.roc(score, events.label)
    shown = np.linspace(0.005, 0.995, 199)
    return Performance(
        auc=metrics.auc(score, events.label),
        selections=[select(score, events, signal_efficiency, order) for signal_efficiency in EFFICIENCIES],
        roc=(shown, np.interp(shown, curve.signal_efficiency, curve.false_positive_rate)),
    )


def select(score: np.ndarray, events: Events, signal_efficiency: float, order: int) -> Selection:
    """Cuts on scores (n,) of events."""
    threshold = metrics.threshold(score, events.label, signal_efficiency=signal_efficiency)
    cut = {"threshold": threshold, "bins": MASS_EDGES}
    rate = metrics.efficiency(score, events.label, events.mass, **cut)
    background = events.label == 0
    flatness = residual(events.mass[background], score[background] >= threshold, MASS_EDGES, order)
    return Selection(
        efficiency=signal_efficiency,
        threshold=threshold,
        rejection=metrics.rejection(score, events.label, threshold=threshold),
        rate=rate.value,
        error=rate.error,
        residual=flatness.rms,
        expected=flatness.expected,
    )


def bias(mass: np.ndarray) -> float | None:
    """The signal that a fit finds in background, over its error; None if the bins have too few events."""
    try:
        return fitted(mass, SPECTRUM, DEGREE, SIGNAL_MASS, SIGNAL_WIDTH).significance
    except RuntimeError:
        return None
