"""Judges scores of the same events, and puts the verdict together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._problems import say_if_far
from .._read import each_of, flat, number, numbers, same_length, vector, without_masks
from ._bins import Doubles, sums
from ._response import CUTS, Binned, Grid, Null, all_cuts, residual, slope, turns
from ._result import AtCut, Check, shown
from ._rule import Context, Test, judge_scan, of_all_cuts, of_bound, sentence, unknown, verdict
from ._sample import Sample, Settings, effective, read_labels, variables, weights, wrong_way
from ._templates import SMALL, TEN, WIDTHS, Cells, Variable, cells, scan
from .roc import area, curve

__all__ = ["Check", "Judge", "Settings"]

SOME = 10_000  # events that give quantiles
NARROWEST = 1 / 1000  # of the range: a width
DISTINCT = 0.9  # the share of scores, and of masses, that differ where repeated events count once


class Part(NamedTuple):
    """The cuts and tests of all events, or of a category."""

    cuts: list[tuple[AtCut, list[Test]]]
    at_all: list[Test]
    p_all_cuts: float

    @property
    def tests(self) -> list[Test]:
        """All tests."""
        return [test for _, own in self.cuts for test in own] + self.at_all

    def concluded(self, count: int, at: Context) -> Part:
        """The part with the verdict on each cut, of ``count`` tests in all."""
        cuts = []
        for cut, tests in self.cuts:
            flat, p, decides = verdict(tests, count)
            needed = math.nan if flat is not None or decides is None else decides.growth * at.events
            why = sentence(flat, decides, shown(p), [cut], at)
            cuts.append((replace(cut, flat=flat, why=why, p_value=p, needed=needed), tests))
        return self._replace(cuts=cuts)


class Group(NamedTuple):
    """All background inside the range, or that of a category."""

    which: Any  #: places among the background inside the range
    grid: Grid | str  #: or why there is none
    before: list[Cells]  #: for each variable


class Judge:
    """Judges scores of the same events, as after each epoch: masses are put into cells once."""

    def __init__(
        self, settings: Settings, label: Any = None, mass: Any = None, weight: Any = None, category: Any = None
    ) -> None:
        self._settings = settings
        self.events = events = _read(settings, label, mass, weight)
        finite = ~events.signal & np.isfinite(events.mass).all(axis=1)
        if not finite.any():
            raise ValueError("mass is nan for all background events: expected masses")
        d = events.mass.shape[1]
        self._names = ["mass"] if d == 1 else [f"mass[:, {k}]" for k in range(d)]
        limits = self._limits(finite)
        low, high = (each.astype(events.mass.dtype) for each in limits.T)  # as the loss rounds limits
        within = ((events.mass >= low) & (events.mass <= high)).all(axis=1)
        self._inside = np.flatnonzero(finite & within)
        if not len(self._inside):
            raise ValueError(f"mass has no background inside {limits.tolist()}, mass_range or bins")
        self._weight = own = events.weight[self._inside]
        if own.sum() <= 0:
            raise ValueError(f"weight sums to {own.sum():g} over the background: expected a positive sum")
        n = effective(own)
        taught = math.sqrt(1 + n / (settings.training_events or math.inf))
        self._at = Context(settings, n, settings.search_events or n, taught)
        self._mass = events.mass[self._inside]
        self._constant = bool((own == own[0]).all())
        signals = events.mass[events.signal & within]
        self._signal_mass, self._signal_weight = signals[:, 0], events.weight[events.signal & within]
        self._repeats: list[str] = []
        found = [self._looked_for(*each) for each in zip(signals.T, self._mass.T, limits, strict=True)]
        widths, self._sought, self._how = zip(*found, strict=True)
        self.variables = [
            Variable(column.astype(float), (ends[0], ends[1]), own, settings.order)
            for column, ends, own in zip(self._mass.T, limits.tolist(), widths, strict=True)
        ]
        has_mass = d == 1 and (len(signals) or settings.signal_mass is not None)
        self._signal_masses = tuple(self._sought[0].tolist()) if has_mass else ()
        self._limits_of_bins = limits
        self._groups: dict[Any, Group] = {None: self._group(slice(None))}
        self._kinds: list[NDArray[np.intp]] = []  # numbers of the categories, if there are some
        if category is not None:
            kinds = flat("category", np.asarray(without_masks("category", category)))
            same_length("category", kinds, "mass", events.signal)
            self._names_of_kinds, place = np.unique(kinds, return_inverse=True)
            self._kinds = [place]
            for k, kind in enumerate(self._names_of_kinds.tolist()):
                which = np.flatnonzero(place[self._inside] == k)
                self._groups |= {kind: self._group(which)} if len(which) else {}

    def _limits(self, finite: NDArray[np.bool_]) -> Doubles:
        """The range of each variable, (d, 2): as given, or from the lowest to the highest mass."""
        settings, columns = self._settings, self.events.mass[finite].T
        given: Sequence[Any] = each_of(settings.mass_range)
        if settings.mass_range is None:
            has_edges = np.ndim(settings.bins) and len(columns) == 1
            given = [vector("bins", settings.bins)[[0, -1]]] if has_edges else [None] * len(columns)
        if len(given) != len(columns):
            raise ValueError(f"mass_range = {settings.mass_range!r}: expected {len(columns)} pairs (low, high)")
        limits = []
        for name, column, ends in zip(self._names, columns, given, strict=True):
            if ends is None:
                ends = low, high = column.min(), column.max()
                if any(np.count_nonzero(column == end) > 1 for end in ends):  # a sentinel, and no tail of a spectrum
                    say_if_far(column, "mass_range")
                if low == high:
                    raise ValueError(f"{name}: all background has the same mass {low:g}")
            limits.append(ends)
        return np.array(limits, float)

    def _looked_for(self, signal: Doubles, background: Doubles, ends: Doubles) -> tuple[Doubles, Doubles, str]:
        """The widths of the templates of a variable, masses that must be known, and what gave the widths."""
        settings, span = self._settings, float(ends[1] - ends[0])
        masses, given = settings.signal_mass, settings.signal_width
        if self._mass.shape[1] > 1 and (masses is not None or given is not None):
            raise ValueError(f"signal_mass or signal_width with {self._mass.shape[1]} masses: they need one mass")
        limits = {"signal_mass": (masses, *ends.tolist()), "signal_width": (given, NARROWEST * span, span / 2)}
        for name, (values, least, most) in limits.items():
            for k, one in enumerate([] if values is None else values.tolist()):
                number(f"{name}[{k}]" if len(values) > 1 else name, one, least=least, most=most)
        how = "a twentieth and a hundredth of the range"
        widths, middle = np.array(WIDTHS) * span, float(np.median(background))
        if len(signal) >= TEN:
            ordered = np.sort(signal[:: max(1, len(signal) // SOME)].astype(float))
            own, peak = _peak(ordered, NARROWEST * span)
            if own <= 2 * WIDTHS[0] * span:
                widths, middle, how = np.array([own]), peak, "that of the signal at half of its maximum"
        if given is not None:
            widths, how = given, "signal_width"
        return widths, np.array([middle]) if masses is None else masses, how

    def _group(self, which: Any) -> Group:
        settings, mass, weight = self._settings, self._mass[which], self._weight[which]
        before = [cells(one.place[which], weight, one.count) for one in self.variables]
        bins, limits = settings.bins, self._limits_of_bins
        if np.ndim(bins) == 0:  # a bin that lacks events joins another, which mode_edges refuses
            bins = min(bins, max(len(mass) // TEN, 2))
        ranges = limits if len(limits) > 1 else None if np.ndim(bins) else limits[0]
        try:
            grid: Grid | str = Grid(mass, weight, settings.order, bins, ranges)
        except ValueError as error:
            grid = str(error)
        return Group(which, grid, before)

    def scored(self, score: Any) -> Sample:
        """The events with their scores, (n,)."""
        return replace(self.events, score=numbers("score", score, "mass", self.events.mass))

    def __call__(self, score: Any) -> Check:
        """The check of scores, (n,)."""
        events = self.scored(score)
        own = events.score[self._inside]
        if self._repeated(own):
            return self._again(events)
        started = [_started(events, *point) for point in self._settings.points]
        thresholds = np.unique(np.r_[_quantiles(own), [cut.threshold for cut in started]])
        parts = {kind: self._part(group, own[group.which], thresholds, started) for kind, group in self._groups.items()}
        count = sum(test.number for part in parts.values() for test in part.tests)
        parts = {kind: part.concluded(count, self._at) for kind, part in parts.items()}
        categories = {kind: self._check({None: part}, count) for kind, part in parts.items() if kind is not None}
        remarks = (*self._repeats, *self._remarks([cut for cut, _ in parts[None].cuts]))
        found = self._check(parts, count, categories, remarks)
        backwards = events.signal.any() and wrong_way(events)
        return replace(found, why=f"the label or the score is the wrong way round: {found.why}") if backwards else found

    def log(self, score: Any) -> tuple[Check, dict[str, float]]:
        """The check, and its numbers as floats with the AUC. An unknown number is NaN."""
        check = self(score)
        values = {"auc": area(curve(self.scored(score))), **check.to_dict()}
        known = {name: value for name, value in values.items() if not isinstance(value, str)}
        return check, {name: math.nan if value is None else float(value) for name, value in known.items()}

    def _part(self, group: Group, score: Doubles, thresholds: Doubles, started: list[AtCut]) -> Part:
        """The numbers and tests of a group with these scores."""
        if isinstance(group.grid, str):
            return Part([(cut, [unknown(group.grid)]) for cut in started], [], math.nan)
        table = group.grid.table(np.searchsorted(thresholds, score, "right"), len(thresholds) + 1)
        p, of_search = all_cuts(table, min(self._at.search / self._at.events, 1.0), self._at.taught)
        each = zip(started, np.searchsorted(thresholds, [cut.threshold for cut in started], "right"), strict=True)
        cuts = [self._at_cut(group, table, score, cut, column) for cut, column in each]
        return Part(cuts, of_all_cuts(p, of_search), p)

    def _at_cut(self, group: Group, table: Binned, score: Doubles, cut: AtCut, column: int) -> tuple[AtCut, list[Test]]:
        """The numbers of a cut, which is a column of the table, and its tests."""
        settings, at, weight, passed = self._settings, self._at, self._weight[group.which], score >= cut.threshold
        chosen = weight[passed]
        square, every = float(np.sum(chosen**2)), float(np.sum(weight**2))
        if not (min(chosen.sum(), weight.sum()) > 0 and every - square > 1e-12 * square):
            return cut, [unknown(f"{cut.wanted} selects {'all' if chosen.sum() > 0 else 'none'} of the background")]
        cut = replace(cut, selected=float(chosen.sum() ** 2 / square))
        unit, tests = self._weight.sum() / at.search if settings.search_events else None, []
        for k, (one, before) in enumerate(zip(self.variables, group.before, strict=True)):
            places = one.place[group.which][passed]
            counts = sums(places, chosen, one.count)
            squares = weight[0] * counts if self._constant else sums(places, chosen**2, one.count)
            found = scan(one, before, counts, squares, table.heavier[:, column], unit)
            cut, own = judge_scan(cut, found, self._sought[k], self._names[k], at)
            tests += own
            if len(self.variables) == 1:
                cut = replace(cut, spectrum=np.stack([one.edges[:-1], one.edges[1:], before.weight, counts]))
        null = Null(table, [column])
        rms, chance, response = residual(null)
        chi2 = float(np.sum(null.pulls[:, 0] ** 2))
        cut = replace(cut, residual=rms, expected=chance, chi2=chi2, ndof=null.ndof)
        if table.grid.edges is None:
            return cut, tests
        (steep, error), polynomial = slope(null), null.expected[:, 0] / null.weight
        cut = replace(cut, efficiency=response, polynomial=polynomial, slope=steep, slope_error=error)
        if settings.max_slope is not None:
            said = f"a slope of {steep:.2g} +- {error:.1g}, above max_slope = {settings.max_slope:g}, {cut.wanted}"
            tests.append(of_bound(said, (steep - (1 + SMALL) * settings.max_slope) / error, at))
        if settings.monotonic:
            z = turns(null)
            tests.append(of_bound(f"a response that rises and falls by {z:.1f} errors, {cut.wanted}", z, at))
        if isinstance(group.which, slice) and len(self._signal_mass):
            cut = replace(cut, sensitivity=self._sensitivity(cut, null, table.grid.edges))
        return cut, tests

    def _sensitivity(self, cut: AtCut, null: Null, edges: Doubles) -> float:
        """The significance of a signal over its value without a selection, with the residual as a systematic error."""
        place = np.searchsorted(edges[:-1], self._signal_mass, "right") * (self._signal_mass <= edges[-1])
        of_signal = np.maximum(sums(place, self._signal_weight, len(edges))[1:], 0.0)
        means = null.grid.design[:, : null.grid.terms] / null.weight[:, None]
        efficiency = null.selected[:, 0] / null.weight
        polynomial = means @ np.linalg.lstsq(means, efficiency, rcond=None)[0]
        of_signal = of_signal if of_signal.sum() > 0 else np.ones(len(efficiency))
        under = max(float(np.average(each, weights=of_signal)) for each in (efficiency, polynomial))
        if not under > 0:
            return math.nan
        square, search = max(cut.residual**2 - cut.expected**2, 0.0), self._at.search
        return float(cut.signal_efficiency / math.sqrt(under * (1 + square * under * search / len(efficiency))))

    def _check(self, parts: dict[Any, Part], count: int, categories: Any = (), remarks: Any = ()) -> Check:
        """The check of all events, None, and of categories."""
        tests, at, settings = [], self._at, self._settings
        for kind, part in parts.items():
            name = "" if kind is None else f"category {kind}: "
            tests += [test._replace(said=name + test.said, hides=name + test.hides) for test in part.tests]
        flat, p, decides = verdict(tests, count)
        why = sentence(flat, decides, shown(p), [cut for part in parts.values() for cut, _ in part.cuts], at)
        cuts, numbers = tuple(cut for cut, _ in parts[None].cuts), (settings.order, at.events, at.search)
        more: Any = dict(categories), remarks, settings.flat_below, self._signal_masses
        return Check(flat, why, p, count, parts[None].p_all_cuts, *numbers, cuts, *more)

    def _remarks(self, cuts: list[AtCut]) -> list[str]:
        """What stands below the table: widths and masses, what a training leaves, bounds."""
        settings, at, said, wide = self._settings, self._at, [], self.variables[0]
        for variable, how, name in zip(self.variables, self._how, self._names, strict=True):
            widths = " and ".join(f"{width:.3g}" for width in np.unique(variable.widths)[::-1])
            said.append(f"templates at {name} {variable.low:.4g} to {variable.high:.4g}, of width {widths} ({how})")
        for cut in cuts[: len(self.variables) == 1]:
            if cut.low > wide.low or cut.high < wide.high:
                said[0] += f"; at {cut.wanted} those at {cut.low:.4g} to {cut.high:.4g} have {TEN} events"
        known = [cut for cut in cuts if math.isfinite(cut.bump)]
        if known and self._signal_masses:
            most = ", ".join(f"{100 * cut.bump:.2g} % at {cut.wanted}" for cut in known)
            if len(cuts) == 1:
                most = f"{100 * known[0].bump:.2g} % of the background"
            said.append(f"a bump at mass {self._signal_masses[0]:.4g} is at most {most}")
        if at.taught > 1:
            chance = math.sqrt(at.search / settings.training_events)
            said.append(f"a training with {settings.training_events:,.0f} events leaves {chance:.2g} errors by chance")
        for cut in cuts:
            if settings.max_slope is not None and math.isfinite(cut.slope):
                slope = f"slope {cut.slope:.2g} +- {cut.slope_error:.1g}, max_slope {settings.max_slope:g}"
                said.append(f"{slope} ({cut.wanted})")
        return said

    def _repeated(self, score: Doubles) -> bool:
        """Whether whole rows of background repeat, although nearly all scores and masses differ."""
        key = keys([score, *self._mass.T, *(place[self._inside] for place in self._kinds)])
        if len(np.unique(key)) == len(key):
            return False
        first = np.unique(key, return_index=True)[1]
        columns = [score[first], *self._mass[first].T]
        return all(len(np.unique(column)) >= DISTINCT * len(first) for column in columns)

    def _again(self, events: Sample) -> Check:
        """The check of events without repeats, whose weights are added."""
        key = keys([events.score, *events.mass.T, *self._kinds]) ^ events.signal.astype(np.uint64)
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        kinds = self._names_of_kinds[self._kinds[0][first]] if self._kinds else None
        weight = sums(place, events.weight, len(first))
        settings = replace(self._settings, background_label=0)
        judge = Judge(settings, events.signal[first].astype(int), events.mass[first], weight, kinds)
        many, left = len(self._inside), len(judge._inside)
        judge._repeats = [
            f"{many - left:,} of {many:,} background events repeat another one, score and mass: they count once, with "
            "their weights added"
        ]
        return judge(events.score[first])


def _peak(ordered: Doubles, least: float) -> tuple[float, float]:
    """The standard deviation of a Gaussian as wide at half of its maximum as the densest peak, and its place.

    Wrong pairings and tails of a signal, which lie below half of the maximum, do not widen it.
    """
    some = max(len(ordered) // 5, 5)  # events give a density
    lengths = np.maximum(ordered[some:] - ordered[:-some], least)
    middle = (ordered[some:] + ordered[:-some]) / 2
    high = middle[lengths <= 2 * lengths.min()]
    return max(float(high[-1] - high[0]) / 2.355, least), float(middle[np.argmin(lengths)])


def keys(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """A number for each row; equal rows have equal numbers, and others by chance in one of 10^19 pairs."""
    key = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        key += (column.astype(np.float64) + 0.0).view(np.uint64)  # 0.0 and -0.0 are equal
        key *= np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return key


def _read(settings: Settings, label: Any, mass: Any, weight: Any) -> Sample:
    """The events of a check but for their scores."""
    masses = variables(mass, settings.missing == "ignore")
    signal = read_labels(label, settings.background_label, "mass", masses)
    weigh = weights(weight, "mass", masses)
    if settings.points[0][0] == "signal_efficiency" and not signal.any():
        why = "label is missing" if label is None else "label has no signal"
        raise TypeError(f"{why}, and signal_efficiency needs it: give background_efficiency or threshold")
    size = float(np.abs(weigh).mean())
    # A power of two rounds nothing.
    return Sample(np.empty(0), signal, masses, weigh / 2.0 ** round(math.log2(size)) if size > 0 else weigh)


def _started(events: Sample, name: str, value: float) -> AtCut:
    """A working point with its threshold and efficiencies."""
    cut, number = events.cut(name, value), f"{value if name == 'threshold' else 100 * value:g}"
    wanted = f"score >= {number}" if name == "threshold" else f"{number} % {name.replace('_', ' ')}"
    classes = [(events.score[own], events.weight[own]) for own in (events.signal, ~events.signal)]
    kept, passed = (float(weight[own >= cut].sum() / weight.sum()) if len(own) else math.nan for own, weight in classes)
    return AtCut(wanted, number, cut, kept, passed)


def _quantiles(score: Doubles) -> Doubles:
    """Thresholds between the background, denser towards the lowest and the highest scores."""
    some = np.sort(score[:: max(1, len(score) // SOME)])
    fractions = 1 / (1 + np.exp(-np.linspace(-1, 1, CUTS) * math.log(max(len(score), 2))))
    return np.asarray(some[(len(some) * fractions).astype(int).clip(0, len(some) - 1)])
