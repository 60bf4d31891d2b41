"""Efficiency, spectrum and spurious signal against mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from .._read import same_length
from ._data import fields, finite, labeled


def efficiency(axes: Axes, efficiency: Any, *, label: str | None = None, **style: Any) -> Axes:
    """Efficiency in bins of mass: steps, and a band of value +- error.

    Parameters
    ----------
    axes : matplotlib Axes
    efficiency : what :func:`libmode.metrics.efficiency` returns of one mass, or (edges, value, error)
        Edges (bins + 1,) in units of mass; value and error (bins,), NaN in bins to be
        left out.
    label : str, optional
        For the legend.
    **style
        Of the steps, a StepPatch; the band has their color.

    Returns
    -------
    matplotlib Axes
        The given ones.

    Raises
    ------
    ValueError, TypeError
        For arrays that do not fit each other, and values that cannot be drawn, with argument, value and place.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> result = metrics.efficiency(mass=[60, 70, 80, 90], selected=[1, 0, 1, 1], bins=[50, 75, 100])
    >>> axes = plots.efficiency(Figure().subplots(), result, label="MoDe[1]")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('mass', 'efficiency')
    """
    edges, value, error = fields("efficiency", efficiency, ("edges", "value", "error"))
    same_length("efficiency.error", error, "efficiency.value", value)
    _check_edges(edges, value, "value")
    value, error = finite(value), finite(error)
    steps = axes.stairs(value, edges, baseline=None, label=label, **style)
    low, high = (np.repeat(limit, 2) for limit in (value - error, value + error))
    axes.fill_between(np.repeat(edges, 2)[1:-1], low, high, color=steps.get_edgecolor(), alpha=0.3, lw=0)
    return labeled(axes, "mass", "efficiency")


def spectrum(
    axes: Axes,
    efficiency: Any,
    *,
    before: bool = False,
    ratio: Axes | None = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Mass spectrum of unit area: a line for selected background, filled for all background.

    Parameters
    ----------
    axes, label, **style
        As for :func:`efficiency`.
    efficiency : what :func:`libmode.metrics.efficiency` returns of one mass, or (edges, background, selected)
        Edges (bins + 1,) in units of mass; sums of weights of all and of selected background, (bins,).
    before : bool
        Draw all of the background in the place of the selected part.
    ratio : matplotlib Axes, optional
        Also draws there the spectrum over the spectrum of all background: the efficiency
        relative to its mean. Bins without events are left out. The label of the mass goes there.

    Returns
    -------
    matplotlib Axes
        The given ones.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> rng = np.random.default_rng(1)
    >>> mass, score = 50 + rng.exponential(60, 1_000), rng.random(1_000)
    >>> result = metrics.efficiency(score, None, mass, background_efficiency=0.2, bins=np.arange(50, 300, 25))
    >>> axes, ratio = Figure().subplots(2)
    >>> axes = plots.spectrum(axes, result, before=True, ratio=ratio, label="all")
    >>> axes = plots.spectrum(axes, result, ratio=ratio, label="selected")
    >>> axes.get_ylabel(), ratio.get_ylabel()
    ('normalized to unit area', 'after / before')
    """
    edges, background, selected = fields("efficiency", efficiency, ("edges", "background", "selected"))
    _check_edges(edges, background, "background")
    same_length("efficiency.selected", selected, "efficiency.background", background)
    everything = _density("background", background, edges)
    density = everything if before else _density("selected", selected, edges)
    options: dict[str, Any] = {"fill": True, "color": "0.85"} if before else {}
    histogram = axes.stairs(density, edges, label=label, **options | style)
    if ratio is None:
        return labeled(axes, "mass", "normalized to unit area")
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = finite(density / everything)
    color = histogram.get_facecolor() if histogram.get_fill() else histogram.get_edgecolor()
    ratio.stairs(quotient, edges, baseline=None, **{"color": color} | style | {"fill": False})
    labeled(ratio, "mass", "after / before")
    return labeled(axes, "", "normalized to unit area")


def _density(name: str, weight: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    total = weight.sum()
    if not total > 0:
        raise ValueError(f"efficiency.{name} has total weight {total:g}, which gives no unit area")
    return np.asarray(weight / total / np.diff(edges), np.float64)


def _check_edges(edges: NDArray[np.float64], values: NDArray[np.float64], name: str) -> None:
    bad = np.flatnonzero(~(np.diff(edges) > 0))
    if len(bad):
        before, here = edges[bad[0] : bad[0] + 2]
        raise ValueError(f"efficiency.edges[{bad[0] + 1}] = {here}: expected more than {before} before it")
    if len(edges) != len(values) + 1:
        raise ValueError(
            f"efficiency.edges has length {len(edges)}: expected {len(values) + 1}, one more than efficiency.{name}"
        )
