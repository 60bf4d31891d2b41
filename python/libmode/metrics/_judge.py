"""Judges scores of the same events: tables of each score, and the verdict on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._problems import say_if_far
from .._read import as_array, flat, numbers, same_length
from ._bins import Doubles, sums
from ._bumps import SOME, looked_for, sought
from ._histogram import Histogram
from ._result import Check
from ._rule import checked
from ._sample import Sample, read_labels, variables, weights
from ._settings import Settings
from ._table import CUTS, FEWEST, Cells, Table
from ._table import of_histogram as table_of_histogram
from .roc import area, curve

__all__ = ["Check", "Judge", "Settings", "of_histogram"]


class Judge:
    """Judges scores of the same events, as after each epoch: masses are put into cells once."""

    def __init__(self, settings: Settings, label: Any, mass: Any, weight: Any = None, category: Any = None) -> None:
        self._settings = settings
        masses = as_array("mass", mass)
        if settings.missing == "ignore" and masses.dtype.kind == "f":
            masses = np.where(np.isnan(masses), np.inf, masses)
        self.mass = variables(masses, infinite=settings.missing == "ignore")
        self.signal = read_labels(label, settings.background_label, "mass", self.mass)
        self._weighted = weight is not None
        self.weight = weights(weight, "mass", self.mass)
        if self.signal.all():
            raise ValueError("label has no background: expected events of background_label")
        background = ~self.signal & np.isfinite(self.mass).all(axis=1)
        if not background.any():
            raise ValueError("mass is nan for all background events: expected masses")
        if settings.points[0][0] == "signal_efficiency" and not self.signal.any():
            why = "label is missing" if label is None else "label has no signal"
            raise TypeError(f"{why}, and signal_efficiency needs it: give background_efficiency or threshold")
        if settings.mass_range is None and np.ndim(settings.bins) == 0:
            for column in self.mass[background].T:  # a sentinel, rather than the tail of a steep spectrum
                if any(np.count_nonzero(column == end) > 1 for end in (column.min(), column.max())):
                    say_if_far(column, "mass_range")
        self._hunted = sought(settings, self.mass, self.signal)
        self._every = np.flatnonzero(background), self._cells(background)
        self._plain = self._cells(background, weighted=False) if self._weighted else None
        self._of_signal = self._signal_in(self._every[1]) if self.signal.any() else None
        self._categories: dict[Any, tuple[NDArray[np.intp], Cells | str]] = {}
        if category is not None:
            kinds = flat("category", np.asarray(category))
            same_length("category", kinds, "mass", self.mass)
            for kind in np.unique(kinds).tolist():
                chosen = background & (kinds == kind)
                try:
                    cells: Cells | str = self._cells(chosen)
                except ValueError as error:
                    cells = str(error)
                self._categories[kind] = np.flatnonzero(chosen), cells

    def _cells(self, chosen: NDArray[np.bool_], weighted: bool = True) -> Cells:
        settings, mass = self._settings, self.mass[chosen]
        limits, bins = settings.mass_range, settings.bins
        if np.ndim(bins) == 0:  # a bin that lacks events joins another, which mode_edges refuses
            bins = min(bins, max(len(mass) // FEWEST, 2))
            if limits is None:  # so that no limit is missing, see below
                pairs = [(column.min(), column.max()) for column in mass.T]
                limits = pairs if len(pairs) > 1 else pairs[0]
        width = None if self._hunted is None else float(self._hunted[1].min())
        return Cells(
            mass, self.weight[chosen] if self._weighted and weighted else None, settings.order, bins, limits, width
        )

    def _signal_in(self, cells: Cells) -> Doubles | None:
        """The weight of signal in each bin of mass, not below 0; None for several masses."""
        if cells.edges is None:
            return None
        coarse, mass = cells.edges[cells.bins], self.mass[self.signal, 0]
        place = np.searchsorted(coarse[:-1], mass, "right")
        place[~(mass <= coarse[-1])] = 0  # outside, as masses that are NaN
        return np.maximum(sums(place, self.weight[self.signal], len(coarse))[1:], 0.0)

    def __call__(self, score: Any, fits: bool = True) -> Check:
        """The check of scores, (n,); without ``fits`` no spurious signal is looked for."""
        scores = numbers("score", score, "mass", self.mass)
        events = Sample(scores, self.signal, self.mass, self.weight)
        cuts = [events.cut(*point) for point in self._settings.points]
        classes = [(scores[chosen], self.weight[chosen]) for chosen in (self.signal, ~self.signal)]
        background = classes[1][0]
        some = np.sort(background[:: max(1, len(background) // SOME)])
        logits = np.linspace(-1, 1, CUTS) * math.log(max(len(background), 2))
        places = np.unique((len(some) / (1 + np.exp(-logits))).astype(int).clip(0, len(some) - 1))
        thresholds = np.unique(np.r_[some[places], cuts])
        rates = (
            [float(each[own >= cut].sum() / each.sum()) if len(own) else math.nan for cut in cuts]
            for own, each in classes
        )
        chosen, cells = self._every
        plain = None if self._plain is None else self._plain.table(scores[chosen], thresholds)
        categories: dict[Any, Table | str] = {
            kind: own if isinstance(own, str) else own.table(scores[which], thresholds)
            for kind, (which, own) in self._categories.items()
        }
        return checked(
            self._settings, thresholds, list(zip(cuts, *rates, strict=True)), cells.table(scores[chosen], thresholds),
            plain, categories, self._hunted if fits else None, self._of_signal,
        )  # fmt: skip

    def log(self, score: Any) -> tuple[Check, dict[str, float]]:
        """The check, and its numbers as floats with the AUC. An unknown number is NaN."""
        check = self(score)
        events = Sample(numbers("score", score), self.signal, self.mass, self.weight)
        values = {"auc": area(curve(events)), **check.to_dict()}
        return check, {name: math.nan if value is None else float(value) for name, value in values.items()}


def of_histogram(histogram: Histogram, settings: Settings) -> Check:
    """The check of a histogram, whose thresholds are edges of its score axis."""
    background = histogram.background()[0]
    share = np.cumsum(np.abs(background)) / np.abs(background).sum()
    logits = np.linspace(-1, 1, CUTS) * 0.5 * math.log(len(share) * 100)
    edges = histogram.score[np.unique(np.searchsorted(share, 1 / (1 + np.exp(-logits))).clip(1, len(share) - 1))]
    signal = np.zeros_like(background) if histogram.signal is None else histogram.signal[0]
    cuts = []
    for point in settings.points:
        at = histogram.cell(histogram.cut(*point))
        kept, passed = (
            float(each[at:].sum() / each.sum()) if each.any() else math.nan for each in (signal, background)
        )
        cuts.append((float(histogram.score[at]) if at > 0 else -np.inf, kept, passed))
    thresholds = np.unique(np.r_[edges, [cut[0] for cut in cuts]])
    thresholds = thresholds[np.isfinite(thresholds)]
    table = table_of_histogram(histogram, settings.order, settings.bins, thresholds)
    assert table.edges is not None
    total = table.weight.sum(axis=1)
    cumulated = np.cumsum(np.abs(total)) / np.abs(total).sum()
    ends = np.interp([0.025, 0.975], np.r_[0, cumulated], table.edges)
    hunted = looked_for(settings, ends, np.empty(0), (float(table.edges[0]), float(table.edges[-1])))
    return checked(settings, thresholds, cuts, table, None, {}, hunted, None)
