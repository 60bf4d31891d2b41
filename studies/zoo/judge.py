"""Judges scores: how far is the response from smooth, within what the events can tell and teach?"""

from __future__ import annotations

from typing import Any

import numpy as np
from libmode import metrics
from numpy.typing import NDArray

from ..plane import rms_pull
from ..spectra import residual
from .events import Events
from .problems import Problem

SIGNAL = {"80 %": 0.8, "50 %": 0.5, "20 %": 0.2, "5 %": 0.05}  # signal efficiencies
BACKGROUND = {"1e-2": 1e-2, "5e-3": 5e-3, "1e-3": 1e-3}  # background efficiencies
BINS, CELLS = 20, 10  # quantile bins of a mass; cells of equal width along each of two
# Fewer events a bin that pass, on average, judge nothing. At a signal efficiency the table of a tagger needs the few.
LEAST_SIGNAL, LEAST_BACKGROUND = 1, 20
ROUNDING = 1e-12  # of efficiencies, which are sums

Found = dict[str, Any]


def judged(problem: Problem, training: Events, test: Events, score: NDArray[Any]) -> Found:
    """AUC, R50 and what each cut does to the mass; ``score``, of the test events, has any range.

    ``cuts`` has for each cut, by the name in SIGNAL or BACKGROUND, the ``efficiency`` of the class that is to be smooth
    and the ``events`` a bin of it that pass. ``residual`` is the rms of the efficiency around its best polynomial, over
    its mean (studies.spectra). ``test`` and ``train`` are the rms from the statistics of either sample, and ``ratio``
    is residual / sqrt(test^2 + train^2): a training sample teaches no more than its own statistics at that cut.

    ``fitted`` is the same ratio around the polynomial of a fit with errors. It is larger where the efficiency has a
    peak, since equal weights pull the polynomial to the peak.

    Both samples have one distribution, so train = test sqrt(N(test) / N(training)), with N the events of that class.
    """
    weight = test.weight.astype(float)
    curve = metrics.roc(score, test.label, weight=weight)
    flat = test.label == problem.flat
    mass, of_flat, given = test.mass[flat].astype(float), score[flat], weight[flat]
    teaches = float(np.sqrt(flat.sum() / (training.label == problem.flat).sum()))
    cuts = {}
    for found, wanted, least in (
        (curve.signal_efficiency, SIGNAL, LEAST_SIGNAL),
        (curve.false_positive_rate, BACKGROUND, LEAST_BACKGROUND),
    ):
        for name, efficiency in wanted.items():
            cut = curve.threshold[np.argmax(found >= efficiency * (1 - ROUNDING))]
            passed = given[of_flat >= cut]
            events = passed.sum() ** 2 / max((passed**2).sum(), 1e-9) / (BINS if mass.ndim == 1 else CELLS**2)
            if events < least:
                continue
            one = _of_cut(problem, mass, of_flat, given, cut)
            train = teaches * one["test"]
            scale = np.hypot(one["test"], train)
            one |= {"efficiency": passed.sum() / given.sum(), "events": events, "train": train}
            one |= {"ratio": one["residual"] / scale, "fitted": one["fitted"] / scale}
            cuts[name] = {key: _short(value) for key, value in one.items()}
    rate = curve.false_positive_rate[np.argmax(curve.signal_efficiency >= 0.5 * (1 - ROUNDING))]
    return {
        "auc": metrics.auc(score, test.label, weight=weight),
        "r50": _short(1 / rate) if rate > 0 else float("inf"),
        "cuts": cuts,
    }


def bump(problem: Problem, test: Events, score: NDArray[Any], beside: Events, of_beside: NDArray[Any]) -> Found:
    """The excess of the selected background in a window of masses, at a cut that keeps 20 % of the signal.

    ``bump`` is the background that is selected in the window, over what a parabola through the efficiencies in 20 bins
    of mass beside it says, minus 1. ``r20`` is 1 over the background efficiency. ``beside`` has background in and
    around the window; ``score`` and ``of_beside`` are the scores of the test events and of these.
    """
    assert problem.window is not None
    low, high = problem.window
    cut = np.quantile(score[test.label != problem.flat], 0.8)
    mass, passed = beside.mass.astype(float), of_beside >= cut
    inside = (mass > low) & (mass < high)
    edges = np.quantile(mass[~inside], np.linspace(0, 1, BINS + 1))
    place = np.clip(np.searchsorted(edges, mass, "right") - 1, 0, BINS - 1)[~inside]
    events, selected = np.bincount(place, minlength=BINS), np.bincount(place, passed[~inside], BINS)
    mean = np.bincount(place, mass[~inside], BINS) / events
    weights = events / np.sqrt(np.maximum(selected, 1))
    fit = np.polynomial.Polynomial.fit(mean, selected / events, 2, w=weights)
    weight = beside.weight[inside].astype(float)
    expected = weight @ np.maximum(fit(mass[inside]), 0)
    rate = np.mean(score[test.label == problem.flat] >= cut)
    return {
        "bump": _short(weight @ passed[inside] / max(expected, 1e-9) - 1),
        "r20": _short(1 / rate) if rate > 0 else float("inf"),
    }


def _of_cut(
    problem: Problem, mass: NDArray[Any], score: NDArray[Any], weight: NDArray[Any], cut: float
) -> dict[str, float]:
    """Two residuals, around polynomials of equal weights and of a fit with errors; their value from statistics.

    With a bound also what it bounds: "slope" is |c_1|/c_0 of the line that fits the efficiency. "turn" is 3 |c_2|/|c_1|
    of the parabola, above 1 where it is not monotonic. Of two masses the unit is the rms from statistics.
    """
    if mass.ndim == 2:
        pull = rms_pull(score, mass, cut, CELLS)
        return {"residual": pull, "fitted": pull, "test": 1.0}
    edges, order = np.unique(np.quantile(mass, np.linspace(0, 1, BINS + 1))), problem.options["order"]
    point = {"threshold": cut, "bins": edges, "weight": weight}
    flatness = residual(mass, score >= cut, edges, order, weight)
    share = metrics.efficiency(score, None, mass, **point)
    # A bin in which nothing passes has an error too.
    error = np.sqrt(np.maximum(share.error**2, 0.05 * np.mean(share.error**2)))
    mean = np.histogram(mass, edges, weights=mass)[0] / np.histogram(mass, edges)[0]
    x = 2 * (mean - edges[0]) / np.ptp(edges) - 1

    def fit(degree: int) -> NDArray[Any]:
        found: NDArray[Any] = np.polynomial.legendre.legfit(x, share.value, degree, w=1 / error)
        return found

    distance = share.value - np.polynomial.legendre.legval(x, fit(order))
    fitted = np.sqrt(np.mean(distance**2)) / share.value.mean()
    found = {"residual": flatness.rms, "fitted": float(fitted), "test": flatness.expected}
    if "max_slope" in problem.options:
        level, line = fit(1)
        found["slope"] = float(abs(line / level))
    if "monotonic" in problem.options:
        _, line, parabola = fit(2)
        found["turn"] = float(3 * abs(parabola / line))
    return found


def _short(value: float) -> float:
    """With five digits, for a file that people read."""
    return float(f"{value:.5g}")
