"""The sums that stand for the events, however many: over cells of score and mass, and over bins of mass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import read
from .._front import Events, events_of
from .._limits import name_of, outwards
from .finder import Finder
from .settings import Settings

Doubles = NDArray[np.float64]

#: Events that are looked at together: their intermediate arrays stay in the cache of a core.
BLOCK = 1 << 16
# The sum of so large weights to the third power is still finite.
_LARGEST = 1e90
_LARGEST_MASS = np.finfo(np.float64).max
# Polynomials are added as integers, in units of 2^-23, and what that rounds off in units of 2^-53: the sums of
# 10^12 events are exact, and so the same in any order.
_COARSE, _FINE = 2.0**23, 2.0**30


def legendre(x: Doubles, order: int) -> list[Doubles]:
    """The Legendre polynomials of degree 1 to ``order`` at x, each of its shape."""
    found = [np.ones_like(x), x]
    for degree in range(1, order):
        found.append(((2 * degree + 1) * x * found[degree] - degree * found[degree - 1]) / (degree + 1))
    return found[1 : order + 1]


class Tables:
    """Sums over the events that were added.

    The rows of ``weight``, ``square`` and ``negative`` are the bins of mass, background outside of them, and signal;
    the columns are cells of score, from the lowest on.
    """

    def __init__(self, given: Settings) -> None:
        self.given = given
        self.rows = given.bins + 2
        self.added = 0  #: events that were given, those of other labels too
        self.counts = np.zeros(self.rows, np.int64)  #: (rows,) of events
        self.weight = np.zeros((self.rows, given.scores))  #: of the weights of each cell
        self.square: Doubles | None = None  #: of their squares; None where every weight is 1
        self.negative: Doubles | None = None  #: of the sizes of those below 0; None where there are none
        self.cubes = np.zeros(given.bins)  #: (bins,) of their third powers
        self.exact = np.zeros((2, given.bins, given.order), np.int64)  #: of polynomials, of events without weights
        self.rounded = np.zeros((given.bins, given.order))  #: of weights times polynomials
        self._finder = Finder(given.edges)

    def polynomials(self) -> Doubles:
        """The sums of the weights times P_l(x), l = 0..order, (bins, order + 1)."""
        exact = (self.exact[0] + self.exact[1] / _FINE) / _COARSE
        total = self.weight[: self.given.bins].sum(axis=1)
        return np.column_stack([total, exact + self.rounded])

    def add(self, score: Any, mass: Any, weight: Any, label: Any) -> None:
        """Adds events, all or, where one of them is bad, none."""
        events = events_of(read, score, mass, weight, label)
        if events.mass.ndim != 1:
            raise ValueError(f"mass has shape {events.mass.shape}: an accumulator is for one variable of mass")
        n = len(events.score)
        for add in (self._check, self._add):
            for start in range(0, n, BLOCK):
                add(events.where(slice(start, start + BLOCK)), start)
        self.added += n

    def _limits(self, events: Events) -> tuple[tuple[float, float], tuple[float, float]]:
        """Those of score and mass, rounded outwards to the types of the arrays."""
        low, high = self.given.score_range
        first, last = self.given.edges[0], self.given.edges[-1]
        return (
            outwards(low, high, name_of(events.score.dtype)),
            outwards(first, last, name_of(events.mass.dtype)),
        )

    def _check(self, events: Events, start: int) -> None:
        """Raises ValueError for the first bad value of a block that begins at this place of what is added."""
        background: NDArray[np.bool_] | None = None
        used: NDArray[np.bool_] | None = None
        if events.label is not None:
            background = events.label == self.given.background_label
            used = background | (events.label == self.given.signal_label)
        low, high = self._limits(events)[0]
        asked = f"a number inside score_range = [{self.given.score_range[0]:g}, {self.given.score_range[1]:g}]"
        self._within("score", events.score, used, start, low, high, asked)
        if self.given.missing == "ignore":
            there = ~np.isnan(events.mass)
            background = there if background is None else background & there
        self._within("mass", events.mass, background, start, -_LARGEST_MASS, _LARGEST_MASS, "a finite number")
        if events.weight is not None:
            asked = f"a finite number, of at most {_LARGEST:g} in size"
            self._within("weight", events.weight, used, start, -_LARGEST, _LARGEST, asked)

    def _within(
        self,
        name: str,
        values: NDArray[Any],
        used: NDArray[np.bool_] | None,
        start: int,
        low: float,
        high: float,
        asked: str,
    ) -> None:
        """Raises ValueError for the first of those that are used which is not from low to high."""
        looked_at = values if used is None else values[used]
        if len(looked_at) == 0 or (low <= float(looked_at.min()) and float(looked_at.max()) <= high):
            return
        numbers = values.astype(np.float64)
        bad = ~((numbers >= low) & (numbers <= high))
        first = int(np.argmax(bad if used is None else bad & used))
        place = start + first
        raise ValueError(
            f"{name}[{place}] = {float(values[first]):g}, number {self.added + place} of all events that were added: "
            f"expected {asked}"
        )

    def _add(self, events: Events, start: int) -> None:
        """Adds a block that was checked."""
        if events.label is None:
            self._add_background(events)
            return
        self._add_background(events.where(events.label == self.given.background_label))
        signal = events.where(events.label == self.given.signal_label)
        self._add_to_rows(np.full(len(signal.score), self.rows - 1), signal.score, signal.weight)

    def _add_background(self, events: Events) -> None:
        given = self.given
        mass = events.mass.astype(np.float64, copy=False)
        low, high = self._limits(events)[1]
        inside = (mass >= low) & (mass <= high)
        if inside.all():
            row = self._finder.find(mass)
            self._add_to_bins(row, mass, events.weight)
        else:
            row = np.full(len(mass), given.bins)
            row[inside] = self._finder.find(mass[inside])
            self._add_to_bins(row[inside], mass[inside], None if events.weight is None else events.weight[inside])
        self._add_to_rows(row, events.score, events.weight)

    def _add_to_bins(self, place: NDArray[np.intp], mass: Doubles, weight: NDArray[Any] | None) -> None:
        """What is kept for each bin, whatever the scores."""
        given = self.given
        low, high = given.edges[0], given.edges[-1]
        weigh = None if weight is None else weight.astype(np.float64, copy=False)
        self.cubes += np.bincount(place, None if weigh is None else weigh * weigh * weigh, given.bins)
        if not given.order:
            return
        for k, values in enumerate(legendre(((mass - low) - (high - mass)) / (high - low), given.order)):
            if weigh is not None:
                self.rounded[:, k] += np.bincount(place, weigh * values, given.bins)
                continue
            values = values * _COARSE
            coarse = np.rint(values)
            fine = np.rint((values - coarse) * _FINE)
            sums = np.bincount(place, fine, given.bins).astype(np.int64) + self.exact[1, :, k]
            carried = sums >> 30
            self.exact[0, :, k] += np.bincount(place, coarse, given.bins).astype(np.int64) + carried
            self.exact[1, :, k] = sums - (carried << 30)

    def _add_to_rows(self, row: NDArray[np.intp], score: NDArray[Any], weight: NDArray[Any] | None) -> None:
        """What is kept for each cell of score."""
        cells = self.given.scores
        low, high = self.given.score_range
        place = (score.astype(np.float64, copy=False) - low) / (high - low) * cells
        cell = place.astype(np.intp)
        np.clip(cell, 0, cells - 1, out=cell)
        cell += row * cells
        self.counts += np.bincount(row, minlength=self.rows)
        if weight is None:
            np.add.at(self.weight.reshape(-1), cell, 1.0)
            if self.square is not None:
                np.add.at(self.square.reshape(-1), cell, 1.0)
            return
        square = self._squares()
        weigh = weight.astype(np.float64, copy=False)
        np.add.at(self.weight.reshape(-1), cell, weigh)
        np.add.at(square.reshape(-1), cell, weigh * weigh)
        below = np.flatnonzero(weigh < 0)
        if len(below):
            if self.negative is None:
                self.negative = np.zeros_like(self.weight)
            np.add.at(self.negative.reshape(-1), cell[below], -weigh[below])

    def _squares(self) -> Doubles:
        """Those of weights, which are kept from the first weights on: until then they are 1."""
        if self.square is None:
            self.square = self.weight.copy()
        return self.square

    def merge(self, other: Tables) -> None:
        """Adds the events of another, which has the same settings."""
        if other.square is not None and self.square is None:
            self._squares()
        self.weight += other.weight
        if self.square is not None:
            self.square += other.weight if other.square is None else other.square
        if other.negative is not None:
            self.negative = other.negative.copy() if self.negative is None else self.negative + other.negative
        for name in ("added", "counts", "cubes", "rounded"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        fine = self.exact[1] + other.exact[1]
        self.exact = np.stack([self.exact[0] + other.exact[0] + (fine >> 30), fine & (2**30 - 1)])
