"""The tests of each cut, and the verdict that follows from their p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ._bins import Doubles
from ._bumps import Bump, bumps, template
from ._result import AtCut, Check, shown
from ._settings import Settings
from ._table import FEWEST, Table
from ._verdict import Null, Probability, all_cuts, bounds, new_maximum, one_cut, turns, two_sided, zero
from .mass import distance, rates

# The rule, see :func:`libmode.metrics.check`.
NOT_FLAT, FLAT = 0.01, 0.05  # p-values below which it is not flat, and above which nothing is seen
SEEN = 0.05  # the p-value that a search with ``tolerance`` events would find on average
SHOWN = 3.0  # standard deviations of a bump that a sample shows
LARGEST = 0.5  # of the background under it: a sample that shows no smaller bump is too small
OF_SEARCH = 6.0  # the same in errors of the search
ABOVE = 0.05  # of max_slope, by which a slope may be above it: a fit absorbs a line of any slope
EXPECTED = 0.8  # of flat samples with the events that are needed are called flat, about
EXCLUDED = 2.0  # standard deviations above the fitted bump: a sample that allows such a bump of half is not flat


class Context(NamedTuple):
    """What the parts of a check share."""

    settings: Settings
    thresholds: Doubles  #: of the columns of tables, (c - 1,)
    cuts: list[AtCut]  #: with thresholds and efficiencies alone
    hunted: tuple[Doubles, Doubles] | None  #: masses and widths of signals
    of_signal: Doubles | None  #: (b,) the signal in the bins of mass of all events
    plain: Table | None  #: of all events without their weights
    events: float  #: n, the effective background events inside the bins

    @property
    def search(self) -> float:
        """N, the events of the search."""
        return self.settings.tolerance or self.events

    @property
    def ratio(self) -> float:
        """N / n."""
        return self.search / self.events

    @property
    def taught(self) -> float:
        """n / T, over events of the training; 0 if unknown."""
        return self.events / (self.settings.training_events or math.inf)


class Test(NamedTuple):
    """What a test looked at, and values."""

    said: str
    p: Probability
    rank: int  #: of several that fail, the verdict names one of the highest rank


class Part(NamedTuple):
    """All events, or a category."""

    cuts: list[AtCut] = []
    tests: list[Test] = []
    p_all_cuts: float = math.nan
    events: float = 0.0
    unknown: str = ""  #: why nothing is known


def checked(table: Table, categories: Mapping[Any, Table | str], at: Context) -> Check:
    """The check of all events and of categories. A string in place of a category's table says why it has none."""
    every, at = tested(table, at), at._replace(plain=None)
    parts = {kind: Part(unknown=own) if isinstance(own, str) else tested(own, at) for kind, own in categories.items()}
    checks = {kind: _verdict({"": part}, at, {}) for kind, part in parts.items()}
    return _verdict({"": every} | {f"category {kind}: ": part for kind, part in parts.items()}, at, checks)


def tested(table: Table, at: Context) -> Part:
    order = at.settings.order
    merged = table.merged()
    terms = int(np.count_nonzero(table.degree <= order))
    if (count := len(merged.weight)) <= terms or (merged.weight.sum(axis=1) <= 0).any():
        filled = f"the masses fill {count} {'bin' if count == 1 else 'bins'} of {FEWEST} effective events"
        few = f"{filled}, and order = {order} needs {terms + 1}"
        empty = [replace(cut, unknown=few, why=f"not known: {few}") for cut in at.cuts]
        return Part(empty, [], math.nan, table.effective, few)
    every = all_cuts(merged, order, min(at.ratio, 1.0))
    tests = [] if every is None else [Test("the response at all cuts", every, 0)]
    cuts = []
    for start in at.cuts:
        cut, own = _at_cut(table, merged, start, at)
        flat, why, p = _rule(own, [cut.unknown] if cut.unknown else [], [cut.smallest_bump], order)
        cuts.append(replace(cut, flat=flat, why=why, p_value=p))
        tests += own
    return Part(cuts, tests, math.nan if every is None else every.here, table.effective)


