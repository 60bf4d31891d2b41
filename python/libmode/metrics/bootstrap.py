"""Errors of metrics from the events themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arguments import number, whole


@dataclass(frozen=True)
class Estimate:
    """A number with its bootstrap error, see :func:`bootstrap`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import bootstrap
    >>> found = bootstrap(np.mean, [np.arange(100.0)])
    >>> print(f"{found.value:.1f} +- {found.error:.1f}, {found.low:.0f} to {found.high:.0f}")
    49.5 +- 2.7, 47 to 52
    """

    value: float  #: of the events as they are
    error: float  #: standard deviation over the resamples
    low: float  #: lower end of the central interval
    high: float  #: upper end


def bootstrap(
    statistic: Callable[..., float],
    arrays: Sequence[Any],
    *,
    repeats: int = 200,
    seed: int = 0,
    confidence_level: float = 0.683,
) -> Estimate:
    """The error of a metric, from resampling events with replacement.

    B. Efron, Ann. Statist. 7 (1979) 1, by ``scipy.stats.bootstrap`` with the
    percentile interval. Percentiles follow a bias: :func:`jsd` and
    :func:`flatness` grow with fluctuations, of which resampling adds more.

    Parameters
    ----------
    statistic : callable
        Takes as many arrays as there are, returns a number:
        ``lambda score, label: auc(score, label)``.
    arrays : sequence of arrays, each of n events
        An event keeps its place in all: score, label, mass, weight.
    repeats : int, at least 2
    seed : int
        The same seed gives the same result.
    confidence_level : float
        Of the interval, above 0 and at most 1.

    Returns
    -------
    Estimate
        The value, its standard error and the ends of the interval.

    Raises
    ------
    ValueError
        If the statistic is not finite, of the events or of a resample; if
        lengths differ. What the statistic raises for a resample is raised.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import auc, bootstrap
    >>> rng = np.random.default_rng(1)
    >>> label = rng.integers(0, 2, 1_000)
    >>> found = bootstrap(lambda score, label: auc(score, label), [rng.normal(label), label])
    >>> print(f"AUC {found.value:.2f} +- {found.error:.2f}")
    AUC 0.74 +- 0.01
    """
    from scipy import stats  # here, so that other metrics need NumPy alone

    events = [np.asarray(array) for array in arrays]
    if not events:
        raise ValueError("arrays is empty: expected at least one array")
    for place, array in enumerate(events):
        if array.ndim == 0 or len(array) != len(events[0]):
            raise ValueError(f"arrays[{place}] has shape {array.shape}: expected the length of arrays[0], "
                             f"whose shape is {events[0].shape}")  # fmt: skip
    if len(events[0]) < 2:
        raise ValueError(f"arrays[0] has {len(events[0])} events: expected at least two")
    level = number("confidence_level", confidence_level, 0, 1)

    def evaluate(which: str, drawn: Any) -> float:
        value = float(statistic(*(array[drawn] for array in events)))
        if not np.isfinite(value):
            raise ValueError(f"statistic is {value} for {which}: expected a finite number")
        return value

    value = evaluate("the events as they are", slice(None))
    found = stats.bootstrap(
        (np.arange(len(events[0])),),
        lambda drawn: evaluate("a resample", drawn),
        n_resamples=whole("repeats", repeats, 2),
        batch=1,  # else all resamples are drawn at once
        vectorized=False,
        confidence_level=level,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    interval = found.confidence_interval
    return Estimate(value, float(found.standard_error), float(interval.low), float(interval.high))
