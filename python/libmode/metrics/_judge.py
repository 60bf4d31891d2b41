"""Judges scores of the same events: tables of each score, and the verdict on them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._problems import say_if_far
from .._read import as_array, flat, numbers, same_length
from ._bins import Doubles, sums
from ._bumps import SOME, sought
from ._result import AtCut, Check
from ._rule import Context, checked
from ._sample import Histogram, Sample, read_labels, variables, weights
from ._settings import Settings
from ._table import CUTS, FEWEST, Cells, Table
from .roc import area, curve

__all__ = ["Check", "Judge", "Settings"]


class Judge:
    """Judges scores of the same events, as after each epoch: masses are put into cells once."""

    def __init__(
        self, settings: Settings, label: Any = None, mass: Any = None, weight: Any = None, category: Any = None,
        histogram: Histogram | None = None,
    ) -> None:  # fmt: skip
        """``histogram`` is in the place of labels, masses and weights."""
        self._settings = settings
        self.events = _read(settings, label, mass, weight) if histogram is None else histogram
        signal = self.events.signal
        background = ~signal & np.isfinite(self.events.mass).all(axis=1)
        if not background.any():
            raise ValueError("mass is nan for all background events: expected masses")
        if histogram is None and settings.mass_range is None and np.ndim(settings.bins) == 0:
            for column in self.events.mass[background].T:  # a sentinel, rather than the tail of a steep spectrum
                if any(np.count_nonzero(column == end) > 1 for end in (column.min(), column.max())):
                    say_if_far(column, "mass_range")
        self._hunted = sought(settings, self.events)
        self._every = self._cells(background)
        self._plain = self._of_signal = None
        if histogram is None:
            self._plain = self._cells(background, plain=True) if np.ptp(self.events.weight) else None
        if histogram is None and signal.any() and self._every.edges is not None:
            edges, own = self._every.edges[self._every.bins], self.events.mass[signal, 0]
            place = np.searchsorted(edges[:-1], own, "right") * (own <= edges[-1])
            self._of_signal = np.maximum(sums(place, self.events.weight[signal], len(edges))[1:], 0.0)
        self._categories: dict[Any, Cells | str] = {}
        if category is not None:
            kinds = flat("category", np.asarray(category))
            same_length("category", kinds, "mass", signal)
            for kind in np.unique(kinds).tolist():
                try:
                    self._categories[kind] = self._cells(background & (kinds == kind))
                except ValueError as error:
                    self._categories[kind] = str(error)

    def _cells(self, chosen: NDArray[np.bool_], plain: bool = False) -> Cells:
        settings, events = self._settings, self.events.where(chosen)
        limits, bins = settings.mass_range, settings.bins
        if plain:
            events = replace(events, weight=np.ones(len(events.mass)))
        if np.ndim(bins) == 0 and isinstance(events, Histogram):  # edges that divide the background evenly, about
            axis = events.axes[0]
            inner = np.searchsorted(events.shares(0), np.arange(1, bins) / bins) + 1
            bins = axis[np.unique(np.r_[0, inner, len(axis) - 1])]
        elif np.ndim(bins) == 0:  # a bin that lacks events joins another, which mode_edges refuses
            bins = min(bins, max(len(events.mass) // FEWEST, 2))
            if limits is None:  # so that no limit is missing, see below
                pairs = [(column.min(), column.max()) for column in events.mass.T]
                limits = pairs if len(pairs) > 1 else pairs[0]
        width = None if self._hunted is None else float(self._hunted[1].min())
        return Cells(events, np.flatnonzero(chosen), settings.order, bins, limits, width)

    def __call__(self, score: Any = None, fits: bool = True) -> Check:
        """The check of scores, (n,), or of the histogram; without ``fits`` no spurious signal is looked for."""
        events = self._scored(score)
        cuts = [_started(events, *point) for point in self._settings.points]
        thresholds = np.unique(np.r_[_quantiles(events), [cut.threshold for cut in cuts]])
        thresholds = thresholds[thresholds > -np.inf]

        def table(cells: Cells) -> Table:
            return cells.table(events.score, thresholds)

        every, plain = table(self._every), None if self._plain is None else table(self._plain)
        categories = {kind: own if isinstance(own, str) else table(own) for kind, own in self._categories.items()}
        hunted = self._hunted if fits else None
        at = Context(self._settings, thresholds, cuts, hunted, self._of_signal, plain, every.effective)
        return checked(every, categories, at)

    def _scored(self, score: Any) -> Sample:
        if isinstance(self.events, Histogram):
            return self.events
        return replace(self.events, score=numbers("score", score, "mass", self.events.mass))

    def log(self, score: Any) -> tuple[Check, dict[str, float]]:
        """The check, and its numbers as floats with the AUC. An unknown number is NaN."""
        check = self(score)
        values = {"auc": area(curve(self._scored(score))), **check.to_dict()}
        return check, {name: math.nan if value is None else float(value) for name, value in values.items()}


def _read(settings: Settings, label: Any, mass: Any, weight: Any) -> Sample:
    """The events of a check but for their scores."""
    masses = as_array("mass", mass)
    if settings.missing == "ignore" and masses.dtype.kind == "f":
        masses = np.where(np.isnan(masses), np.inf, masses)
    masses = variables(masses, infinite=settings.missing == "ignore")
    signal = read_labels(label, settings.background_label, "mass", masses)
    weigh = weights(weight, "mass", masses)
    if signal.all():
        raise ValueError("label has no background: expected events of background_label")
    if settings.points[0][0] == "signal_efficiency" and not signal.any():
        why = "label is missing" if label is None else "label has no signal"
        raise TypeError(f"{why}, and signal_efficiency needs it: give background_efficiency or threshold")
    return Sample(np.empty(0), signal, masses, weigh)


def _started(events: Sample, name: str, value: float) -> AtCut:
    """A working point with its threshold and efficiencies."""
    cut, number = events.cut(name, value), f"{value if name == 'threshold' else 100 * value:g}"
    wanted = f"score >= {number}" if name == "threshold" else f"{number} % {name.replace('_', ' ')}"
    classes = [(events.score[own], events.weight[own]) for own in (events.signal, ~events.signal)]
    kept, passed = (float(weight[own >= cut].sum() / weight.sum()) if len(own) else math.nan for own, weight in classes)
    return AtCut(wanted, number, cut, kept, passed)


def _quantiles(events: Sample) -> Doubles:
    """Thresholds between the background, denser towards the lowest and the highest scores."""
    logits = np.linspace(-1, 1, CUTS)
    if not isinstance(events, Histogram):
        score = events.score[~events.signal]
        some = np.sort(score[:: max(1, len(score) // SOME)])
        fractions = 1 / (1 + np.exp(-logits * math.log(max(len(score), 2))))
        return np.asarray(some[(len(some) * fractions).astype(int).clip(0, len(some) - 1)])
    share = events.shares(1)
    fractions = 1 / (1 + np.exp(-logits * 0.5 * math.log(len(share) * 100)))
    return np.asarray(events.axes[1][np.searchsorted(share, fractions).clip(1, len(share) - 1)])