def _at_cut(table: Table, merged: Table, cut: AtCut, at: Context) -> tuple[AtCut, list[Test]]:
    settings, order, wanted = at.settings, at.settings.order, cut.wanted
    column = int(np.searchsorted(at.thresholds, cut.threshold)) + 1 if cut.threshold > -np.inf else 0
    selected, squares = (values[:, column:].sum() for values in (merged.weight, merged.square))
    rest = merged.square.sum() - squares
    if not (selected > 0 and squares > 0 and rest > 1e-12 * squares):
        kept = "all" if selected > 0 else "none"
        return replace(cut, unknown=f"{wanted} selects {kept} of the background"), []
    null = Null(merged, order, [column])
    p = one_cut(null, min(at.ratio, 1.0))
    weight, passed, squares_passed = null.weight, null.selected[:, 0], null.squares_selected[:, 0]
    others = np.maximum(merged.square.sum(axis=1) - squares_passed, 0)
    edges = None if merged.edges is None else settings.in_unit(merged.edges)
    response = rates(edges, np.stack([passed, weight - passed]), np.stack([squares_passed, others]))
    means = null.design / weight[:, None]
    residual, expected = astuple(distance(response.value, response.error, means))
    zero_at = zero(merged, null)
    cut = replace(
        cut, selected=float(selected**2 / squares), residual=residual, expected=expected,
        chi2=float(np.sum(null.pulls[:, 0] ** 2)), ndof=null.ndof, p_cut=p.here, maximum_at=new_maximum(edges, null),
        zero_at=None if zero_at is None else float(settings.in_unit(zero_at)), polynomial=null.expected[:, 0] / weight,
    )  # fmt: skip
    tests = [Test(f"the efficiency at {wanted}, a residual of {residual:.2g}, {expected:.2g} by chance", p, 1)]
    if edges is not None:
        cut = replace(cut, efficiency=response)
        if null.ndof + null.terms > 2:
            cut = replace(cut, **bounds(null))
    if settings.max_slope is not None and math.isfinite(cut.slope_error):
        above = (cut.slope - (1 + ABOVE) * settings.max_slope) / cut.slope_error
        said = f"the slope of the response at {wanted} is {cut.slope:.2g} +- {cut.slope_error:.1g}"
        tests.append(Test(f"{said}, above max_slope = {settings.max_slope:g}", _one_sided(above, at), 2))
    if settings.monotonic and edges is not None:
        said = f"the response at {wanted} rises and falls, its turn of {cut.turn:.2g} is above 1"
        tests.append(Test(said, _one_sided(turns(null, order), at), 2))
    if at.of_signal is not None and len(at.of_signal) == len(weight):
        flat = means @ np.linalg.lstsq(means, response.value, rcond=None)[0]
        cut = replace(cut, sensitivity=_sensitivity(cut, response.value, flat, at))
    if expected > LARGEST:
        cut = _lacks(cut, f"the residual at {wanted} is {expected:.2g} from statistics alone", expected, table)
    if at.hunted is None or table.edges is None:
        return cut, tests
    try:
        fitted = bumps(table, null, settings, at.hunted, at.ratio, at.taught)
    except ValueError as error_of_fit:  # of a shape that does not describe the background
        return replace(cut, unknown=str(error_of_fit)), tests
    if not fitted:
        return cut, tests
    cut, test = _with_bump(cut, fitted, at, table)
    tests.append(test)
    if at.plain is not None and not cut.unknown and len(tests) * min(test.p.here for test in tests) >= NOT_FLAT:
        cut = replace(cut, unknown=_hidden(cut, fitted, column, at.plain, at))
    return cut, tests


def _hidden(cut: AtCut, fitted: list[Bump], column: int, plain: Table, at: Context) -> str:
    """The reason why heavy weights may hide a bump, which the events show without weights; or ""."""
    merged = plain.merged()
    if at.hunted is None or len(merged.weight) <= at.settings.order + 1:
        return ""
    seen = template(plain, Null(merged, at.settings.order, [column]), *at.hunted, at.ratio, at.taught)
    worst = min(seen, key=lambda bump: bump.p_value.here, default=None)
    own = next((bump for bump in fitted if worst and bump.signal_mass == worst.signal_mass), None)
    if worst is None or own is None or len(seen) * worst.p_value.here > NOT_FLAT:
        return ""
    if abs(own.height - worst.height) > EXCLUDED * own.height_error:
        return ""
    at_mass = f"at mass {float(at.settings.in_unit(worst.signal_mass)):.4g} at {cut.wanted}"
    return f"without weights it has a bump of {100 * worst.height:+.0f} % {at_mass}, which the weights do not exclude"


def _lacks(cut: AtCut, why: str, size: float, table: Table) -> AtCut:
    """The cut of a sample that lacks events: this size, which falls with their root, must be LARGEST at most."""
    here = table.effective
    needed = here * (size / LARGEST) ** 2
    if needed <= here:
        return replace(cut, unknown=why)
    why += f", and needs about {float(f'{needed:.2g}'):,.0f} effective background events, of which it has {here:,.0f}"
    return replace(cut, unknown=why, needed=needed)


