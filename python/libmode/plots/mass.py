"""Efficiency, spectrum and spurious signal against mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .._arrays import vector
from .._front import same_length, takes_events
from ..metrics._arguments import numbers, yes_or_no
from ..metrics._histogram import is_histogram
from ..metrics._split import Counted, counted
from ._data import fields, finite, increasing, labelled

MOST_POINTS = 12  # signal masses that are drawn as points; more are a line


def efficiency(axes: Axes, efficiency: Any, *, label: str | None = None, **style: Any) -> Axes:
    """Efficiency in bins of mass: steps, and a band of value +- error.

    Parameters
    ----------
    axes : matplotlib Axes
    efficiency : what :func:`libmode.metrics.efficiency` returns, or (edges, value, error)
        Edges (bins + 1,) in units of mass; value and error (bins,), NaN in bins to be
        left out. The false positive rate is the background's.
    label : str, optional
        For the legend.
    **style
        Of the steps, a StepPatch; the band has their colour.

    Returns
    -------
    axes

    Raises
    ------
    ValueError, TypeError
        For arrays that do not fit each other, and values that cannot be drawn, with argument, value and place.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> found = metrics.efficiency([60, 70, 80, 90], [True, False, True, True], [50, 75, 100])
    >>> axes = plots.efficiency(Figure().subplots(), found, label="MoDe[1]")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('mass', 'efficiency')
    """
    edges, value, error = fields("efficiency", efficiency, ("edges", "value", "error"))
    increasing("efficiency.edges", edges)
    same_length("efficiency.error", error, "efficiency.value", value)
    if len(edges) != len(value) + 1:
        raise ValueError(
            f"efficiency.edges has length {len(edges)}: expected {len(value) + 1}, one more than efficiency.value"
        )
    value, error = finite(value), finite(error)
    steps = axes.stairs(value, edges, baseline=None, label=label, **style)
    low, high = (np.repeat(limit, 2) for limit in (value - error, value + error))
    axes.fill_between(np.repeat(edges, 2)[1:-1], low, high, color=steps.get_edgecolor(), alpha=0.3, lw=0)
    return labelled(axes, "mass", "efficiency")


@takes_events
def spectrum(
    axes: Axes,
    mass: Any,
    selected: Any = None,
    bins: Any = None,
    *,
    weight: Any = None,
    cut: float | None = None,
    ratio: Axes | None = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Mass spectrum of unit area: filled for all events, a line for those selected.

    Parameters
    ----------
    axes : matplotlib Axes
    mass : (n,) real numbers, or a histogram (see ``libmode.metrics``)
        Of the background, in any unit.
    selected : (n,) bool, or 0 or 1, or None
        The events to draw; None draws all.
    bins : (bins + 1,) increasing real numbers, or an integer
        As for :func:`libmode.metrics.efficiency`; events outside are left out.
    weight : (n,) real numbers of either sign, optional
        Event weights; all 1 by default.
    cut : number, optional
        With a histogram: draws ``score >= cut``.
    ratio : matplotlib Axes, optional
        Also draws there the spectrum over that of all events, which is the efficiency
        relative to its mean; the label of the mass goes there. Bins without events are
        left out.
    label : str, optional
        For the legend.
    **style
        Of the histogram, a StepPatch.

    Returns
    -------
    axes

    Raises
    ------
    ValueError, TypeError
        For arrays that do not fit each other, and values that cannot be drawn, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from libmode import plots
    >>> rng = np.random.default_rng(1)
    >>> mass, selected = 50 + rng.exponential(60, 1_000), rng.random(1_000) < 0.2
    >>> axes, ratio = Figure().subplots(2)
    >>> for chosen in (None, selected):  # all of the background, and what is selected of it
    ...     axes = plots.spectrum(axes, mass, chosen, np.arange(50, 300, 25), ratio=ratio)
    >>> axes.get_ylabel(), ratio.get_ylabel()
    ('normalised to unit area', 'after / before')
    >>> histogram = np.histogram2d(mass, selected, bins=[np.arange(50, 300, 25), [-0.5, 0.5, 1.5]])
    >>> axes = plots.spectrum(axes, histogram, cut=0.5)  # the same, of a histogram
    """
    every = counted(mass, bins, weight, None)
    edges, drawn = every.bins.edges, every
    options: dict[str, Any] = {"fill": True, "color": "0.85"}
    if is_histogram(mass):
        if selected is not None:
            raise TypeError("selected belongs to events: give a histogram and cut")
        if cut is not None:
            drawn, options = counted(mass, bins, weight, cut), {}
    elif selected is not None:
        masses = numbers("mass", mass)
        chosen = yes_or_no("selected", selected, "True or False, or 1 or 0", "mass", masses)
        drawn, options = _selected(masses, chosen, weight, every), {}
    density, everything = _density("selected", drawn), _density("mass", every)
    histogram = axes.stairs(density, edges, label=label, **options | style)
    if ratio is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = finite(density / everything)
        colour = histogram.get_facecolor() if histogram.get_fill() else histogram.get_edgecolor()
        ratio.stairs(quotient, edges, baseline=None, **{"color": colour} | style | {"fill": False})
        labelled(ratio, "mass", "after / before")
        return labelled(axes, "", "normalised to unit area")
    return labelled(axes, "mass", "normalised to unit area")


