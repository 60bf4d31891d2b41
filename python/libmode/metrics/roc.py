"""The ROC curve, and what is read off it.

scikit-learn's functions need weights above 0 for a monotonic curve, and events rather than histograms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._events import takes_events
from ._arguments import Doubles, labels, number, numbers, only_events, sums, weights
from ._histogram import histogram, is_histogram

# Sums of weights are rounded, so that 0.5 may come out as a little less.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve, see :func:`roc`. From (0, 0) to (1, 1), one point for each distinct score, and the first."""

    signal_efficiency: Doubles  #: (k,) weight fraction of the signal with score >= threshold
    false_positive_rate: Doubles  #: (k,) the same of the background
    threshold: Doubles  #: (k,) falling; infinity first, where nothing passes


@takes_events
def roc(score: Any, label: Any = None, *, weight: Any = None) -> Roc:
    """The ROC curve: signal efficiency and false positive rate at every threshold.

    T. Fawcett, Pattern Recognition Letters 27 (2006) 861, algorithm 1; ties are one point of the curve.

    Parameters
    ----------
    score : (n,) real numbers, or a histogram with an axis ``label`` (see ``libmode.metrics``)
        The higher, the more like signal. The thresholds of a histogram are the edges of its score axis.
    label : (n,) 1 for signal, 0 for background
        Not with a histogram.
    weight : (n,) real numbers of either sign, optional
        All 1 by default. With negative weights the curve need not be monotonic, nor stay inside [0, 1]. Not with a
        histogram.

    Raises
    ------
    ValueError, TypeError
        If a class is missing or its weights do not have a positive sum.

    Examples
    --------
    >>> from libmode.metrics import roc
    >>> curve = roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], weight=[1, 1, 1, 3])
    >>> curve.signal_efficiency, curve.false_positive_rate
    (array([0.  , 0.75, 0.75, 1.  , 1.  ]), array([0. , 0. , 0.5, 0.5, 1. ]))
    """
    if is_histogram(score):
        only_events(label=label, weight=weight)
        cells = histogram(score)
        if cells.signal is None:
            raise ValueError("the histogram has no axis label: expected background and signal")
        return curve_of_cells(cells.signal, cells.background(), cells.score)
    if label is None:
        raise TypeError("label is missing: which events are signal?")
    scores = numbers("score", score)
    signal = labels(label, scores)
    weigh = weights(weight, "score", scores)
    distinct, place = np.unique(scores, return_inverse=True)

    def of_class(chosen: NDArray[np.bool_]) -> Doubles:
        return np.stack([sums(place[chosen], values[chosen], len(distinct)) for values in (weigh, np.ones(len(weigh)))])

    return curve_of_cells(of_class(signal), of_class(~signal), np.append(distinct, np.inf))


def curve_of_cells(signal: Doubles, background: Doubles, edges: Doubles) -> Roc:
    """The curve of cells of score with these edges: (2, cells) of weights, and of what is 0 in cells without events."""
    filled = ((signal[1] > 0) | (background[1] > 0))[::-1]
    fractions = []
    for name, (weight, events) in (("signal (label 1)", signal), ("background (label 0)", background)):
        if not (events > 0).any():
            raise ValueError(f"label has no {name}: expected events of both classes")
        if weight.sum() <= 0:
            raise ValueError(f"weight sums to {weight.sum():g} over the {name}: expected a positive sum")
        passed = np.cumsum(weight[::-1])[filled]
        fractions.append(np.append(0.0, passed / passed[-1]))
    return Roc(fractions[0], fractions[1], np.append(np.inf, edges[:-1][::-1][filled]))


@takes_events
def auc(score: Any, label: Any = None, *, weight: Any = None) -> float:
    """The area under the ROC curve: how probably a signal event scores above a background event.

    A tied pair counts one half, each pair with the product of its weights. Takes what :func:`roc` takes.

    Examples
    --------
    >>> from libmode.metrics import auc
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])  # of four pairs one is the wrong way round
    0.75
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], weight=[1, 1, 1, 3])
    0.875
    """
    return area(roc(score, label, weight=weight))


def area(curve: Roc) -> float:
    """The area under a curve, by trapezes."""
    heights = (curve.signal_efficiency[1:] + curve.signal_efficiency[:-1]) / 2
    return float(np.sum(np.diff(curve.false_positive_rate) * heights))


@takes_events
def threshold(score: Any, label: Any = None, *, signal_efficiency: float = 0.5, weight: Any = None) -> float:
    """The largest threshold that keeps at least this weight fraction of the signal.

    It is the score of an event. Fractions count as equal within 1e-12. ``signal_efficiency`` is above 0 and at most 1.
    Takes what :func:`roc` takes.

    Raises
    ------
    ValueError, TypeError
        For a ``signal_efficiency`` that is out of range, and as :func:`roc`.

    Examples
    --------
    >>> from libmode.metrics import threshold
    >>> threshold([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], signal_efficiency=0.6)
    0.35
    """
    curve = roc(score, label, weight=weight)
    return float(curve.threshold[working_point(curve, signal_efficiency)])


@takes_events
def rejection(score: Any, label: Any = None, *, signal_efficiency: float = 0.5, weight: Any = None) -> float:
    """1 / false positive rate at :func:`threshold`: R50 where the signal efficiency is 0.5 (arXiv:2010.09745).

    Takes what :func:`threshold` takes.

    Raises
    ------
    ValueError, TypeError
        If no background of positive weight passes; and as :func:`roc`.

    Examples
    --------
    >>> from libmode.metrics import rejection
    >>> rejection([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], signal_efficiency=1)
    2.0
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
