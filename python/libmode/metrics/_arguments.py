"""Checks of what the metrics are given, and the bins of mass: intervals of one variable, cells of several."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import read, vector
from .._far_masses import say_if_far
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


def variables(mass: Any, like_name: str, like: NDArray[Any], count: int | None = None) -> NDArray[np.float64]:
    """Finite masses of shape (n, d), as many events as ``like`` has; (n,) becomes (n, 1).

    count : the number d of variables that there have to be; None for any, at least one
    """
    array = read("mass", mass)
    if array.ndim == 1 and count is None:
        return numbers("mass", array, like_name, like)[:, None]
    if array.ndim != 2 or array.shape[1] == 0 or count not in (None, array.shape[1]):
        wanted = "(n,) or (n, d)" if count is None else f"(n, {count})"
        raise ValueError(f"mass has shape {array.shape}: expected {wanted}")
    same_length("mass", array, like_name, like)
    array = array.astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        event, variable = bad[0].tolist()
        raise ValueError(f"mass[{event}, {variable}] = {array[event, variable]}: expected a finite number")
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


def _equal(name: str, bins: Any, mass_name: str, mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of so many bins from the lowest to the highest mass."""
    low, high = float(np.min(mass)), float(np.max(mass))
    if low == high:
        raise ValueError(
            f"{name} = {bins!r} between the lowest and the highest {mass_name}, and every {mass_name} is {low:g}"
        )
    count = whole(name, bins, 1)
    say_if_far(mass, f"{name} as edges")
    return np.linspace(low, high, count + 1)


class Bins:
    """Bins of mass: each holds its lower edge, the last one its upper edge too.

    ``name`` and ``mass_name`` are what errors call the arguments.
    """

    def __init__(self, bins: Any, mass: NDArray[np.float64], name: str = "bins", mass_name: str = "mass") -> None:
        self._names = name, mass_name
        self.edges = numbers(name, bins) if np.ndim(bins) else _equal(name, bins, mass_name, mass)
        self.count = len(self.edges) - 1
        if self.count == 0:
            raise ValueError(f"{name} has one edge: expected at least two")
        falls = np.diff(self.edges) <= 0
        if falls.any():
            place = int(np.argmax(falls)) + 1
            before, here = self.edges[place - 1], self.edges[place]
            raise ValueError(f"{name}[{place}] = {here:g} after {before:g}: expected edges that increase")

    @property
    def centres(self) -> NDArray[np.float64]:
        return (self.edges[1:] + self.edges[:-1]) / 2

    def find(self, mass: NDArray[np.float64]) -> NDArray[np.intp]:
        """The bin of each event, -1 for those outside."""
        place = np.searchsorted(self.edges, mass, "right") - 1
        place[mass == self.edges[-1]] = self.count - 1
        place[mass > self.edges[-1]] = -1
        if (place < 0).all():
            name, mass_name = self._names
            raise ValueError(
                f"{mass_name} has no event inside {name}, {self.edges[0]:g} to {self.edges[-1]:g}: "
                f"it goes from {np.min(mass):g} to {np.max(mass):g}"
            )
        return place

    def interval(self, place: int) -> str:
        """As errors write the range of a bin."""
        end = "]" if place == self.count - 1 else ")"
        return f"[{self.edges[place]:g}, {self.edges[place + 1]:g}{end}"

    def name(self, place: int) -> str:
        """As errors call a bin."""
        return f"bin {place}, {self.interval(place)}"

    def sums(self, place: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the events of each bin; ``place`` has no -1."""
        return sums(place, values, self.count)


class Cells:
    """Cells of a grid in d masses, numbered along the last one first: products of :class:`Bins`.

    bins : how many bins each variable has, or d of what :class:`Bins` takes
    mass : (n, d)
    """

    def __init__(self, bins: Any, mass: NDArray[np.float64]) -> None:
        d = mass.shape[1]
        each = list(bins) if hasattr(bins, "__len__") else [bins] * d
        if len(each) != d:
            raise ValueError(
                f"bins has length {len(each)}: expected an integer, or {d} entries, one for each column of mass"
            )
        self.axes = [Bins(own, mass[:, k], f"bins[{k}]", f"mass[:, {k}]") for k, own in enumerate(each)]
        self.shape = tuple(axis.count for axis in self.axes)
        self.count = int(np.prod(self.shape))

    def find(self, mass: NDArray[np.float64]) -> NDArray[np.intp]:
        """The cell of each event, -1 for those outside."""
        places = np.array([axis.find(mass[:, k]) for k, axis in enumerate(self.axes)])
        inside = (places >= 0).all(axis=0)
        if not inside.any():
            raise ValueError("mass has no event inside bins: none is inside those of all its columns at once")
        found = np.full(len(mass), -1, np.intp)
        found[inside] = np.ravel_multi_index(tuple(places[:, inside]), self.shape)
        return found

    def name(self, place: int) -> str:
        """As errors call a cell."""
        index = [int(k) for k in np.unravel_index(place, self.shape)]
        ranges = " x ".join(axis.interval(k) for axis, k in zip(self.axes, index, strict=True))
        return f"cell ({', '.join(map(str, index))}), {ranges}"

    def sums(self, place: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the events of each cell, (count,); ``place`` has no -1."""
        return sums(place, values, self.count)


def bins_or_cells(bins: Any, mass: NDArray[np.float64]) -> tuple[Bins | Cells, NDArray[np.intp]]:
    """The bins of one mass, (n, 1), or the cells of several, and where each event is, -1 for outside."""
    if mass.shape[1] == 1:
        intervals = Bins(bins, mass[:, 0])
        return intervals, intervals.find(mass[:, 0])
    cells = Cells(bins, mass)
    return cells, cells.find(mass)


def sums(place: NDArray[np.intp], values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """The sums of the values at each of so many places, (count,)."""
    # Unlike np.histogram, which subtracts cumulative sums, this rounds nothing into bins of no weight.
    return np.bincount(place, values, count).astype(np.float64, copy=False)


def positive_sums(
    bins: Bins | Cells, place: NDArray[np.intp], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The sum of weights and the number of events of each bin; ValueError for events without a positive sum."""
    total, counts = bins.sums(place, weight), np.bincount(place, minlength=bins.count)
    positive(bins, total, counts > 0)
    return total, counts


def positive(bins: Bins | Cells, total: NDArray[np.float64], filled: NDArray[np.bool_]) -> None:
    """Raises ValueError for the first of the bins that have events of which the sum of weights is not positive."""
    bad = filled & (total <= 0)
    if bad.any():
        worst = int(np.argmax(bad))
        raise ValueError(
            f"weight sums to {total[worst]:g} over the events in {bins.name(worst)}: "
            "expected a positive sum; use wider bins"
        )