def _with_bump(cut: AtCut, fitted: list[Bump], at: Context, table: Table) -> tuple[AtCut, Test]:
    """The cut with the most significant of the spurious signals, and its test."""
    worst = min(fitted, key=lambda bump: bump.p_value.here)
    p = Probability(*(min(len(fitted) * each, 1.0) for each in worst.p_value))
    signal_mass = float(at.settings.in_unit(worst.signal_mass))
    error = float(np.median([bump.height_error for bump in fitted]))
    heights = SHOWN * error
    chance = NormalDist().inv_cdf((1 + EXPECTED ** (1 / len(fitted))) / 2)  # errors of the largest bump
    enough = max(SHOWN, chance + EXCLUDED) * error
    bump = (
        f"a bump of {100 * worst.height:+.0f} +- {100 * worst.height_error:.0f} % at mass {signal_mass:.4g} "
        f"at {cut.wanted}, {worst.significance:+.1f} errors of the search"
    )
    if heights > LARGEST:
        cut = _lacks(cut, f"at {cut.wanted} it would show a bump of {100 * heights:.0f} % at least", enough, table)
    elif SHOWN * math.sqrt(at.ratio) > OF_SEARCH:
        needed = at.search * (SHOWN / OF_SEARCH) ** 2
        why = f"it has {1 / at.ratio:.2g} of the events of the search, and needs {needed:,.0f} effective ones"
        cut = replace(cut, needed=needed, unknown=why)
    elif p.here > NOT_FLAT / 10 and abs(worst.height) + EXCLUDED * worst.height_error > LARGEST:
        cut = _lacks(cut, f"it cannot exclude {bump}", enough, table)
    elif p.here > NOT_FLAT / 10 and abs(worst.height) > SHOWN * worst.height_error and worst.p_value.there < SEEN:
        cut = replace(cut, unknown=f"it cannot exclude {bump}")
    cut = replace(
        cut, signal_mass=signal_mass, spurious_signal=worst.signal, spurious_error=worst.error, smallest_bump=heights,
        significance=worst.significance, p_spurious=p.here, height=worst.height,
    )  # fmt: skip
    return cut, Test(bump, p, 2)


def _one_sided(above: float, at: Context) -> Probability:
    """Of a bound that is exceeded by this number of standard deviations; a training has fluctuations of its own."""
    scales = 1 / math.sqrt(1 + at.taught), math.sqrt(min(at.ratio, 1.0))
    return Probability(*(two_sided(max(above, 0.0) * scale) for scale in scales))


def _sensitivity(cut: AtCut, efficiency: Doubles, polynomial: Doubles, at: Context) -> float:
    """The significance of a signal over its value without a selection, with the residual as a systematic error."""
    of_signal = at.of_signal if at.of_signal is not None and at.of_signal.sum() > 0 else np.ones(len(efficiency))
    under = max(float(np.average(rates, weights=of_signal)) for rates in (efficiency, polynomial))
    if not under > 0:
        return math.nan
    square = max(cut.residual**2 - cut.expected**2, 0.0)
    count = under * at.search / len(efficiency)
    return float(cut.signal_efficiency / math.sqrt(under * (1 + square * count)))


def _rule(tests: list[Test], unknown: list[str], heights: list[float], order: int) -> tuple[bool | None, str, float]:
    """``flat``, the sentence and the p-value of all tests."""
    count = len(tests)
    p_value = min(1.0, *(count * test.p.here for test in tests)) if tests else math.nan
    seen = [test for test in tests if count * test.p.here < NOT_FLAT and test.p.there < SEEN]
    p = f"global p {shown(p_value)}"
    if seen:
        worst = min(seen, key=lambda test: (-test.rank, test.p.here))
        return False, f"not flat at order {order} ({p}): {worst.said}", p_value
    if unknown or not tests:
        return None, f"not known: {unknown[0] if unknown else 'it has too few events'}", p_value
    if NOT_FLAT <= p_value <= FLAT:
        worst = min(tests, key=lambda test: test.p.here)
        return None, f"not known at order {order} ({p}, between {NOT_FLAT} and {FLAT}): {worst.said}", p_value
    if p_value < NOT_FLAT:
        return True, f"flat at order {order} ({p} here): a search would not see the dependence", p_value
    known = [height for height in heights if math.isfinite(height)]
    would = f"; it would show a bump of {100 * max(known):.2g} % of the background" if known else ""
    return True, f"flat at order {order} ({p}): no dependence on the mass is seen{would}", p_value


def _verdict(parts: Mapping[str, Part], at: Context, categories: dict[Any, Check]) -> Check:
    """``flat`` by the rule of :func:`check` for all parts, by the beginning of their sentences; the first is shown."""
    settings, every = at.settings, next(iter(parts.values()))
    tests = [test._replace(said=of + test.said) for of, part in parts.items() for test in part.tests]
    unknown = [
        of + why for of, part in parts.items() for why in (part.unknown, *(cut.unknown for cut in part.cuts)) if why
    ]
    heights = [cut.smallest_bump for part in parts.values() for cut in part.cuts]
    taught = math.sqrt(1 + at.search / settings.training_events) if settings.training_events else math.nan
    return Check(
        *_rule(tests, unknown, heights, settings.order), len(tests), every.p_all_cuts, settings.order, every.events,
        at.search, taught, tuple(every.cuts), categories, settings.max_slope, settings.monotonic,
    )  # fmt: skip