def spurious_scan(
    axes: Axes, spurious: Any, *, ratio: Axes | None = None, label: str | None = None, **style: Any
) -> Axes:
    """Signal that is fitted where there is none, against its mass: a line, and a band of +- error.

    Parameters
    ----------
    axes : matplotlib Axes
    spurious : what :func:`libmode.metrics.spurious_signal` returns, or (signal_mass, signal, error)
        Arrays (k,): masses in any unit; fitted signals and their errors in events, NaN
        to be left out. Up to twelve masses are points with error bars.
    ratio : matplotlib Axes, optional
        Also draws signal / error there, above a grey band from -1 to 1. The label of the
        mass goes there.
    label : str, optional
        For the legend.
    **style
        Of the line, a Line2D; the band has its colour.

    Returns
    -------
    axes

    Raises
    ------
    ValueError, TypeError
        For arrays that do not fit each other, and values that cannot be drawn, with argument, value and place.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import plots
    >>> axes, ratio = Figure().subplots(2)
    >>> axes = plots.spurious_scan(axes, ([100, 120, 140], [5, -3, 8], [10, 9, 9]), ratio=ratio, label="MoDe[1]")
    >>> axes.get_ylabel(), ratio.get_ylabel()
    ('spurious signal', 'signal / error')
    """
    mass, signal, error = fields("spurious", spurious, ("signal_mass", "signal", "error"))
    same_length("spurious.signal", signal, "spurious.signal_mass", mass)
    same_length("spurious.error", error, "spurious.signal_mass", mass)
    style = normalize_kwargs(style, Line2D)
    if len(mass) <= MOST_POINTS:
        style = {"marker": "o", "linestyle": "none"} | style
        line = axes.errorbar(mass, signal, error, label=label, **style).lines[0]
    else:
        (line,) = axes.plot(mass, signal, label=label, **style)
        axes.fill_between(mass, signal - error, signal + error, color=line.get_color(), alpha=0.3, lw=0)
    if ratio is None:
        return labelled(axes, "signal mass", "spurious signal")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio.plot(mass, finite(signal / error), **style | {"color": line.get_color()})
    if not any(patch.get_gid() == "one" for patch in ratio.patches):
        ratio.axhspan(-1, 1, color="0.9", lw=0, zorder=0, gid="one")
    labelled(ratio, "signal mass", "signal / error")
    return labelled(axes, "", "spurious signal")


def _density(name: str, spectrum: Counted) -> NDArray[np.float64]:
    total = spectrum.weight.sum()
    if not total > 0:
        raise ValueError(f"{name}: the events inside bins have total weight {total:g}, which gives no unit area")
    return np.asarray(spectrum.weight / total / np.diff(spectrum.bins.edges), np.float64)


def _selected(mass: NDArray[Any], chosen: NDArray[np.bool_], weight: Any, every: Counted) -> Counted:
    """The events that are chosen, in the bins of all."""
    if not chosen.any():
        return every._replace(weight=0 * every.weight)
    return counted(mass[chosen], every.bins.edges, None if weight is None else vector("weight", weight)[chosen], None)
