"""How a selection changes the mass spectrum of the background."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from .._events import takes_events
from ._arguments import Doubles, Edges, number, positive, whole
from ._split import Split, split


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Efficiency against mass, see :func:`efficiency`. Of several masses arrays have an axis for each."""

    edges: Edges  #: (bins + 1,) in units of mass; of several masses a tuple of such arrays
    value: Doubles  #: (bins,) weight fraction of each bin that is selected
    error: Doubles  #: (bins,) its standard error


@dataclass(frozen=True, eq=False)
class Residual:
    """Efficiency against mass around its best polynomial, see :func:`residual`."""

    edges: Edges  #: as of :class:`Efficiency`
    value: Doubles  #: (bins,) efficiency less polynomial, relative to the mean efficiency
    error: Doubles  #: (bins,) the standard error of the efficiency, relative to the same
    degree: int  #: of the polynomial

    @property
    def flatness(self) -> Flatness:
        """The same in two numbers, see :func:`flatness`."""
        left = 1 - comb(self.degree + self.value.ndim, self.degree) / np.isfinite(self.value).sum()
        rms, error = (float(np.sqrt(np.nanmean(array**2))) for array in (self.value, self.error))
        return Flatness(rms, error * float(np.sqrt(left)))


@dataclass(frozen=True)
class Flatness:
    """The distance of an efficiency from a polynomial, see :func:`flatness`."""

    rms: float  #: around the best polynomial in mass, relative to the mean efficiency
    expected: float  #: rms from statistics alone


@takes_events
def jsd(
    mass: Any,
    selected: Any = None,
    bins: Any = None,
    *,
    base: float = 2,
    blind: bool = False,
    weight: Any = None,
    cut: float | None = None,
) -> float:
    """Jensen-Shannon divergence between the masses of selected and of rejected background.

    With P and Q the histograms of the two, each divided by its sum, and M = (P + Q) / 2::

        JSD = sum_b P_b log(P_b / M_b) / 2 + sum_b Q_b log(Q_b / M_b) / 2

    It is 0 if the selection keeps the shape of the spectrum, and log 2 / log base if the two spectra share no bin.
    Statistical fluctuations add to it. J. Lin, IEEE Trans. Inf. Theory 37 (1991) 145. ATL-PHYS-PUB-2018-014 and
    arXiv:2010.09745 quote 1/JSD in base 2. ``scipy.spatial.distance.jensenshannon`` is its square root.

    Parameters
    ----------
    mass, selected, bins, weight, cut
        As for :func:`efficiency`.
    base : number above 1
    blind : bool
        If True, the mean JSD of a random selection of the same size, within 5 % from 20 selected events a bin on.
        With p_b the weight fraction of bin b, f the fraction selected and b(i) the bin of event i::

            <JSD> = sum_i w_i^2 (1 / p_b(i) - 1) / (8 f (1 - f) (sum_i w_i)^2 log base)

    Raises
    ------
    ValueError, TypeError
        If nothing or everything is selected; if the weights of a bin have a negative sum (``blind``: no positive one).

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import jsd
    >>> rng = np.random.default_rng(1)
    >>> mass = 50 + rng.exponential(60, 10_000)  # of background
    >>> selected = rng.random(10_000) < 0.1 * mass / 100
    >>> bins = np.arange(50, 300, 25)
    >>> print(f"{jsd(mass, selected, bins, base=2):.4f}, by chance {jsd(mass, selected, bins, blind=True):.4f}")
    0.0391, by chance 0.0016
    """
    events = split(mass, selected, bins, weight, cut)
    base = number("base", base, 1)
    return (_blind_jsd(events) if blind else _jsd(events)) / float(np.log(base))


