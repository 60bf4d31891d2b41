"""Arrays of the user, and labels of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from .._read import of_one_index, refuse, vector


def numbers(name: str, values: Any) -> NDArray[np.float64]:
    return vector(name, values).astype(np.float64)


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, with NaN, which is a gap, in the place of infinite ones."""
    return np.where(np.isfinite(values), values, np.nan)


def fields(argument: str, values: Any, names: tuple[str, ...]) -> list[NDArray[np.float64]]:
    """Arrays of these names, which are attributes or a tuple in this order; an error must not be negative."""
    if all(hasattr(values, name) for name in names):
        values = [getattr(values, name) for name in names]
    if not isinstance(values, (tuple, list)) or len(values) != len(names):
        raise TypeError(
            f"{argument} is {values!r:.80}: expected the attributes {', '.join(names)}, or a tuple of these"
        )
    of_one_index({f"{argument}.{name}": each for name, each in zip(names, values, strict=True) if name != "edges"})
    arrays = {name: numbers(f"{argument}.{name}", each) for name, each in zip(names, values, strict=True)}
    if "error" in arrays:
        refuse(f"{argument}.error", arrays["error"], arrays["error"] < 0, "numbers >= 0")
    return list(arrays.values())


def labeled(axes: Axes, x: str, y: str) -> Axes:
    """Sets the labels that the axes lack."""
    if not axes.get_xlabel():
        axes.set_xlabel(x)
    if not axes.get_ylabel():
        axes.set_ylabel(y)
    return axes
