"""Losses by epoch, and what the MoDe loss is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import normalize_kwargs
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from .._front import same_length
from .._functions import Moments
from ._data import labelled, numbers


def losses(axes: Axes, training: Any, *, validation: Any = None, label: str | None = None, **style: Any) -> Axes:
    """Losses by epoch, counted from 1: training full, validation dashed in the same colour.

    Parameters
    ----------
    axes : matplotlib Axes
    training : (epochs,) real numbers, or a mapping of names to them
        The loss after each epoch, or its components by name, each a line of its own.
    validation : as ``training``, optional
        The same on validation events; of the components, those that there are.
    label : str, optional
        For the legend, before the name of a component.
    **style
        Of the lines, Line2D.

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
    >>> training = {"cross entropy": [0.60, 0.52, 0.50], "MoDe": [0.002, 0.001, 0.001]}
    >>> axes = plots.losses(Figure().subplots(), training, validation={"cross entropy": [0.61, 0.54, 0.53]})
    >>> len(axes.lines), axes.get_legend_handles_labels()[1]
    (3, ['cross entropy', 'cross entropy, validation', 'MoDe'])
    """
    seen = _components("training", training)
    held_out = {} if validation is None else _components("validation", validation)
    for name, loss in held_out.items():
        if name not in seen:
            raise ValueError(f"{_place('validation', name)} has no counterpart in training")
        same_length(_place("validation", name), loss, _place("training", name), seen[name])
    style = normalize_kwargs(style, Line2D)
    for name, loss in seen.items():
        words = _joined(label, name)
        epoch = np.arange(1, len(loss) + 1)
        (line,) = axes.plot(epoch, loss, label=words or "training", **style)
        if name in held_out:
            dashed = style | {"color": line.get_color(), "linestyle": "--"}
            axes.plot(epoch, held_out[name], label=_joined(words and f"{words},", "validation"), **dashed)
    return labelled(axes, "epoch", "loss")


def moments(
    axes: Axes,
    moments: Moments,
    *,
    degrees: Iterable[int] | None = None,
    bounded: bool = False,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Legendre moments c_l(s) of the cumulative distributions in mass, a line for each degree l.

    Parameters
    ----------
    axes : matplotlib Axes
    moments : libmode.Moments
        From :func:`libmode.mode_moments`.
    degrees : ints, optional
        The degrees l to draw, 0 to the order of ``moments``; by default all. c_0 is the
        fraction of events below the score, and most often much larger than the others.
    bounded : bool, default False
        Also draws c~_l(s), what ``max_slope`` or ``monotonic`` makes of them, dashed.
    label : str, optional
        For the legend, before the name of a moment.
    **style
        Of the lines, Line2D.

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
    >>> from libmode import mode_moments, plots
    >>> rng = np.random.default_rng(1)
    >>> found = mode_moments(rng.random(10_000), rng.exponential(60, 10_000), order=2)
    >>> axes = plots.moments(Figure().subplots(), found, degrees=[1, 2])
    >>> len(axes.lines), axes.get_xlabel()
    (2, 'score $s$')
    """
    if not isinstance(moments, Moments):
        raise TypeError(f"moments is {moments!r:.80}: expected what libmode.mode_moments returns")
    order = moments.moments.shape[1] - 1
    style = normalize_kwargs(style, Line2D)
    for degree in range(order + 1) if degrees is None else degrees:
        if degree not in range(order + 1):
            raise ValueError(f"degrees has {degree}: expected 0 to {order}, the order of moments")
        name = _joined(label, f"$c_{{{degree}}}$")
        (line,) = axes.plot(moments.at, moments.moments[:, degree], label=name, **style)
        if bounded:
            name = _joined(label, rf"$\tilde{{c}}_{{{degree}}}$")
            dashed = style | {"color": line.get_color(), "linestyle": "--"}
            axes.plot(moments.at, moments.bounded[:, degree], label=name, **dashed)
    return labelled(axes, "score $s$", "$c_l(s)$")


def _components(argument: str, given: Any) -> dict[str, NDArray[np.float64]]:
    if isinstance(given, Mapping):
        return {name: numbers(_place(argument, name), values) for name, values in given.items()}
    return {"": numbers(argument, given)}


def _place(argument: str, name: str) -> str:
    return f"{argument}[{name!r}]" if name else argument


def _joined(*words: str | None) -> str:
    return " ".join(filter(None, words))
