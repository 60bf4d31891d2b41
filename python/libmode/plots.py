"""ROC curves, with matplotlib. :meth:`libmode.metrics.Check.plot` draws what a check sees."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["roc"]


def roc(axes: Any, roc: Any, *, label: str | None = None, **style: Any) -> Any:
    """Background rejection, 1 / false positive rate, against signal efficiency; y is logarithmic.

    Parameters
    ----------
    axes : matplotlib Axes
        It gets the labels that it lacks.
    roc : what :func:`libmode.metrics.roc` returns, or (signal_efficiency, false_positive_rate)
        Arrays (k,). Points where no background passes are not drawn.
    label : str, optional
        For the legend.
    **style
        Of the line, a Line2D.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> curve = metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> axes = plots.roc(Figure().subplots(), curve, label="MoDe[1]", ls="--")
    >>> axes.get_yscale()
    'log'
    """
    kept, rate = (roc.signal_efficiency, roc.false_positive_rate) if hasattr(roc, "false_positive_rate") else roc
    rate = np.asarray(rate, float)
    axes.plot(np.asarray(kept), 1 / np.where(rate > 0, rate, np.nan), label=label, **style)
    axes.set(xlabel=axes.get_xlabel() or "signal efficiency", ylabel=axes.get_ylabel() or "background rejection")
    axes.set_yscale("log")
    return axes
