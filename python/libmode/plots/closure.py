"""Predicted over seen background of the ABCD method against how tight the cuts are."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D

from ._data import labelled


def closure(axes: Axes, closure: Any, *, label: str | None = None, **style: Any) -> Axes:
    """The ratio of predicted to seen background where both cuts keep as much, with errors; x is logarithmic.

    Parameters
    ----------
    axes : matplotlib Axes
    closure : what :func:`libmode.metrics.closure` returns
        Pairs of cuts at which nothing is seen are not drawn.
    label : str, optional
        For the legend.
    **style
        Of the points and their error bars, see ``Axes.errorbar``.

    Returns
    -------
    axes

    Raises
    ------
    TypeError
        For anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> first, second = np.random.default_rng(1).random((2, 100_000))
    >>> found = metrics.closure(first, second, np.zeros(100_000))
    >>> axes = plots.closure(Figure().subplots(), found, label="independent", marker="s")
    >>> axes.get_ylabel()
    'predicted / seen background'
    """
    names = ("fractions", "ratio", "error")
    if not all(hasattr(closure, name) for name in names):
        raise TypeError(f"closure is {type(closure).__name__}: expected what libmode.metrics.closure returns")
    error = np.where(np.isfinite(closure.error), closure.error, np.nan).diagonal()
    defaults = {"marker": "o", "linestyle": "none"}
    axes.errorbar(
        closure.fractions,
        closure.ratio.diagonal(),
        error,
        label=label,
        **defaults | normalize_kwargs(style, Line2D),
    )
    axes.set_xscale("log")
    if not any(line.get_gid() == "closes" for line in axes.lines):
        axes.axhline(1, color="black", ls=":", gid="closes")
    return labelled(axes, "fraction of the background in A", "predicted / seen background")
