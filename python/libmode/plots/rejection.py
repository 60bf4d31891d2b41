"""Background rejection, and separation against flatness."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D

from .._read import of_one_index, refuse, same_length
from ._data import fields, labeled, numbers


def roc(axes: Axes, roc: Any, *, label: str | None = None, **style: Any) -> Axes:
    """Background rejection, 1 / false positive rate, against signal efficiency; y is logarithmic.

    Parameters
    ----------
    axes, label, **style
        As for :func:`efficiency`; ``style`` has the properties of a Line2D.
    roc : what :func:`libmode.metrics.roc` returns, or (signal_efficiency, false_positive_rate)
        Arrays (k,). Points where no background passes are not drawn.

    Returns
    -------
    matplotlib Axes
        The given ones.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> curve = metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> axes = plots.roc(Figure().subplots(), curve, label="MoDe[1]", ls="--")
    >>> axes.get_yscale()
    'log'
    """
    kept, rate = fields("roc", roc, ("signal_efficiency", "false_positive_rate"))
    same_length("roc.false_positive_rate", rate, "roc.signal_efficiency", kept)
    rejection = np.full(len(rate), np.nan)
    np.divide(1, rate, out=rejection, where=rate > 0)
    axes.plot(kept, rejection, label=label, **style)
    axes.set_yscale("log")
    return labeled(axes, "signal efficiency", "background rejection")


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
    """The cost of flatness: AUC or background rejection against the residual over its expectation; x is logarithmic.

    Points further left are flatter, points further up separate better. The dotted line at 1 is a selection that
    does not depend on the mass.

    Parameters
    ----------
    axes, label, **style
        As for :func:`efficiency`; ``style`` has the arguments of ``Axes.errorbar``.
    residual : (k,) real numbers > 0, or one
        ``rms / expected`` of :func:`libmode.metrics.flatness`.
    quality : (k,) real numbers, or one
        AUC or background rejection.
    quality_error : (k,) real numbers >= 0, or one, optional
        Standard errors.
    scan : (k,) real numbers, optional
        The strengths. They order and label the points of a line.

    Returns
    -------
    matplotlib Axes
        The given ones.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import plots
    >>> strength, residual, auc = [1, 3, 10], [5.2, 2.9, 1.4], [0.91, 0.90, 0.88]
    >>> style = {"quality_error": [0.01, 0.01, 0.01], "scan": strength, "label": "fixed strength"}
    >>> axes = plots.frontier(Figure().subplots(), residual, auc, **style)
    >>> axes.get_xscale(), [text.get_text() for text in axes.texts]
    ('log', ['1', '3', '10'])
    """
    columns = {"residual": residual, "quality": quality}
    columns |= {
        name: values for name, values in (("quality_error", quality_error), ("scan", scan)) if values is not None
    }
    of_one_index(columns)
    at = {name: numbers(name, [values] if np.isscalar(values) else values) for name, values in columns.items()}
    for name, array in at.items():
        same_length(name, array, "residual", at["residual"])
    for name, bad, expected in (("quality_error", np.less, ">= 0"), ("residual", np.less_equal, "> 0")):
        array = at.get(name, np.empty(0))
        refuse(name, array, bad(array, 0), f"numbers {expected}")
    if scan is not None:
        order = np.argsort(at["scan"], kind="stable")
        at = {name: array[order] for name, array in at.items()}
    defaults = {"marker": "o", "linestyle": "none" if scan is None else "-", "label": label}
    axes.set_xscale("log")
    axes.errorbar(at["residual"], at["quality"], at.get("quality_error"), **defaults | normalize_kwargs(style, Line2D))
    for x, y, value in zip(at["residual"], at["quality"], at.get("scan", ()), strict=False):
        if np.isfinite(x) and np.isfinite(y):
            axes.annotate(f"{value:g}", (x, y), (3, 3), textcoords="offset points", fontsize="x-small")
    if not any(line.get_gid() == "flat" for line in axes.lines):
        axes.axvline(1, color="black", ls=":", gid="flat")
    return labeled(axes, "residual over expected", "AUC or background rejection")
