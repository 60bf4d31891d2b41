"""Bins of mass: intervals of one variable, cells of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from .._functions import mode_edges
from .._problems import say_if_far
from .._read import numbers, refuse, whole

Doubles = NDArray[np.float64]
Edges = Doubles | tuple[Doubles, ...]  # of one mass, or of several
USUAL_BINS = 20


class Bins:
    """Bins of one mass or, numbered along the last mass first, cells of the grid in several masses, (n, d).

    ``bins`` are edges, or the number of bins with equal numbers of events, 20 if it is None. With d > 1 masses they are
    a number, or d entries, and ``mass_range`` has d pairs.
    """

    def __init__(self, bins: Any, mass: Doubles, mass_range: Any = None) -> None:
        d = mass.shape[1]
        bins = USUAL_BINS if bins is None else bins
        entries = list(bins) if d > 1 and hasattr(bins, "__len__") else [bins] * d
        if len(entries) != d:
            raise ValueError(
                f"bins has length {len(entries)}: expected an integer, or {d} entries, one for each column of mass"
            )
        ranges = mass_range if d > 1 and mass_range is not None else [mass_range] * d
        self.axes = []
        for k, axis in enumerate(zip(entries, mass.T, ranges, strict=True)):
            names = ("bins", "mass") if d == 1 else (f"bins[{k}]", f"mass[:, {k}]")
            self.axes.append(_edges(*axis, *names))
        self.shape = tuple(len(edges) - 1 for edges in self.axes)
        self.count = int(np.prod(self.shape))

    def find(self, mass: Doubles) -> NDArray[np.intp]:
        """The bin of each event, (n, d), and -1 for those outside."""
        places = []
        for edges, values in zip(self.axes, mass.T, strict=True):
            place = np.searchsorted(edges, values, "right") - 1
            place[values == edges[-1]] = len(edges) - 2
            place[values > edges[-1]] = -1
            places.append(place)
        inside = np.min(places, axis=0) >= 0
        if not inside.any():
            ranges = " x ".join(f"[{edges[0]:g}, {edges[-1]:g}]" for edges in self.axes)
            raise ValueError(f"mass has no event inside bins, {ranges}")
        return np.where(inside, np.ravel_multi_index(places, self.shape, mode="clip"), -1)

    def polynomials(self, mass: Doubles, order: int) -> Doubles:
        """Products of Legendre polynomials of masses scaled to [-1, 1], (terms, n), in ascending total degree."""
        low, high = np.transpose([edges[[0, -1]] for edges in self.axes])
        factors = legvander((2 * mass - low - high) / (high - low), order)
        powers = sorted((p for p in np.ndindex(*[order + 1] * mass.shape[1]) if sum(p) <= order), key=sum)
        return np.array([np.prod([factors[:, k, p] for k, p in enumerate(each)], axis=0) for each in powers])


def _edges(bins: Any, mass: Doubles, mass_range: Any, name: str, mass_name: str) -> Doubles:
    """Increasing edges: ``bins`` themselves, or the edges of this number of bins with equal numbers of events."""
    if np.ndim(bins) == 0:
        count = whole(name, bins, 2)
        if np.min(mass) == np.max(mass):
            raise ValueError(f"{name} = {bins!r} from the lowest to the highest {mass_name}, but all are {mass[0]:g}")
        if mass_range is None:
            say_if_far(mass, "mass_range")
        return mode_edges(mass, bins=count, mass_range=mass_range)
    if mass_range is not None:
        raise TypeError(f"mass_range and edges as {name} both say which masses count: give one of them")
    edges = numbers(name, bins)
    if mass.dtype == np.float32:  # a mass on a limit lies inside, as in the loss
        edges = edges.astype(np.float32).astype(np.float64)
    if len(edges) == 1:
        raise ValueError(f"{name} has one edge: expected at least two")
    refuse(name, edges, np.diff(edges, prepend=-np.inf) <= 0, "edges that increase")
    return edges


def sums(place: NDArray[np.intp], values: Doubles, count: int) -> Doubles:
    """The sums of the values at each of ``count`` places, (count,)."""
    # Unlike np.histogram, which subtracts cumulative sums, this rounds nothing into bins of no weight.
    return np.bincount(place, values, count).astype(np.float64, copy=False)
