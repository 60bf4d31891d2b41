"""The tests of each cut, and the verdict that follows from their p-values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ._arguments import Doubles
from ._bumps import Bump, bumps
from ._result import NUMBERS, AtCut, Check, shown
from ._settings import Settings
from ._table import Table
from ._verdict import Null, Probability, all_cuts, bounds, new_maximum, one_cut, turns, two_sided, zero
from ._working_point import POINTS
from .mass import Efficiency

# The rule, see :func:`libmode.metrics.check`.
NOT_FLAT, FLAT = 0.01, 0.05  # p-values below which it is not flat, and above which nothing is seen
SEEN = 0.05  # the p-value that a search with ``tolerance`` events would find on average
SHOWN = 3.0  # standard deviations of a bump that a sample shows
LARGEST = 0.5  # of the background under it: a sample that shows no smaller bump is too small
OF_SEARCH = 6.0  # the same in errors of the search
EXCLUDED = 2.0  # standard deviations above the fitted bump: a sample that allows such a bump of half is not flat


class Context(NamedTuple):
    """What the parts of a check share."""

    settings: Settings
    thresholds: Doubles  #: of the columns of tables, (c - 1,)
    cuts: list[float]
    rates: list[tuple[float, ...]]  #: efficiencies of signal and background at each cut
    search: float  #: N
    ratio: float  #: N / n, events of the search over events here
    taught: float  #: n / T, over events of the training; 0 if unknown
    hunted: tuple[Doubles, Doubles] | None  #: masses and widths of signals
    of_signal: Doubles | None  #: (b,) the signal in the bins of mass of all events


class Test(NamedTuple):
    """What a test looked at, and values."""

    said: str
    p: Probability
    rank: int  #: of several that fail, the verdict names one of the highest rank


class Part(NamedTuple):
    """All events, or a category."""

    cuts: list[AtCut]
    tests: list[Test]
    p_all_cuts: float
    events: float
    unknown: str  #: why nothing is known


def effective(table: Table) -> float:
    return float(table.weight.sum() ** 2 / table.square.sum())


def tested(table: Table, at: Context) -> Part:
    order, settings = at.settings.order, at.settings
    merged = table.merged()
    terms = int(np.count_nonzero(table.degree <= order))
    if len(merged.weight) <= terms or (merged.weight.sum(axis=1) <= 0).any():
        few = f"the masses fill {len(merged.weight)} bins, and order = {order} needs {terms + 1}"
        empty = [
            AtCut(**_of_point((*point, cut, rates)), unknown=few, why=f"not known: {few}")
            for point, cut, rates in zip(settings.points, at.cuts, at.rates, strict=True)
        ]
        return Part(empty, [], math.nan, effective(table), few)
    tests: list[Test] = []
    every = all_cuts(merged, order, min(at.ratio, 1.0))
    if every is not None:
        tests.append(Test("the response at all cuts", every, 0))
    cuts = []
    for (name, value), cut, rates in zip(settings.points, at.cuts, at.rates, strict=True):
        column = int(np.searchsorted(at.thresholds, cut)) + 1 if cut > -np.inf else 0
        at_cut, own = _at_cut(table, merged, column, (name, value, cut, rates), at)
        why_not = [at_cut.unknown] if at_cut.unknown else []
        flat, why, p = _rule(own, why_not, [at_cut.smallest_bump], order)
        cuts.append(replace(at_cut, flat=flat, why=why, p_value=p))
        tests += own
    return Part(cuts, tests, math.nan if every is None else every.here, effective(table), "")


def _of_point(point: tuple[str, float, float, tuple[float, ...]]) -> dict[str, Any]:
    """The fields of a cut of which only the working point is known."""
    name, value, cut, rates = point
    percent = f"{100 * value:g}"
    return {each: math.nan for each in NUMBERS} | {
        "wanted": f"score >= {value:g}" if name == POINTS[2] else f"{percent} % {name.replace('_', ' ')}",
        "name": f"{value:g}" if name == POINTS[2] else percent,
        "threshold": cut, "signal_efficiency": rates[0], "background_efficiency": rates[1],
        "zero_at": None, "maximum_at": None, "ndof": 0, "selected": 0.0,
    }  # fmt: skip


def _at_cut(
    table: Table, merged: Table, column: int, point: tuple[str, float, float, tuple[float, ...]], at: Context
) -> tuple[AtCut, list[Test]]:
    settings, order = at.settings, at.settings.order
    values = _of_point(point)
    wanted = values["wanted"]
    selected, squares = (values[:, column:].sum() for values in (merged.weight, merged.square))
    rest = merged.square.sum() - squares
    if not (selected > 0 and squares > 0 and rest > 1e-12 * squares):
        kept = "all" if selected > 0 else "none"
        return AtCut(**values, unknown=f"{wanted} selects {kept} of the background"), []
    null = Null(merged, order, [column])
    p = one_cut(null, min(at.ratio, 1.0))
    weight, of_squares = null.weight, merged.square.sum(axis=1)
    value_of = null.selected[:, 0] / weight
    passed = null.squares_selected[:, 0]
    error = np.sqrt(np.maximum(passed * (1 - value_of) ** 2 + (of_squares - passed) * value_of**2, 0)) / weight
    means = null.design / weight[:, None]
    flat = means @ np.linalg.lstsq(means, value_of, rcond=None)[0]
    mean = float(value_of.mean())
    edges = None if merged.edges is None else settings.in_unit(merged.edges)
    zero_at = zero(merged, null)
    values |= {
        "selected": float(selected**2 / squares),
        "residual": float(np.sqrt(np.mean((value_of - flat) ** 2))) / mean if mean > 0 else math.nan,
        "expected": math.sqrt(float(np.mean(error**2)) * null.ndof / len(weight)) / mean if mean > 0 else math.nan,
        "chi2": float(np.sum(null.pulls()[:, 0] ** 2)),
        "ndof": null.ndof,
        "p_cut": p.here,
        "maximum_at": new_maximum(edges, null),
        "zero_at": None if zero_at is None else float(settings.in_unit(zero_at)),
        "polynomial": null.expected[:, 0] / weight,
    }
    residual = f"{values['residual']:.2g}, {values['expected']:.2g} by chance"
    tests = [Test(f"the efficiency at {wanted}, a residual of {residual}", p, 1)]
    if edges is not None:
        values["efficiency"] = Efficiency(edges, value_of, error, weight, null.selected[:, 0])
        if null.ndof + null.terms > 2:
            values |= bounds(null)._asdict()
    if settings.max_slope is not None and math.isfinite(values["slope_error"]):
        above = (values["slope"] - settings.max_slope) / values["slope_error"]
        tests.append(Test(f"the slope {values['slope']:.2g} at {wanted}", _one_sided(above, at), 2))
    if settings.monotonic and edges is not None:
        tests.append(Test(f"the turn {values['turn']:.2g} at {wanted}", _one_sided(turns(null, order), at), 2))
    unknown = ""
    if values["expected"] > LARGEST:
        unknown = f"the residual at {wanted} is {values['expected']:.2g} from statistics alone"
    fitted: list[Bump] = []
    if at.hunted is not None and table.edges is not None:
        try:
            fitted = bumps(table, null, settings, at.hunted, at.ratio, at.taught)
        except ValueError as error:  # of a shape that does not describe the background
            unknown = str(error)
    if fitted:
        worst = min(fitted, key=lambda bump: bump.p_value.here)
        p = Probability(*(min(len(fitted) * each, 1.0) for each in worst.p_value))
        signal_mass = float(settings.in_unit(worst.signal_mass))
        heights = float(np.median([bump.height_error for bump in fitted])) * SHOWN
        values |= {
            "signal_mass": signal_mass, "spurious_signal": worst.signal, "spurious_error": worst.error,
            "significance": worst.significance, "p_spurious": p.here, "height": worst.height, "smallest_bump": heights,
        }  # fmt: skip
        bump = (
            f"a bump of {100 * worst.height:+.0f} +- {100 * worst.height_error:.0f} % at mass {signal_mass:.4g} "
            f"at {wanted}, {worst.significance:+.1f} errors of the search"
        )
        tests.append(Test(bump, p, 3))
        if heights > LARGEST:
            unknown = f"at {wanted} it would show a bump of {100 * heights:.0f} % of the background and more"
        elif SHOWN * math.sqrt(at.ratio) > OF_SEARCH:
            unknown = f"it has {1 / at.ratio:.2g} of the events of the search"
        elif p.here > NOT_FLAT / 10 and (
            abs(worst.height) + EXCLUDED * worst.height_error > LARGEST
            or (abs(worst.height) > SHOWN * worst.height_error and worst.p_value.there < SEEN)
        ):
            unknown = f"it cannot exclude {bump}"
    if at.of_signal is not None and len(at.of_signal) == len(weight):
        values["sensitivity"] = _sensitivity(values, value_of, flat, at)
    return AtCut(**values, unknown=unknown), tests


def _one_sided(above: float, at: Context) -> Probability:
    """Of a bound that is exceeded by so many standard deviations."""
    here, there = (two_sided(max(above, 0.0) * scale) for scale in (1.0, math.sqrt(min(at.ratio, 1.0))))
    return Probability(here, there)


def _sensitivity(values: dict[str, Any], efficiency: Doubles, polynomial: Doubles, at: Context) -> float:
    """The significance of a signal over its value without a selection, with the residual as a systematic error."""
    of_signal = at.of_signal if at.of_signal is not None and at.of_signal.sum() > 0 else np.ones(len(efficiency))
    under = max(float(np.average(rates, weights=of_signal)) for rates in (efficiency, polynomial))
    if not under > 0:
        return math.nan
    square = max(values["residual"] ** 2 - values["expected"] ** 2, 0.0)
    count = under * at.search / len(efficiency)
    return float(values["signal_efficiency"] / math.sqrt(under * (1 + square * count)))


def _rule(tests: list[Test], unknown: list[str], heights: list[float], order: int) -> tuple[bool | None, str, float]:
    """``flat``, the sentence and the p-value of all tests."""
    count = len(tests)
    p_value = min(1.0, *(count * test.p.here for test in tests)) if tests else math.nan
    seen = [test for test in tests if count * test.p.here < NOT_FLAT and test.p.there < SEEN]
    at_order = f"at order {order}"
    if seen:
        worst = min(seen, key=lambda test: (-test.rank, test.p.here))
        return False, f"not flat {at_order}: {worst.said} (p {shown(count * worst.p.here)})", p_value
    if unknown or not tests:
        return None, f"not known: {unknown[0] if unknown else 'it has too few events'}", p_value
    if NOT_FLAT <= p_value <= FLAT:
        worst = min(tests, key=lambda test: test.p.here)
        why = f"not known {at_order}: {worst.said} (p {shown(p_value)}, between {NOT_FLAT} and {FLAT})"
        return None, why, p_value
    if p_value < NOT_FLAT:
        return True, f"flat {at_order}: a search would not see the dependence (p {shown(p_value)} here)", p_value
    known = [height for height in heights if math.isfinite(height)]
    would = f"; it would show a bump of {100 * max(known):.2g} % of the background" if known else ""
    return True, f"flat {at_order}: no dependence on the mass is seen (p {shown(p_value)}){would}", p_value


def verdict(parts: Mapping[Any, Part], at: Context, categories: Mapping[Any, Check] | None = None) -> Check:
    """``flat`` by the rule of :func:`check`, and the sentence."""
    settings = at.settings
    tests = [
        test._replace(said=f"category {name}: {test.said}") if name != "" and categories else test
        for name, part in parts.items()
        for test in part.tests
    ]
    unknown = [
        f"category {name}: {why}" if name != "" and categories else why
        for name, part in parts.items()
        for why in [part.unknown, *(cut.unknown for cut in part.cuts)]
        if why
    ]
    first = next(iter(parts.values()))
    heights = [cut.smallest_bump for part in parts.values() for cut in part.cuts]
    flat, why, p_value = _rule(tests, unknown, heights, settings.order)
    t, share = settings.training_events, at.search
    return Check(
        flat, why, p_value, len(tests), first.p_all_cuts, settings.order, first.events, share,
        math.sqrt(1 + share / t) if t else math.nan, tuple(first.cuts), dict(categories or {}), settings.max_slope,
        settings.monotonic,
    )  # fmt: skip
