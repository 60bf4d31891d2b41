"""Predicted over seen background of the ABCD method against how tight the cuts are."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D

from ._data import finite, labeled


def closure(axes: Axes, closure: Any, *, label: str | None = None, **style: Any) -> Axes:
    """The ratio of predicted to seen background where both cuts keep as much, with errors; x is logarithmic.

    Parameters
    ----------
    axes, label, **style
        As for :func:`efficiency`; the style is that of ``Axes.errorbar``.
    closure : what :func:`libmode.metrics.closure` returns

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
    if not all(hasattr(closure, name) for name in ("fractions", "ratio", "error")):
        raise TypeError(f"closure is {type(closure).__name__}: expected what libmode.metrics.closure returns")
    ratio, error = closure.ratio.diagonal(), finite(closure.error.diagonal())
    defaults = {"marker": "o", "linestyle": "none"}
    axes.errorbar(closure.fractions, ratio, error, label=label, **defaults | normalize_kwargs(style, Line2D))
    axes.set_xscale("log")
    if not any(line.get_gid() == "closes" for line in axes.lines):
        axes.axhline(1, color="black", ls=":", gid="closes")
    return labeled(axes, "fraction of the background in A", "predicted / seen background")
