"""All numbers of a report: calls of :mod:`libmode.metrics`, for each score and each working point."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import metrics, mode_edges
from .._far_masses import far
from ..metrics._histogram import Histogram
from ..metrics.bias import SpuriousSignal
from ..metrics.closure import Closure
from ..metrics.dependence import Dependence
from ..metrics.mass import Efficiency, Residual
from ..metrics.roc import Roc, area, curve_of_cells, working_point
from . import spurious
from .closure import closure
from .fill import fill
from .problem import Problem
from .read import Events
from .sample import Sample

BINS = 20  # of mass, with equal numbers of background events
# Selected events that a bin of a test has at least on average. In 1000 toys with two, 0.7 % had p < 0.01 (10 bins) and
# 0.5 % (20 bins); with one, 1.6 to 1.9 %, and 0.3 % had p < 0.001.
PER_BIN = 2
ROC_POINTS = 500  # evenly spaced among all, and as many more towards the highest scores

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Point:
    """One working point of one score. What is None is not known; ``unknown`` says why."""

    wanted: float  #: efficiency of the signal, or of the background where there is no label
    threshold: float  #: events with score >= threshold are selected
    signal_efficiency: float | None  #: weight fraction of the signal that is selected
    background_efficiency: float  #: the same of the background: the false positive rate
    rejection: float | None  #: 1 / background_efficiency
    efficiency: Efficiency  #: of the background, by mass
    residual: Residual | None  #: of that around its best polynomial
    inverse_jsd: float | None  #: 1/JSD in base 2
    inverse_jsd_ceiling: float | None  #: that of a selection that does not look at the mass
    dependence: Dependence | None  #: of this selection alone
    spurious: SpuriousSignal | None
    quoted: tuple[float, float, float] | None  #: the mass of the signal that is quoted, the signal and its error
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Judged:
    """One score."""

    auc: float | None
    roc: Roc | None  #: at most 1000 points of it
    dependence: Dependence | None  #: over all working points at once
    points: list[Point]
    closure: Closure | None = None  #: of the ABCD method with the second score
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Judgement:
    """All of them."""

    events: int  #: that pass the cut
    signal: int | None  #: of these; None where there is no label
    background: int
    tested: int  #: background events in the tests of dependence
    edges: NDArray[np.float64]  #: of the bins of mass
    far_masses: str | None  #: what is to be said of a few masses far from all others
    fit: spurious.Fit | None
    scores: list[Judged]
    unknown: dict[str, str] = field(default_factory=dict)

    def p_values(self) -> list[float | None]:
        """Of every test of dependence."""
        return [None if test.dependence is None else test.dependence.p_value for test in self.tests()]

    def tests(self) -> list[Judged | Point]:
        """What has a test of dependence: each score, followed by its working points."""
        every: list[Judged | Point] = []
        for score in self.scores:
            every += [score, *score.points]
        return every


def judge(
    sample: Sample,
    chunks: Iterable[Events],
    order: int,
    wanted: list[float],
    advance: Callable[[str], object] = lambda _: None,
    search: spurious.Search = spurious.ANY,
) -> Judgement:
    """Judges each score at these efficiencies.

    sample : a part of the events
    chunks : all of them
    advance : is called with what comes next

    Raises
    ------
    Problem, ValueError
        Where the events do not allow it at all: there are too few masses.
    """
    tested = Tested(sample, order)
    unknown: dict[str, str] = {}
    signal = None if sample.of_signal is None else sample.of_signal.mass
    masses = sample.background.mass
    plan = _or_unknown(unknown, "spurious signal", lambda: spurious.plan(masses, signal, order, search))
    every = tested.edges if plan is None else np.union1d(tested.edges, plan.edges)
    histograms = fill(chunks, sample, every, order)
    advance("spurious signal before a selection")
    fit = None
    if plan is not None:
        fit = _or_unknown(unknown, "spurious signal", lambda: spurious.fit(histograms[0], plan, order))
    scores = []
    for place, histogram in enumerate(histograms):
        advance(f"score {place + 1} of {len(histograms)}")
        judged = _of_score(sample.background.scores[place], histogram, tested, fit, wanted)
        if sample.background.second is not None:
            found = _or_unknown(judged.unknown, "closure", partial(closure, sample, place))
            judged = replace(judged, closure=found)
        scores.append(judged)
    return Judgement(
        events=sample.events,
        signal=sample.signal,
        background=sample.events - (sample.signal or 0),
        tested=len(sample.background.mass),
        edges=tested.edges,
        far_masses=tested.far_masses,
        fit=fit,
        scores=scores,
        unknown=unknown,
    )


class Tested:
    """The background events that are tested for dependence, and the bins of mass."""

    def __init__(self, sample: Sample, order: int) -> None:
        self.mass, self.weight = sample.background.mass, sample.background.weight
        self.order, self.mass_range = order, sample.mass_range
        self.far_masses = far(self.mass)
        self.edges = mode_edges(self.mass, bins=BINS)
        self.edges[[0, -1]] = sample.mass_range
        if len(self.edges) < order + 3:
            raise Problem(
                f"--mass gives {len(self.edges) - 1} bins of mass, since so many values are equal: "
                f"expected at least order + 2 = {order + 2}."
            )

    def dependence(self, score: NDArray[Any], bins: int | None) -> Dependence:
        """The test of these scores, (n,)."""
        return metrics.dependence(
            score,
            self.mass,
            weight=self.weight,
            order=self.order,
            bins=bins,
            mass_range=self.mass_range,
            score_range=None,
        )


def _or_unknown(unknown: dict[str, str], name: str, compute: Callable[[], T]) -> T | None:
    """What ``compute`` returns; None where the events do not allow it, for the reason that it gives."""
    try:
        return compute()
    except (ValueError, RuntimeError) as error:
        # Without the advice on arguments, which a report does not have.
        unknown[name] = re.split(r"[:;] use ", str(error))[0]
        return None


def _of_score(
    score: NDArray[Any], histogram: Histogram, tested: Tested, fit: spurious.Fit | None, wanted: list[float]
) -> Judged:
    """score : (n,) of the events that are tested"""
    unknown: dict[str, str] = {}
    background, signal = histogram.background(), histogram.signal
    if background[0].sum() <= 0:
        raise Problem(f"--weight sums to {background[0].sum():g} over all background: expected a positive sum.")
    # Without a label the efficiencies that are wanted are those of the background.
    curve = curve_of_cells(background if signal is None else signal, background, histogram.score)
    test = _or_unknown(unknown, "dependence", lambda: tested.dependence(score, None))
    points = []
    for efficiency in wanted:
        at = working_point(curve, efficiency)
        kept = None if signal is None else float(curve.signal_efficiency[at])
        cut, rate = float(curve.threshold[at]), float(curve.false_positive_rate[at])
        points.append(_at(efficiency, cut, kept, rate, score >= cut, histogram, tested, fit))
    if signal is None:
        return Judged(None, None, test, points, unknown=unknown)
    return Judged(area(curve), _thinned(curve), test, points, unknown=unknown)


def _at(
    wanted: float,
    threshold: float,
    signal_efficiency: float | None,
    rate: float,
    selected: NDArray[np.bool_],
    histogram: Histogram,
    tested: Tested,
    fit: spurious.Fit | None,
) -> Point:
    unknown: dict[str, str] = {}
    if rate <= 0:
        unknown["rejection"] = f"the background efficiency is {rate:g}"
    where: dict[str, Any] = {"bins": tested.edges, "cut": threshold}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of bins that are NaN, which the page leaves out
        efficiency = metrics.efficiency(histogram, **where)
    residual = _or_unknown(unknown, "residual", lambda: metrics.residual(histogram, degree=tested.order, **where))
    jsd = _or_unknown(unknown, "1/JSD", lambda: metrics.jsd(histogram, **where))
    blind = _or_unknown(unknown, "1/JSD", lambda: metrics.jsd(histogram, blind=True, **where))
    if jsd == 0:
        unknown["1/JSD"] = "the masses of what is selected and what is not have the same spectrum"
    few = min(int(selected.sum()), int((~selected).sum()))
    bins = min(max(few // PER_BIN, tested.order + 2), BINS)
    test = _or_unknown(unknown, "dependence", lambda: tested.dependence(selected, bins))
    scan, at = None, None
    if fit is not None:
        scan = _or_unknown(unknown, "spurious signal", lambda: fit.scan(histogram, threshold))
        failed = 0 if scan is None else int(np.isnan(scan.signal).sum())
        if failed:
            unknown["spurious signal"] = f"the fit has too few events at {failed} of {len(fit.plan.signal_mass)} masses"
        at = None if scan is None else spurious.quoted(scan, fit.plan.quoted)
    return Point(
        wanted=wanted,
        threshold=threshold,
        signal_efficiency=signal_efficiency,
        background_efficiency=rate,
        rejection=1 / rate if rate > 0 else None,
        efficiency=efficiency,
        residual=residual,
        inverse_jsd=1 / jsd if jsd else None,
        inverse_jsd_ceiling=1 / blind if blind else None,
        dependence=test,
        spurious=scan,
        quoted=at,
        unknown=unknown,
    )


def _thinned(curve: Roc) -> Roc:
    """At most 1000 of its points, the first and the last among them, denser towards the highest scores."""
    last = len(curve.threshold) - 1
    even, dense = np.linspace(0, last, ROC_POINTS), np.geomspace(1, last + 1, ROC_POINTS) - 1
    which = np.unique(np.rint(np.r_[even, dense]).astype(int))
    return Roc(curve.signal_efficiency[which], curve.false_positive_rate[which], curve.threshold[which])
