"""Judges scores: how far is the response from smooth, within what the events can tell and teach?"""

from __future__ import annotations

from typing import Any

import numpy as np
from libmode import metrics
from numpy.typing import NDArray

from ..plane import rms_pull
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
    its mean (metrics.flatness). ``test`` and ``train`` are the rms from the statistics of either sample, and ``ratio``
    is residual / sqrt(test^2 + train^2): a training sample teaches no more than its own statistics at that cut.

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
            ratio = one["residual"] / np.hypot(one["test"], train)
            one |= {"efficiency": passed.sum() / given.sum(), "events": events, "train": train, "ratio": ratio}
            cuts[name] = {key: _short(value) for key, value in one.items()}
    rate = curve.false_positive_rate[np.argmax(curve.signal_efficiency >= 0.5 * (1 - ROUNDING))]
    return {
        "auc": metrics.auc(score, test.label, weight=weight),
        "r50": _short(1 / rate) if rate > 0 else float("inf"),
        "cuts": cuts,
    }


def _of_cut(
    problem: Problem, mass: NDArray[Any], score: NDArray[Any], weight: NDArray[Any], cut: float
) -> dict[str, float]:
    """Residual and its value from statistics; with a bound also what it bounds.

    "slope" is |c_1|/c_0 of the line that fits the efficiency. "turn" is 3 |c_2|/|c_1| of the parabola, above 1 where it
    is not monotonic. Of two masses the unit is the rms from statistics.
    """
    if mass.ndim == 2:
        return {"residual": rms_pull(score, mass, cut, CELLS), "test": 1.0}
    selected, edges = score >= cut, np.unique(np.quantile(mass, np.linspace(0, 1, BINS + 1)))
    flatness = metrics.flatness(mass, selected, edges, degree=problem.options["order"], weight=weight)
    found = {"residual": flatness.rms, "test": flatness.expected}
    for name, bound, degree in (("slope", "max_slope", 1), ("turn", "monotonic", 2)):
        if bound in problem.options:
            share = metrics.efficiency(mass, selected, edges, weight=weight)
            x = 2 * ((edges[1:] + edges[:-1]) / 2 - edges[0]) / (edges[-1] - edges[0]) - 1
            known = share.error > 0
            c = np.polynomial.legendre.legfit(x[known], share.value[known], degree, w=1 / share.error[known])
            found[name] = float(abs(c[1] / c[0]) if degree == 1 else 3 * abs(c[2] / c[1]))
    return found


def _short(value: float) -> float:
    """With five digits, for a file that people read."""
    return float(f"{value:.5g}")
