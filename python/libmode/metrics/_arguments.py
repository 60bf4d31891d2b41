"""Checks of what the metrics are given, and the bins of mass."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import vector
from .._front import same_length


def numbers(name: str, values: Any, like_name: str = "", like: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Finite numbers of shape (n,), n > 0, as many as ``like`` has."""
    array = vector(name, values)
    if like is not None:
        same_length(name, array, like_name, like)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: expected at least one event")
    array = array.astype(np.float64, copy=False)
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise ValueError(f"{name}[{place}] = {array[place]}: expected a finite number")
    return array


def weights(weight: Any, like_name: str, like: NDArray[Any]) -> NDArray[np.float64]:
    """Ones by default."""
    return np.ones(len(like)) if weight is None else numbers("weight", weight, like_name, like)


def yes_or_no(name: str, values: Any, meaning: str, like_name: str, like: NDArray[Any]) -> NDArray[np.bool_]:
    """What is 1, of numbers that are 0 or 1, or booleans."""
    array = numbers(name, values, like_name, like)
    bad = (array != 0) & (array != 1)
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(f"{name}[{place}] = {array[place]:g}: expected {meaning}")
    chosen: NDArray[np.bool_] = array == 1
    return chosen


def whole(name: str, value: Any, least: int) -> int:
    """An integer that is not below ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} = {value!r}: expected an integer")
    if value < least:
        raise ValueError(f"{name} = {value}: expected at least {least}")
    return int(value)


def number(name: str, value: Any, low: float = -np.inf, high: float = np.inf) -> float:
    """A finite number above ``low`` and up to ``high``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r}: expected a number")
    if not (low < float(value) <= high and np.isfinite(float(value))):
        limits = [f"above {low:g}"] * (low > -np.inf) + [f"at most {high:g}"] * (high < np.inf)
        raise ValueError(f"{name} = {value}: expected a finite number {' and '.join(limits)}".rstrip())
    return float(value)


def _equal(bins: Any, mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of so many bins from the lowest to the highest mass."""
    low, high = float(np.min(mass)), float(np.max(mass))
    if low == high:
        raise ValueError(f"bins = {bins!r} between the lowest and the highest mass, and every mass is {low:g}")
    return np.linspace(low, high, whole("bins", bins, 1) + 1)


class Bins:
    """Bins of mass: each holds its lower edge, the last one its upper edge too."""

    def __init__(self, bins: Any, mass: NDArray[np.float64]) -> None:
        self.edges = numbers("bins", bins) if np.ndim(bins) else _equal(bins, mass)
        self.count = len(self.edges) - 1
        if self.count == 0:
            raise ValueError("bins has one edge: expected at least two")
        falls = np.diff(self.edges) <= 0
        if falls.any():
            place = int(np.argmax(falls)) + 1
            before, here = self.edges[place - 1], self.edges[place]
            raise ValueError(f"bins[{place}] = {here:g} after {before:g}: expected edges that increase")

    @property
    def centres(self) -> NDArray[np.float64]:
        return (self.edges[1:] + self.edges[:-1]) / 2

    def find(self, mass: NDArray[np.float64]) -> NDArray[np.intp]:
        """The bin of each event, -1 for those outside."""
        place = np.searchsorted(self.edges, mass, "right") - 1
        place[mass == self.edges[-1]] = self.count - 1
        place[mass > self.edges[-1]] = -1
        if (place < 0).all():
            raise ValueError(
                f"mass has no event inside bins, {self.edges[0]:g} to {self.edges[-1]:g}: "
                f"it goes from {np.min(mass):g} to {np.max(mass):g}"
            )
        return place

    def name(self, place: int) -> str:
        """As errors call a bin."""
        end = "]" if place == self.count - 1 else ")"
        return f"bin {place}, [{self.edges[place]:g}, {self.edges[place + 1]:g}{end}"

    def sums(self, place: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the events of each bin; ``place`` has no -1."""
        # Unlike np.histogram, which subtracts cumulative sums, this rounds nothing into bins of no weight.
        return np.bincount(place, values, self.count).astype(np.float64, copy=False)