def _jsd(events: Split) -> float:
    for name, total in zip(("selected", "not selected"), events.weight, strict=True):
        worst = int(np.argmin(total))
        if total[worst] < 0:
            raise ValueError(
                f"weight sums to {total[worst]:g} over the events that are {name} in {events.bins.name(worst)}: "
                "expected no negative sum; use wider bins"
            )
        if total.sum() == 0:
            raise ValueError(f"selected leaves no weight {name} inside bins: expected a selection of a part")
    shapes = events.weight / events.weight.sum(axis=1, keepdims=True)
    ratios = np.divide(shapes, shapes.mean(axis=0), out=np.ones_like(shapes), where=shapes > 0)
    return max(float(np.sum(shapes * np.log(ratios))) / 2, 0.0)  # rounding makes a little less than 0 of equal shapes


def _blind_jsd(events: Split) -> float:
    total = events.weight.sum(axis=0)
    positive(events.bins, total, events.filled)
    fraction = float(events.weight[0].sum() / total.sum())
    if not 0 < fraction < 1:
        raise ValueError(f"selected has {fraction:g} of the sum of weights inside bins: expected a selection of a part")
    squares = events.square.sum(axis=0)[events.filled]
    others = total.sum() / total[events.filled] - 1
    return float(np.sum(squares * others) / (8 * fraction * (1 - fraction) * total.sum() ** 2))


