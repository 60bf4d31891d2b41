"""The ROC curve, and what is read off it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arguments import number, numbers, weights, yes_or_no

# Sums of weights are rounded, so that 0.5 may come out as a little less.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve, see :func:`roc`. From (0, 0) to (1, 1), one point for each distinct score, and the first."""

    signal_efficiency: NDArray[np.float64]  #: (k,) weight fraction of the signal with score >= threshold
    false_positive_rate: NDArray[np.float64]  #: (k,) the same of the background
    threshold: NDArray[np.float64]  #: (k,) falling; infinity first, where nothing passes


def roc(score: Any, label: Any, *, weight: Any = None) -> Roc:
    """The ROC curve: signal efficiency and false positive rate at every threshold.

    Parameters
    ----------
    score : (n,) real numbers
        The higher, the more like signal. An event at the threshold passes.
    label : (n,) 1 for signal, 0 for background
    weight : (n,) real numbers of either sign, optional
        All 1 by default. The curve has the cumulative sums of weights as they
        are: with negative weights it need not be monotonic, nor stay inside
        [0, 1]. The weights of each class must have a positive sum.

    Raises
    ------
    ValueError
        If a class is missing or its weights do not have a positive sum, and
        for bad values, with argument, value and place.

    T. Fawcett, Pattern Recognition Letters 27 (2006) 861, algorithm 1; ties are
    one point of the curve, as there.
    """
    scores = numbers("score", score)
    signal = yes_or_no("label", label, "1 for signal or 0 for background", "score", scores)
    weigh = weights(weight, "score", scores)
    for name, of_class in (("signal (label 1)", signal), ("background (label 0)", ~signal)):
        if not of_class.any():
            raise ValueError(f"label has no {name}: expected events of both classes")
        total = np.sum(weigh[of_class])
        if total <= 0:
            raise ValueError(f"weight sums to {total:g} over the {name}: expected a positive sum")

    order = np.argsort(scores)[::-1]
    ordered = scores[order]
    last_of_tied = np.append(ordered[1:] != ordered[:-1], True)
    fractions = []
    for of_class in (signal, ~signal):
        passed = np.cumsum(np.where(of_class, weigh, 0.0)[order])[last_of_tied]
        fractions.append(np.append(0.0, passed / passed[-1]))
    return Roc(fractions[0], fractions[1], np.append(np.inf, ordered[last_of_tied]))


def auc(score: Any, label: Any, *, weight: Any = None) -> float:
    """The area under the ROC curve: how probably a signal event scores above a background event.

    A tied pair counts one half, each pair with the product of its weights. That
    is the Mann-Whitney U over its maximum (Fawcett). Takes and raises
    what :func:`roc` does.
    """
    return area(roc(score, label, weight=weight))


def area(curve: Roc) -> float:
    """The area under a curve, by trapezes."""
    heights = (curve.signal_efficiency[1:] + curve.signal_efficiency[:-1]) / 2
    return float(np.sum(np.diff(curve.false_positive_rate) * heights))


def threshold(score: Any, label: Any, *, signal_efficiency: float = 0.5, weight: Any = None) -> float:
    """The largest threshold that keeps at least this weight fraction of the signal.

    It is the score of an event, and ``score >= threshold`` is the selection.
    Fractions count as equal within 1e-12. ``signal_efficiency`` is above 0 and
    at most 1; the rest is as for :func:`roc`.
    """
    curve = roc(score, label, weight=weight)
    return float(curve.threshold[working_point(curve, signal_efficiency)])


def rejection(score: Any, label: Any, *, signal_efficiency: float = 0.5, weight: Any = None) -> float:
    """1 / false positive rate at :func:`threshold`: R50 where the signal efficiency is 0.5.

    As the authors of MoDe give it (arXiv:2010.09745, section 3.2), and others of
    decorrelation before them (arXiv:2001.05310). Takes what :func:`threshold`
    takes.

    Raises
    ------
    ValueError
        If no background passes, or none of positive weight, for then the
        rejection is not known; and what :func:`roc` raises.
    """
    curve = roc(score, label, weight=weight)
    point = working_point(curve, signal_efficiency)
    rate = curve.false_positive_rate[point]
    if rate <= 0:
        raise ValueError(
            f"signal_efficiency = {signal_efficiency:g} has a false positive rate of {rate:g}, at score >= "
            f"{curve.threshold[point]:g}: expected background above it; ask for more signal or bring more background"
        )
    return float(1 / rate)


def working_point(curve: Roc, signal_efficiency: float) -> int:
    """The point of a curve that has at least this signal efficiency, and the largest threshold."""
    wanted = number("signal_efficiency", signal_efficiency, 0, 1)
    return int(np.argmax(curve.signal_efficiency >= wanted * (1 - ROUNDING)))
