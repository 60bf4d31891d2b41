"""How a selection changes the mass spectrum of the background."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._events import takes_events
from .._typing import Unpack
from ._bins import Bins, Doubles, Edges, sums
from ._histogram import sample
from ._sample import Sample, Selection, checked_order, refuse_unknown, selected


class Split(NamedTuple):
    """Sums over the background of each mass bin, (2, bins): selected events in row 0, the others in row 1."""

    bins: Bins
    weight: Doubles
    square: Doubles  #: of weights
    filled: NDArray[np.bool_]  #: (bins,) whether the bin has an event
    terms: Doubles  #: (bins, terms) sums of w P_l(x) for l up to an order


def split(function: str, score: Any, label: Any, mass: Any, weight: Any, selection: Selection, order: int = 0) -> Split:
    """The background that the working point selects and the rest, in bins of one mass or cells of several."""
    refuse_unknown(function, selection, Selection)
    events = sample(score, label, mass, weight, selection)
    return divided(events, selected(events, selection), selection.get("bins"), selection.get("mass_range"), order)


def divided(events: Sample, passed: NDArray[np.bool_], edges: Any, mass_range: Any = None, order: int = 0) -> Split:
    """The background that has ``passed``, and the rest."""
    background, bins = np.flatnonzero(~events.signal), events.bins(edges, mass_range)
    place = bins.find(events.mass[background])
    chosen, place = background[place >= 0], place[place >= 0]
    inside, passed = events.where(chosen), passed[chosen]
    both = [
        np.stack([sums(place[which], values[which], bins.count) for which in (passed, ~passed)])
        for values in (inside.weight, inside.square)
    ]
    polynomials = bins.polynomials(inside.mass, order, inside.widths())[1]
    terms = np.stack([sums(place, inside.weight * term, bins.count) for term in polynomials], axis=1)
    return Split(bins, both[0], both[1], np.bincount(place, minlength=bins.count) > 0, terms)


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Efficiency against mass, see :func:`efficiency`. Of several masses arrays have an axis for each."""

    edges: Edges  #: (bins + 1,) in units of mass; of several masses a tuple of such arrays
    value: Doubles  #: (bins,) weight fraction of each bin that is selected
    error: Doubles  #: (bins,) its standard error
    background: Doubles  #: (bins,) sum of weights of all background
    selected: Doubles  #: (bins,) sum of weights of selected background


@dataclass(frozen=True)
class Flatness:
    """The distance of an efficiency from a polynomial, see :func:`flatness`."""

    rms: float  #: around the best polynomial in mass, relative to the mean efficiency
    expected: float  #: rms from statistics alone