@takes_events
def efficiency(
    mass: Any, selected: Any = None, bins: Any = None, *, weight: Any = None, cut: float | None = None
) -> Efficiency:
    """The efficiency of a selection in each bin of mass; for background, the false positive rate.

    With p_i = 1 for selected events and 0 for others, in each bin::

        value = sum_i w_i p_i / sum_i w_i
        error = sqrt(sum_i w_i^2 (p_i - value)^2) / |sum_i w_i|

    For unit weights the error is the binomial sqrt(value (1 - value) / n), so 0 where all or none are selected.

    Parameters
    ----------
    mass : (n,) or (n, d) real numbers, in any unit, or a histogram (see ``libmode.metrics``)
        Masses of the background, selected or not. With d columns a bin is a cell of the grid in d masses.
    selected : (n,) booleans, or 0 and 1
        ``score >= threshold(...)``. Not with a histogram.
    bins : (b + 1,) increasing numbers, or an integer; with d masses an integer, or d such entries
        Edges, or the number of bins of equal width from the lowest to the highest mass. Events outside do not
        count. With a histogram: edges of its mass axis, by default all of them.
    weight : (n,) real numbers of either sign, optional
        All 1 by default. Not with a histogram.
    cut : number
        With a histogram: ``score >= cut`` is selected. It is an edge of the score axis.

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
    >>> mass = rng.uniform(50, 250, 10_000)  # of background
    >>> score = rng.random(10_000) * mass / 250
    >>> efficiency(mass, score >= 0.5, [50, 150, 250], weight=np.full(10_000, 0.1)).value.round(3)
    array([0.024, 0.359])
    >>> histogram = np.histogram2d(mass, score, bins=[np.arange(50, 251, 25), [0, 0.5, 1]])
    >>> efficiency(histogram, cut=0.5, bins=[50, 150, 250]).value.round(3)  # the same
    array([0.024, 0.359])
    """
    events = split(mass, selected, bins, weight, cut)
    unknown = _without_weight(events)
    if unknown:
        shown = "; ".join(unknown[:5]) + (f"; and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        warnings.warn(f"efficiency is NaN in {shown}", RuntimeWarning, stacklevel=3)
    return _efficiency(events)


def _without_weight(events: Split) -> list[str]:
    """The bins that should have an efficiency and have none, each with the reason."""
    total = events.weight.sum(axis=0)
    bad = (total <= 0) & (events.filled | (len(events.bins.axes) == 1))
    return [
        events.bins.name(place) + (f": weight sums to {total[place]:g}" if events.filled[place] else ": no event")
        for place in np.flatnonzero(bad).tolist()
    ]


def _efficiency(events: Split) -> Efficiency:
    total = events.weight.sum(axis=0)
    known = np.where(total > 0, total, np.nan)
    value = events.weight[0] / known
    error = np.sqrt(events.square[0] * (1 - value) ** 2 + events.square[1] * value**2) / known
    return Efficiency(events.bins.edges, value.reshape(events.bins.shape), error.reshape(events.bins.shape))


@takes_events
def flatness(
    mass: Any, selected: Any = None, bins: Any = None, *, degree: int = 0, weight: Any = None, cut: float | None = None
) -> Flatness:
    """The distance of the efficiency against mass from its best polynomial.

    With e_b the efficiency of bin b (:func:`efficiency`), s_b its error, and f_b the mean over the events of the bin
    of the polynomial in mass with f_b nearest to e_b (least squares over the k bins, with equal weights)::

        rms      = sqrt(mean_b (e_b - f_b)^2) / mean_b e_b
        expected = sqrt(mean_b s_b^2 (1 - t / k)) / mean_b e_b

    ``expected`` is the rms from statistics alone, less the share that the fit of t = degree + 1 terms takes. For degree
    0, rms is the standard deviation of A. Rogozhnikov et al., arXiv:1410.4140, over the mean. With d masses the
    polynomial has the total degree ``degree``, so t = (degree + d)! / degree! d!. Cells without events do not count.

    Parameters
    ----------
    mass, selected, bins, weight, cut
        As for :func:`efficiency`. The events of a histogram's cell count as spread evenly over it: for a degree above
        0 merge fine cells to wide ``bins``.
    degree : int, at least 0
        Lower than the number of bins less one.

    Raises
    ------
    ValueError, TypeError
        If a bin has no efficiency; if nothing is selected.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import flatness
    >>> rng = np.random.default_rng(1)
    >>> mass = 50 + rng.exponential(60, 50_000)  # of background
    >>> selected = rng.random(50_000) < 0.1 * mass / 100
    >>> for degree in (0, 1):
    ...     found = flatness(mass, selected, np.arange(50, 300, 25), degree=degree)
    ...     print(f"degree {degree}: {found.rms:.3f}, by chance {found.expected:.3f}")
    degree 0: 0.374, by chance 0.056
    degree 1: 0.050, by chance 0.052
    """
    return residual(mass, selected, bins, degree=degree, weight=weight, cut=cut).flatness


@takes_events
def residual(
    mass: Any, selected: Any = None, bins: Any = None, *, degree: int = 0, weight: Any = None, cut: float | None = None
) -> Residual:
    """The terms of :func:`flatness` bin by bin.

    With its e_b, f_b and s_b, value = (e_b - f_b) / mean_b e_b and error = s_b / mean_b e_b. The error does not account
    for the share of the fluctuations that the fit takes. Takes what :func:`flatness` takes.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import residual
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.uniform(50, 250, 50_000)  # of background
    >>> selected = rng.random(50_000) < 0.1 + 0.02 * (abs(mass - 120) < 20)  # a bump at 120
    >>> found = residual(mass, selected, np.arange(50, 251, 25), degree=1)
    >>> (found.value / found.error).round(1)
    array([-2. , -1.9,  4.5,  1.5, -1.2, -0.8, -0. , -0.5])
    """
    return around_polynomial(split(mass, selected, bins, weight, cut), whole("degree", degree, 0))[1]


def around_polynomial(events: Split, degree: int) -> tuple[Efficiency, Residual]:
    """The efficiency, and its residual."""
    unknown = _without_weight(events)
    if unknown:
        raise ValueError(f"mass leaves the efficiency unknown in {unknown[0]}; use wider bins or a narrower range")
    terms = events.polynomials(degree)[events.filled]
    count, size = terms.shape
    if size >= count:
        raise ValueError(
            f"degree = {degree} has {size} terms, and {count} bins have events: expected more bins, or a lower degree"
        )
    found = _efficiency(events)
    mean = np.nanmean(found.value)
    if mean <= 0:
        raise ValueError(f"selected has a mean efficiency of {mean:g} inside bins: expected more than 0")
    means = terms / events.weight.sum(axis=0)[events.filled, None]
    known = found.value.reshape(-1)[events.filled]
    distance = np.full(len(events.filled), np.nan)
    distance[events.filled] = known - means @ np.linalg.lstsq(means, known, rcond=None)[0]
    return found, Residual(events.bins.edges, distance.reshape(found.value.shape) / mean, found.error / mean, degree)
