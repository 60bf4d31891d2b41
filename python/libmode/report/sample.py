"""What a first look at all events keeps: how many there are, and as many of them as fit into memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .problem import Problem
from .read import Events

# Events of each class that are kept, drawn at random from more. Those of the background are tested for
# dependence, which takes half a second for each million.
MOST = 2_000_000


@dataclass(frozen=True, eq=False)
class Sample:
    """A random part of the events, or all of them."""

    entries: int  #: of the files, before the cut
    events: int  #: that pass the cut
    signal: int | None  #: of these; None where there is no label
    background: Events
    of_signal: Events | None
    mass_range: tuple[float, float]  #: the lowest and the highest mass of all background

    @property
    def complete(self) -> bool:
        """Whether these are all events."""
        kept = len(self.background.mass) + (0 if self.of_signal is None else len(self.of_signal.mass))
        return kept == self.events

    def parts(self) -> list[Events]:
        """The events of each class."""
        return [part for part in (self.background, self.of_signal) if part is not None]


def look(chunks: Iterable[Events]) -> Sample:
    """Looks at all events once.

    Raises
    ------
    Problem
        Where a class is missing, or all background has one mass.
    """
    entries = events = 0
    background, signal, labelled = _Part(0), _Part(1), False
    low, high = np.inf, -np.inf
    for chunk in chunks:
        entries, events = entries + chunk.entries, events + len(chunk.mass)
        some = chunk
        if chunk.label is not None:
            labelled, some = True, chunk.where(~chunk.label)
            signal.add(chunk.where(chunk.label))
        background.add(some)
        low = min(low, float(np.min(some.mass, initial=np.inf)))
        high = max(high, float(np.max(some.mass, initial=-np.inf)))
    if background.count == 0:
        raise Problem("--label is 1 for all events: expected background, which has label 0.")
    if labelled and signal.count == 0:
        raise Problem("--label is 0 for all events: expected signal, which has label 1; or leave --label out.")
    if low == high:
        raise Problem(f"--mass is {low:g} for all background: expected masses that differ.")
    return Sample(
        entries=entries,
        events=events,
        signal=signal.count if labelled else None,
        background=background.kept(),
        of_signal=signal.kept() if labelled else None,
        mass_range=(low, high),
    )


class _Part:
    """All events, in their order, or MOST of them: those with the smallest of random keys."""

    def __init__(self, seed: int) -> None:
        self.count = 0
        self._random, self._limit = np.random.default_rng(seed), 1.0
        self._keys: list[NDArray[np.float64]] = []
        self._events: list[Events] = []

    def add(self, events: Events) -> None:
        self.count += len(events.mass)
        keys = self._random.random(len(events.mass))
        kept = keys < self._limit
        self._keys.append(keys[kept])
        self._events.append(events if kept.all() else events.where(kept))
        if sum(map(len, self._keys)) > 2 * MOST:
            self._draw()

    def _draw(self) -> None:
        keys, events = np.concatenate(self._keys), Events.joined(self._events)
        if len(keys) > MOST:
            self._limit = float(np.partition(keys, MOST)[MOST])
            kept = keys < self._limit
            keys, events = keys[kept], events.where(kept)
        self._keys, self._events = [keys], [events]

    def kept(self) -> Events:
        self._draw()
        return self._events[0]