@takes_events
def efficiency(
    score: Any = None, label: Any = None, mass: Any = None, *, weight: Any = None, **selection: Unpack[Selection]
) -> Efficiency:
    """The background efficiency of a selection, or false positive rate, in each bin of mass.

    With p_i = 1 for selected background events and 0 for others, in each bin::

        value = sum_i w_i p_i / sum_i w_i
        error = sqrt(sum_i w_i^2 (p_i - value)^2) / |sum_i w_i|

    For unit weights the error is the binomial sqrt(value (1 - value) / n), so 0 where all or none are selected.

    Parameters
    ----------
    score : (n,) real numbers, or a histogram (see ``libmode.metrics``)
        The higher, the more like signal.
    label : (n,) 1 for signal, 0 for background, optional
        By default all events are background.
    mass : (n,) or (n, d) real numbers, in any unit
        With d columns a bin is a cell of the grid in d masses.
    weight : (n,) real numbers of either sign, optional
        All 1 by default.
    signal_efficiency, background_efficiency, threshold : number
        The working point, one of the three: the largest threshold that keeps at least this weight fraction of the
        signal or of the background, or the threshold itself. Events with ``score >= threshold`` are selected. The
        thresholds of a histogram are the edges of its score axis.
    selected : (n,) booleans, or 0 and 1
        In the place of ``score`` and a working point.
    bins : (b + 1,) increasing numbers, or an integer, optional; with d masses an integer, or d such entries
        Edges, or the number of bins with equal numbers of background events; 20 by default. Events outside do not
        count. With a histogram: edges of its mass axis, by default all of them.
    mass_range : (low, high), optional; with d masses d such pairs
        The range of bins that are a number; by default from the lowest to the highest mass of the background.

    Returns
    -------
    Efficiency
        NaN, with a RuntimeWarning that names the bins, in a bin without events or without a positive sum of weights;
        without a warning in an empty cell of several masses. Negative weights can give values outside [0, 1].

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
    >>> histogram = np.histogram2d(mass[:10_000], score[:10_000], bins=[np.arange(50, 251, 25), [0, 0.5, 1]])
    >>> efficiency(histogram, threshold=0.5, bins=[50, 150, 250]).value.round(3)
    array([0.023, 0.361])
    """
    events = split("efficiency", score, label, mass, weight, selection)
    unknown = _without_weight(events)
    if unknown:
        shown = "; ".join(unknown[:5]) + (f"; and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        warnings.warn(f"efficiency is NaN in {shown}", RuntimeWarning, stacklevel=3)
    flat = rates(events.bins.edges, events.weight, events.square)
    shape = events.bins.shape
    return replace(flat, **{name: value.reshape(shape) for name, value in vars(flat).items() if name != "edges"})


def _without_weight(events: Split) -> list[str]:
    """The bins whose efficiency is unknown, each with the reason; cells of several masses may be empty."""
    total = events.weight.sum(axis=0)
    bad = (total <= 0) & (events.filled | (len(events.bins.axes) == 1))
    return [
        events.bins.name(place) + (f": weight sums to {total[place]:g}" if events.filled[place] else ": no event")
        for place in np.flatnonzero(bad).tolist()
    ]


def rates(edges: Any, weight: Doubles, square: Doubles) -> Efficiency:
    """The efficiency in bins, from sums of weights and of their squares over selected events and others, (2, bins)."""
    total = weight.sum(axis=0)
    known = np.where(total > 0, total, np.nan)
    value = weight[0] / known
    error = np.sqrt(square[0] * (1 - value) ** 2 + square[1] * value**2) / known
    return Efficiency(edges, value, error, total, weight[0])


def distance(value: Doubles, error: Doubles, means: Doubles) -> Flatness:
    """The distance of efficiencies, (bins,), from the best combination of functions with these means, (bins, terms)."""
    mean = float(value.mean())
    away = value - means @ np.linalg.lstsq(means, value, rcond=None)[0]
    rms, expected = (float(np.sqrt(np.mean(each**2))) / (mean if mean > 0 else np.nan) for each in (away, error))
    return Flatness(rms, expected * float(np.sqrt(1 - means.shape[1] / len(means))))


@takes_events
def flatness(
    score: Any = None,
    label: Any = None,
    mass: Any = None,
    *,
    weight: Any = None,
    order: int | None = None,
    **selection: Unpack[Selection],
) -> Flatness:
    r"""The distance of the efficiency against mass from its best polynomial: the residual of a working point.

    With e_b the efficiency of bin b (:func:`efficiency`), s_b its error, and f_b the mean over the events of the bin
    of the polynomial in mass with f_b nearest to e_b (least squares over the k bins, with equal weights):

    .. math::

        \mathrm{rms} = \sqrt{\langle (e_b - f_b)^2 \rangle} \Big/ \langle e_b \rangle, \qquad
        \mathrm{expected} = \sqrt{\langle s_b^2 \rangle (1 - t / k)} \Big/ \langle e_b \rangle

    ``expected`` is the rms from statistics alone, less the share that the fit of t = order + 1 terms takes. For order
    0, rms is the standard deviation of A. Rogozhnikov et al., arXiv:1410.4140, over the mean. With d masses the
    polynomial has the total degree ``order``, so t = (order + d)! / order! d!. Cells without events do not count.

    Parameters
    ----------
    score, label, mass, weight, **selection
        As for :func:`efficiency`. The events of a histogram's cell count as spread evenly over it: for an order above 0
        merge fine cells to wide ``bins``.
    order : int, at least 0
        The degree of the polynomial that the analysis allows, as in the loss. Lower than the number of bins less one.

    Returns
    -------
    Flatness
        The two numbers, relative to the mean efficiency.

    Raises
    ------
    ValueError, TypeError
        If a bin has no efficiency; if nothing is selected.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import flatness
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 50_000)
    >>> mass = np.where(label, rng.normal(120, 10, 100_000), 50 + rng.exponential(60, 100_000))
    >>> score = np.where(rng.random(100_000) < 0.1 * mass / 100, rng.random(100_000), 0) + label
    >>> for order in (0, 1):
    ...     result = flatness(score, label, mass, threshold=0.5, bins=np.arange(50, 300, 25), order=order)
    ...     print(f"order {order}: {result.rms:.3f}, by chance {result.expected:.3f}")
    order 0: 0.423, by chance 0.083
    order 1: 0.056, by chance 0.077
    """
    order = checked_order(order)
    events = split("flatness", score, label, mass, weight, selection, order)
    unknown = _without_weight(events)
    if unknown:
        raise ValueError(f"mass leaves the efficiency unknown in {unknown[0]}; use wider bins or a narrower range")
    filled = events.filled
    terms = events.terms[filled]
    count, size = terms.shape
    if size >= count:
        raise ValueError(
            f"order = {order} has {size} terms, and {count} bins have events: expected more bins, or a lower order"
        )
    known = rates(events.bins.edges, events.weight[:, filled], events.square[:, filled])
    if (mean := float(known.value.mean())) <= 0:
        raise ValueError(f"the selection has a mean efficiency of {mean:g} inside bins: expected more than 0")
    return distance(known.value, known.error, terms / known.background[:, None])
