"""Background rejection."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._read import same_length
from ._data import fields, labeled


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
