"""How a selection changes the mass spectrum of the background."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._events import takes_events
from ._bins import Bins, Doubles, Edges, sums
from ._sample import POINTS, point, read_events


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Efficiency against mass, see :func:`efficiency`. Of several masses arrays have an axis for each."""

    edges: Edges  #: (bins + 1,) in units of mass; of several masses a tuple of such arrays
    value: Doubles  #: (bins,) weight fraction of each bin that is selected
    error: Doubles  #: (bins,) its standard error
    background: Doubles  #: (bins,) sum of weights of all background
    selected: Doubles  #: (bins,) sum of weights of selected background


@takes_events
def efficiency(
    score: Any, label: Any = None, mass: Any = None, *, weight: Any = None, background_label: Any = 0,
    signal_efficiency: float | None = None, background_efficiency: float | None = None, threshold: float | None = None,
    bins: Any = None, mass_range: Any = None,
) -> Efficiency:  # fmt: skip
    """The background efficiency of a selection, or false positive rate, in each bin of mass.

    With p_i = 1 for selected background events and 0 for others, in each bin::

        value = sum_i w_i p_i / sum_i w_i,    error = sqrt(sum_i w_i^2 (p_i - value)^2) / |sum_i w_i|

    Parameters
    ----------
    score : (n,) real numbers, or booleans
        The higher, the more like signal. Of a selection True or 1, False or 0, with ``threshold=1``.
    label, weight, background_label
        As for :func:`libmode.metrics.check`. All weights are 1 by default.
    mass : (n,) or (n, d) real numbers, in any unit
        With d columns a bin is a cell of the grid in d masses.
    signal_efficiency, background_efficiency, threshold : number
        The working point, one of the three: the largest threshold that keeps at least this weight fraction of the
        signal or of the background, or the threshold itself. Events with ``score >= threshold`` are selected.
    bins : (b + 1,) increasing numbers, or an integer, optional; with d masses an integer, or d such entries
        Edges, or the number of bins with equal numbers of background events; 20 by default. Events outside do not
        count.
    mass_range : (low, high), optional; with d masses d such pairs
        The range of bins that are a number; by default from the lowest to the highest mass of the background.

    Returns
    -------
    Efficiency
        NaN, with a RuntimeWarning, in a bin without a positive sum of weights; without a warning in an empty cell of
        several masses. Negative weights can give values outside [0, 1].

    Raises
    ------
    ValueError, TypeError
        If no event lies inside the bins.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import efficiency
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 10_000)
    >>> mass = np.where(label, rng.normal(120, 10, 20_000), rng.uniform(50, 250, 20_000))
    >>> score = rng.random(20_000) * mass / 250 + 0.4 * label
    >>> result = efficiency(score, label, mass, signal_efficiency=0.5, bins=[50, 150, 250])
    >>> result.value.round(3), result.error.round(3)
    (array([0.   , 0.194]), array([0.   , 0.006]))
    """
    events = read_events(score, label, mass, weight, background_label)
    points = dict(zip(POINTS, (signal_efficiency, background_efficiency, threshold), strict=True))
    passed, background = events.score >= events.cut(*point(points)), np.flatnonzero(~events.signal)
    bins = Bins(bins, events.mass[background], mass_range)
    place = bins.find(events.mass[background])
    chosen, place = background[place >= 0], place[place >= 0]
    weights, passed = events.weight[chosen], passed[chosen]
    total, squares = (
        np.stack([sums(place[which], values[which], bins.count) for which in (passed, ~passed)])
        for values in (weights, weights**2)
    )
    filled = np.bincount(place, minlength=bins.count) > 0  # cells of several masses may be empty
    unknown = np.flatnonzero((total.sum(axis=0) <= 0) & (filled | (len(bins.axes) == 1))).tolist()
    if unknown:
        warnings.warn(f"efficiency is NaN in bins {unknown}: no positive sum of weights", RuntimeWarning, stacklevel=3)
    flat = rates(bins.axes[0] if len(bins.axes) == 1 else tuple(bins.axes), total, squares)
    return replace(flat, **{name: each.reshape(bins.shape) for name, each in vars(flat).items() if name != "edges"})


def rates(edges: Any, weight: Doubles, square: Doubles) -> Efficiency:
    """The efficiency in bins, from sums of weights and of their squares over selected events and others, (2, bins)."""
    total = weight.sum(axis=0)
    known = np.where(total > 0, total, np.nan)
    value = weight[0] / known
    error = np.sqrt(square[0] * (1 - value) ** 2 + square[1] * value**2) / known
    return Efficiency(edges, value, error, total, weight[0])
