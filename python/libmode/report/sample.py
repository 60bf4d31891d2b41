"""A first look at all events: how many there are, and a random part of them that fits into memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .events import Events
from .problem import Problem

# The least number of events of each class in the sample. Twice this number is the most: others are thinned. The test of
# dependence takes half a second for each million background events.
MOST = 1_000_000


class Sample(NamedTuple):
    """A random part of the events, or all of them."""

    entries: int  #: of the files, before the cut
    events: tuple[int, int]  #: background and signal that pass the cut
    background: Events
    signal: Events
    mass_range: tuple[float, float]  #: the lowest and the highest mass of all background

    @property
    def complete(self) -> bool:
        """Whether these are all events."""
        return len(self.background.mass) + len(self.signal.mass) == sum(self.events)


class _Part:
    """The events with random keys below a limit, which falls as they become many."""

    def __init__(self, seed: int) -> None:
        self.count, self._limit, self._random = 0, 1.0, np.random.default_rng(seed)
        self._parts: list[tuple[NDArray[np.float64], Events]] = []

    def add(self, events: Events) -> None:
        self.count += len(events.mass)
        keys = self._random.random(len(events.mass))
        self._parts.append((keys[keys < self._limit], events.where(keys < self._limit)))
        while sum(len(keys) for keys, _ in self._parts) > 2 * MOST:
            self._limit /= 2
            keys = np.concatenate([keys for keys, _ in self._parts])
            chosen = keys < self._limit
            # One array in the place of many small ones, since the holes between those would take more memory.
            self._parts = [(keys[chosen], self.kept().where(chosen))]

    def kept(self) -> Events:
        return Events.joined([events for _, events in self._parts])


def look(chunks: Iterable[tuple[int, Events]], labeled: bool) -> Sample:
    """Reads all events once. Raises Problem where a class is missing, or all background has one mass."""
    entries, low, high = 0, np.inf, -np.inf
    background, signal = parts = _Part(0), _Part(1)
    for count, events in chunks:
        entries += count
        for part, chosen in zip(parts, (~events.label, events.label), strict=True):
            part.add(events.where(chosen))
        masses = events.mass[~events.label]
        low, high = min(low, masses.min(initial=np.inf)), max(high, masses.max(initial=-np.inf))
    if background.count + signal.count == 0:
        raise Problem(f"--cut is passed by none of the {entries} entries." if entries else "the files have no entries.")
    if background.count == 0:
        raise Problem("--label is 1 for all events: expected background, which has label 0.")
    if labeled and signal.count == 0:
        raise Problem("--label is 0 for all events: expected signal, which has label 1; or leave --label out.")
    if low == high:
        raise Problem(f"--mass is {low:g} for all background: expected masses that differ.")
    return Sample(entries, (background.count, signal.count), background.kept(), signal.kept(), (low, high))
