"""The ROC curve, and numbers from it.

scikit-learn's functions need weights above 0 for a monotonic curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._events import takes_events
from ._bins import Doubles, sums
from ._sample import CLASSES, Sample, point, read_events


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve, see :func:`roc`. From (0, 0) to (1, 1), one point for each distinct score, and the first."""

    signal_efficiency: Doubles  #: (k,) weight fraction of the signal with score >= threshold
    false_positive_rate: Doubles  #: (k,) the same of the background
    threshold: Doubles  #: (k,) falling; infinity first, where nothing passes


@takes_events
def roc(score: Any, label: Any = None, *, weight: Any = None, background_label: Any = 0) -> Roc:
    """The ROC curve: signal efficiency and false positive rate at every threshold.

    T. Fawcett, Pattern Recognition Letters 27 (2006) 861, algorithm 1; ties are one point of the curve.

    Parameters
    ----------
    score, label, weight, background_label
        As for :func:`libmode.metrics.efficiency`; labels of both classes. With negative weights the curve need not be
        monotonic, nor stay inside [0, 1].

    Returns
    -------
    Roc

    Raises
    ------
    ValueError, TypeError
        If a class is missing or its weights do not have a positive sum.

    Examples
    --------
    >>> from libmode.metrics import roc
    >>> roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], weight=[1, 1, 1, 3]).signal_efficiency
    array([0.  , 0.75, 0.75, 1.  , 1.  ])
    """
    return curve(_both(score, label, weight, background_label))


def _both(score: Any, label: Any, weight: Any, background: Any) -> Sample:
    """Events of both classes without masses."""
    if label is None:
        raise TypeError("label is missing: which events are signal?")
    return read_events(score, label, None, weight, background, needs_mass=False)


def curve(events: Sample) -> Roc:
    """The curve of checked events."""
    distinct, place = np.unique(events.score, return_inverse=True)
    fractions = []
    for kind, name in CLASSES.items():
        chosen = events.of_class(kind)
        weight = sums(place[chosen], events.weight[chosen], len(distinct))
        if weight.sum() <= 0:
            raise ValueError(f"weight sums to {weight.sum():g} over the {name}: expected a positive sum")
        passed = np.cumsum(weight[::-1])
        fractions.append(np.append(0.0, passed / passed[-1]))
    return Roc(fractions[0], fractions[1], np.append(np.inf, distinct[::-1]))


@takes_events
def auc(score: Any, label: Any = None, *, weight: Any = None, background_label: Any = 0) -> float:
    """The area under the ROC curve: how probably a signal event scores above a background event.

    A tied pair counts one half, each pair with the product of its weights. It is 1 for perfect separation, and 0.5 for
    none. Takes the arguments of :func:`roc`.

    Examples
    --------
    >>> from libmode.metrics import auc
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])  # one of four pairs is in the wrong order
    0.75
    """
    return area(roc(score, label, weight=weight, background_label=background_label))


def area(points: Roc) -> float:
    """The area under a curve, by trapezes."""
    heights = (points.signal_efficiency[1:] + points.signal_efficiency[:-1]) / 2
    return float(np.sum(np.diff(points.false_positive_rate) * heights))


@takes_events
def threshold(
    score: Any, label: Any = None, *, weight: Any = None, background_label: Any = 0,
    signal_efficiency: float | None = None, background_efficiency: float | None = None,
) -> float:  # fmt: skip
    """The largest threshold that keeps at least this weight fraction of the signal, or of the background.

    It is the score of an event, and a float. Takes the events of :func:`roc`, and raises its errors.

    Parameters
    ----------
    signal_efficiency, background_efficiency : number above 0, at most 1
        One of them is the fraction, and counts as equal within 1e-12.

    Examples
    --------
    >>> from libmode.metrics import threshold
    >>> threshold([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], signal_efficiency=0.6)
    0.35
    """
    wanted = {"signal_efficiency": signal_efficiency, "background_efficiency": background_efficiency}
    return _both(score, label, weight, background_label).cut(*point(wanted))


@takes_events
def rejection(
    score: Any, label: Any = None, *, weight: Any = None, background_label: Any = 0,
    signal_efficiency: float | None = None, threshold: float | None = None,
) -> float:  # fmt: skip
    """1 / false positive rate at a working point: R50 where the signal efficiency is 0.5 (arXiv:2010.09745).

    It is a float, and at least 1 with weights above 0. Takes the events of :func:`roc`, and raises its errors, and
    ValueError if no background of positive weight passes.

    Parameters
    ----------
    signal_efficiency, threshold : number
        The working point, one of the two.

    Examples
    --------
    >>> from libmode.metrics import rejection
    >>> rejection([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], signal_efficiency=1)
    2.0
    """
    events = _both(score, label, weight, background_label)
    wanted = {"signal_efficiency": signal_efficiency, "threshold": threshold}
    cut, points = events.cut(*point(wanted)), curve(events)
    rate = points.false_positive_rate[np.flatnonzero(points.threshold >= cut)[-1]]
    if rate <= 0:
        raise ValueError(
            f"the false positive rate at score >= {cut:g} is {rate:g}: expected background above it; ask for more "
            "signal or bring more background"
        )
    return float(1 / rate)
