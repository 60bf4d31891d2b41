"""ROC curves, with matplotlib. :meth:`libmode.metrics.Check.plot` draws what a check sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._read import of_one_index, vector

__all__ = ["roc"]
FIELDS = ("signal_efficiency", "false_positive_rate")


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

    Returns
    -------
    matplotlib Axes
        The given ones.

    Raises
    ------
    ValueError, TypeError
        For arrays that do not fit each other, and values that are not real numbers.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from libmode import metrics, plots
    >>> curve = metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> axes = plots.roc(Figure().subplots(), curve, label="MoDe[1]", ls="--")
    >>> axes.get_yscale()
    'log'
    """
    pair = [getattr(roc, name) for name in FIELDS] if hasattr(roc, FIELDS[0]) else roc
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(
            f"roc is {roc!r:.80}: expected a curve of libmode.metrics.roc, or a tuple of {', '.join(FIELDS)}"
        )
    arrays = dict(zip(FIELDS, pair, strict=True))
    of_one_index(arrays)
    kept, rate = (vector(f"roc.{name}", values).astype(np.float64) for name, values in arrays.items())
    if len(kept) != len(rate):
        raise ValueError(f"roc.{FIELDS[1]} has length {len(rate)}, but roc.{FIELDS[0]} has length {len(kept)}")
    rejection = np.full(len(rate), np.nan)
    np.divide(1, rate, out=rejection, where=rate > 0)
    axes.plot(kept, rejection, label=label, **style)
    axes.set_yscale("log")
    axes.set_xlabel(axes.get_xlabel() or "signal efficiency")
    axes.set_ylabel(axes.get_ylabel() or "background rejection")
    return axes
