"""A first look at all events: how many there are, and as many of them as the checks use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .events import Events
from .problem import Problem

MOST = 2_000_000  # events of a class in the sample: the check takes half a second for each million


class Sample(NamedTuple):
    """A random part of the events, or all of them."""

    entries: int  #: of the files, before the cut
    events: tuple[int, int]  #: background and signal that pass the cut
    background: Events
    signal: Events


def look(files: Iterable[tuple[int, Events]]) -> Sample:
    """Reads all files."""
    counts, parts = zip(*files, strict=True)
    events = Events.joined(parts)
    if not len(events.mass):
        raise Problem(f"--cut is passed by none of the {sum(counts)} entries.")
    both = events.where(~events.label), events.where(events.label)
    if not len(both[0].mass):
        raise Problem("--label is 1 for all events: expected background, which has label 0.")
    some = (_some(each, seed) for seed, each in enumerate(both))
    return Sample(sum(counts), (len(both[0].mass), len(both[1].mass)), *some)


def _some(events: Events, seed: int) -> Events:
    """All events, or ``MOST`` of them at random."""
    count = len(events.mass)
    return events if count <= MOST else events.where(np.random.default_rng(seed).choice(count, MOST, replace=False))
