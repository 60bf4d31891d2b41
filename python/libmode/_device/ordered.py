"""The events in order of their scores, their ties, and running sums along them."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays


class Runs(NamedTuple):
    """Runs of events that stand next to each other."""

    first: Array  #: (n,) where the first event of each event's run stands
    last: Array  #: (n,) where the last one does


def runs(xp: Arrays, new: Array) -> Runs:
    """The runs that begin where ``new``, (n - 1,), says that an event differs from the one before."""
    n = new.shape[0] + 1
    places = xp.arange(n)
    begins = xp.concat([places[:1] == 0, new])
    ends = xp.concat([new, places[:1] == 0])
    first = xp.cummax(xp.where(begins, places, 0))
    last = n - 1 - xp.flip(xp.cummax(xp.flip(xp.where(ends, n - 1 - places, 0))))
    return Runs(first, last)


class Ordered(NamedTuple):
    """The selected events in order of score, and after them the others."""

    events: Array  #: (n,) where each stands in the input
    score: Array  #: (n,) their scores in order, 0 of events that are not selected
    new: Array  #: (n - 1,) where a score differs from the one before
    ties: Runs  #: of equal scores


def ordered(xp: Arrays, score: Array, selected: Array) -> Ordered:
    """The events in order of score."""
    key, events = xp.sort(xp.where(selected, score, float("inf")))
    new = key[1:] != key[:-1]
    return Ordered(events, xp.where(xp.isfinite(key), key, 0), new, runs(xp, new))


class Sums(NamedTuple):
    """Running sums (k, n) of rows of numbers, one a row."""

    before: Array  #: over the events before each in the order
    below: Array  #: over those with lower scores
    up_to: Array  #: over those with scores that are lower or equal


def running(xp: Arrays, rows: Array, ties: Runs) -> Sums:
    """The running sums of rows (k, n) along the scores."""
    sums = xp.cumsum(rows)
    before = sums - rows
    return Sums(before, xp.take(before, ties.first), xp.take(sums, ties.last))


class ByBin(NamedTuple):
    """The order by bin and, within a bin, by score."""

    events: Array  #: (n,) where each stands in order of score
    bins: Runs  #: of one bin
    ties: Runs  #: of one bin and one score


def by_bin(xp: Arrays, number: Array, of: Ordered) -> ByBin:
    """The order by bins, whose numbers, (n,), are in order of score."""
    events = xp.order_of(number)
    number, level = xp.take(number, events), xp.take(of.ties.first, events)
    other = number[1:] != number[:-1]
    return ByBin(events, runs(xp, other), runs(xp, other | (level[1:] != level[:-1])))


def running_in_bins(xp: Arrays, rows: Array, order: ByBin) -> Sums:
    """The running sums of rows (k, n) in order of score, over the events of each event's own bin alone."""
    inside = xp.take(rows, order.events)
    sums = xp.cumsum(inside)
    before = sums - inside
    start = xp.take(before, order.bins.first)
    found = before - start, xp.take(before, order.ties.first) - start, xp.take(sums, order.ties.last) - start
    return Sums(*(xp.put(one, order.events) for one in found))
