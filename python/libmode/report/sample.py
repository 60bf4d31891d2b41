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


def look(files: Iterable[tuple[int, Events]], labeled: bool) -> Sample:
    """Reads all files. Raises Problem where a class is missing, or all background has one mass."""
    counts, parts = zip(*files, strict=True)
    entries, events = sum(counts), Events.joined(parts)
    background, signal = events.where(~events.label), events.where(events.label)
    if not len(events.mass):
        raise Problem(f"--cut is passed by none of the {entries} entries." if entries else "the files have no entries.")
    if not len(background.mass):
        raise Problem("--label is 1 for all events: expected background, which has label 0.")
    if labeled and not len(signal.mass):
        raise Problem("--label is 0 for all events: expected signal, which has label 1; or leave --label out.")
    if background.mass.min() == background.mass.max():
        raise Problem(f"--mass is {background.mass[0]:g} for all background: expected masses that differ.")
    events_of = (len(background.mass), len(signal.mass))
    return Sample(entries, events_of, _some(background, 0), _some(signal, 1))


def _some(events: Events, seed: int) -> Events:
    """All events, or ``MOST`` of them at random."""
    count = len(events.mass)
    return events if count <= MOST else events.where(np.random.default_rng(seed).choice(count, MOST, replace=False))
