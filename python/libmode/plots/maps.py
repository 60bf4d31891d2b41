"""Efficiency and its residuals in cells of two masses, as colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from .._arrays import read
from ._data import attributes, finite, increasing, labelled, not_negative, numbers

# Pulls up to this are seen by chance alone, so that colours need not tell them from each other.
LEAST_LIMIT = 3.0


def efficiency_map(
    axes: Axes,
    efficiency: Any,
    *,
    names: tuple[str, str] = ("mass 1", "mass 2"),
    label: str | None = "efficiency",
    **style: Any,
) -> Axes:
    """Efficiency in cells of two masses as colours, with a colour bar.

    Parameters
    ----------
    axes : matplotlib Axes
    efficiency : what :func:`libmode.metrics.efficiency_map` returns, or (edges, efficiency)
        Edges of the first mass (k_1 + 1,), which goes to the right, and of the second
        (k_2 + 1,), in their units; efficiencies (k_1, k_2). Cells that are not finite
        are hatched.
    names : two str
        Of the axes, with units.
    label : str, optional
        Of the colour bar; None for none, as where several panels share one.
    **style
        Of the cells, a QuadMesh: ``cmap``, ``vmin``, ``vmax``...

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
    >>> from libmode import metrics, plots
    >>> rng = np.random.default_rng(1)
    >>> found = metrics.efficiency_map(rng.random(10_000), rng.random((10_000, 2)), 0.5)
    >>> axes = plots.efficiency_map(Figure().subplots(), found, names=("$m_{12}$ [GeV]", "$m_{13}$ [GeV]"))
    >>> axes.get_xlabel()
    '$m_{12}$ [GeV]'
    """
    edges, value = _cells("efficiency", efficiency, ("edges", "efficiency"))
    return _draw(axes, edges, value, names, label, {"cmap": "viridis"} | style)


def residual_map(
    axes: Axes,
    residual: Any,
    *,
    names: tuple[str, str] = ("mass 1", "mass 2"),
    limit: float | None = None,
    label: str | None = "residual / expected error",
    **style: Any,
) -> Axes:
    """Residuals over their expected errors in cells of two masses, as colours around white at 0.

    Parameters
    ----------
    axes : matplotlib Axes
    residual : what :func:`libmode.metrics.residual_map` returns, or (edges, residual, expected)
        Edges as for :func:`efficiency_map`; residuals and their expected errors (k_1, k_2).
        Cells that are not finite, or whose expected error is 0, are hatched.
    names, label
        As for :func:`efficiency_map`.
    limit : float > 0, optional
        The colours end at -limit and limit; those of larger pulls are the same, and the colour
        bar then has pointed ends. By default the largest pull, and at least 3.
    **style
        Of the cells, a QuadMesh: ``cmap``...

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
    >>> from libmode import metrics, plots
    >>> rng = np.random.default_rng(1)
    >>> found = metrics.residual_map(rng.random(10_000), rng.random((10_000, 2)), 0.5)
    >>> axes = plots.residual_map(Figure().subplots(), found, limit=3)
    >>> axes.collections[0].get_clim()
    (-3.0, 3.0)
    """
    edges, value, expected = _cells("residual", residual, ("edges", "residual", "expected"))
    not_negative("residual.expected", expected.ravel())
    if limit is not None and not limit > 0:
        raise ValueError(f"limit = {limit}: expected a number > 0")
    pull = np.full(value.shape, np.nan)
    np.divide(value, expected, out=pull, where=expected > 0)
    largest = float(np.max(np.abs(finite(pull)), initial=LEAST_LIMIT, where=np.isfinite(pull)))
    end = largest if limit is None else limit
    beyond = "both" if end < largest else "neither"
    return _draw(axes, edges, pull, names, label, {"cmap": "RdBu_r", "vmin": -end, "vmax": end} | style, beyond)


def _cells(argument: str, given: Any, names: tuple[str, ...]) -> list[Any]:
    """The two arrays of edges, and arrays (k_1, k_2), which are attributes or come in this order."""
    given = attributes(argument, given, names)
    if len(given[0]) != 2:
        raise ValueError(f"{argument}.edges has length {len(given[0])}: expected 2, the edges of each mass")
    edges = [numbers(f"{argument}.edges[{k}]", own) for k, own in enumerate(given[0])]
    for k, own in enumerate(edges):
        increasing(f"{argument}.edges[{k}]", own)
    shape = tuple(len(own) - 1 for own in edges)
    arrays = []
    for name, values in zip(names[1:], given[1:], strict=True):
        array = read(f"{argument}.{name}", values).astype(np.float64)
        if array.shape != shape:
            raise ValueError(f"{argument}.{name} has shape {array.shape}: expected {shape}, one less than the edges")
        arrays.append(array)
    return [edges, *arrays]


def _draw(
    axes: Axes,
    edges: list[NDArray[np.float64]],
    value: NDArray[np.float64],
    names: tuple[str, str],
    label: str | None,
    style: dict[str, Any],
    extend: str = "neither",
) -> Axes:
    """Coloured cells over hatched ground, which shows where they are not finite."""
    (left, right), (low, high) = ((own[0], own[-1]) for own in edges)
    ground: dict[str, Any] = {"facecolor": "0.94", "edgecolor": "0.78", "hatch": "///", "linewidth": 0, "zorder": 0}
    axes.add_patch(Rectangle((left, low), right - left, high - low, **ground))
    shown = np.ma.masked_invalid(value.T)
    # Edges of their own colour close the seams that viewers of PDF show between cells.
    options: dict[str, Any] = {"edgecolors": "face", "linewidth": 0.2, "rasterized": True}
    mesh = axes.pcolormesh(*edges, shown, **options | style)
    axes.set(xlim=(left, right), ylim=(low, high))
    if label is not None:
        axes.figure.colorbar(mesh, ax=axes, label=label, extend=extend)
    return labelled(axes, *names)
