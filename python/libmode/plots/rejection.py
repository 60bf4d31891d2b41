"""Background rejection against signal efficiency, against what it does to the spectrum, and against bias."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .._front import same_length
from ._data import fields, labelled, not_negative, numbers


def roc(axes: Axes, roc: Any, *, label: str | None = None, **style: Any) -> Axes:
    """Background rejection, 1 / false positive rate, against signal efficiency; y is logarithmic.

    Parameters
    ----------
    axes : matplotlib Axes
    roc : what :func:`libmode.metrics.roc` returns, or (signal_efficiency, false_positive_rate)
        Arrays (k,). Points where no background passes are not drawn. For a random
        choice both arrays are equal.
    label : str, optional
        For the legend.
    **style
        Of the line, a Line2D.

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
    >>> axes = plots.roc(Figure().subplots(), metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]))
    >>> axes.get_yscale()
    'log'
    """
    kept, rate = fields("roc", roc, ("signal_efficiency", "false_positive_rate"))
    same_length("roc.false_positive_rate", rate, "roc.signal_efficiency", kept)
    rejection = np.full(len(rate), np.nan)
    np.divide(1, rate, out=rejection, where=rate > 0)
    axes.plot(kept, rejection, label=label, **style)
    axes.set_yscale("log")
    return labelled(axes, "signal efficiency", "background rejection")


def rejection_against_jsd(
    axes: Axes,
    jsd: Any,
    rejection: Any,
    *,
    jsd_error: Any = None,
    rejection_error: Any = None,
    scan: Any = None,
    blind_jsd: float | None = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Background rejection against 1 / JSD of one method: points with errors; x is logarithmic.

    Parameters
    ----------
    axes : matplotlib Axes
    jsd : (k,) real numbers >= 0, or one
        Jensen-Shannon divergences of the mass spectra of background that passes and that
        does not. Points where it is 0 are not drawn.
    rejection : (k,) real numbers, or one
        1 / false positive rate, as a rule at 50 % signal efficiency: R50.
    jsd_error, rejection_error : (k,) real numbers >= 0, or one, optional
        Standard errors; that of 1 / JSD is jsd_error / JSD^2.
    scan : (k,) real numbers, optional
        A parameter of the method, its strength say: joins the points in its order.
    blind_jsd : float > 0, optional
        The JSD that a perfectly mass-blind selection of as many events has from their
        finite number alone. Draws the ceiling 1 / blind_jsd as a dotted line.
    label : str, optional
        For the legend.
    **style
        Of the points and their error bars, see ``Axes.errorbar``.

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
    >>> jsd, rejection, strength = [1e-2, 1e-3, 2e-4], [9.1, 8.0, 6.5], [10, 100, 1000]
    >>> style = {"scan": strength, "blind_jsd": 1e-4, "label": "MoDe[1]"}
    >>> axes = plots.rejection_against_jsd(Figure().subplots(), jsd, rejection, **style)
    >>> axes.get_xscale(), axes.get_legend_handles_labels()[1]
    ('log', ['mass-blind', 'MoDe[1]'])
    """
    at = _points(jsd=jsd, rejection=rejection, jsd_error=jsd_error, rejection_error=rejection_error, scan=scan)
    divergence, error = at["jsd"], at.get("jsd_error")
    not_negative("jsd", divergence)
    divergence = np.where(divergence > 0, divergence, np.nan)
    if blind_jsd is not None and not blind_jsd > 0:
        raise ValueError(f"blind_jsd = {blind_jsd}: expected a number > 0")
    axes.set_xscale("log")
    inverse_error = None if error is None else error / divergence**2
    _errorbar(axes, 1 / divergence, at["rejection"], inverse_error, at.get("rejection_error"), scan, label, style)
    if blind_jsd is not None:
        axes.axvline(1 / blind_jsd, color="black", ls=":", label="mass-blind")
    return labelled(axes, "1 / JSD", "background rejection")


def frontier(
    axes: Axes,
    residual: Any,
    quality: Any,
    *,
    quality_error: Any = None,
    scan: Any = None,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """What flatness costs: AUC or background rejection against the residual over what chance makes; x is logarithmic.

    Points further left are flatter, points further up separate better. The dotted line at 1 is a selection that
    does not depend on the mass.

    Parameters
    ----------
    axes : matplotlib Axes
    residual : (k,) real numbers > 0, or one
        ``rms / expected`` of :func:`libmode.metrics.flatness`.
    quality : (k,) real numbers, or one
        AUC or background rejection.
    quality_error : (k,) real numbers >= 0, or one, optional
        Standard errors.
    scan : (k,) real numbers, optional
        The strengths: they join the points in their order and are written beside them.
    label, **style
        As for :func:`rejection_against_jsd`.

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
    >>> strength, residual, auc = [1, 3, 10], [5.2, 2.9, 1.4], [0.91, 0.90, 0.88]
    >>> axes = plots.frontier(Figure().subplots(), residual, auc, scan=strength, label="fixed strength")
    >>> axes.get_xscale(), [text.get_text() for text in axes.texts]
    ('log', ['1', '3', '10'])
    """
    at = _points(residual=residual, quality=quality, quality_error=quality_error, scan=scan)
    for place, value in enumerate(at["residual"]):
        if value <= 0:
            raise ValueError(f"residual[{place}] = {value:g}: expected numbers > 0")
    axes.set_xscale("log")
    _errorbar(axes, at["residual"], at["quality"], None, at.get("quality_error"), scan, label, style)
    for x, y, value in zip(at["residual"], at["quality"], at.get("scan", ()), strict=False):
        if np.isfinite(x) and np.isfinite(y):
            axes.annotate(f"{value:g}", (x, y), (3, 3), textcoords="offset points", fontsize="x-small")
    if not any(line.get_gid() == "flat" for line in axes.lines):
        axes.axvline(1, color="black", ls=":", gid="flat")
    return labelled(axes, "residual over expected", "AUC or background rejection")


def _points(**given: Any) -> dict[str, NDArray[np.float64]]:
    """Arrays of one length, in order of ``scan``; without the errors and the scan that are None."""
    arrays = {
        name: numbers(name, [values] if np.isscalar(values) else values)
        for name, values in given.items()
        if values is not None or not name.endswith(("_error", "scan"))
    }
    first = next(iter(given))
    for name, array in arrays.items():
        same_length(name, array, first, arrays[first])
        if name.endswith("_error"):
            not_negative(name, array)
    if "scan" in arrays:
        order = np.argsort(arrays["scan"], kind="stable")
        arrays = {name: array[order] for name, array in arrays.items()}
    return arrays


def _errorbar(
    axes: Axes, x: Any, y: Any, x_error: Any, y_error: Any, scan: Any, label: str | None, style: dict[str, Any]
) -> None:
    defaults = {"marker": "o", "linestyle": "none" if scan is None else "-"}
    axes.errorbar(x, y, y_error, x_error, label=label, **defaults | normalize_kwargs(style, Line2D))
