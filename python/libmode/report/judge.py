"""All numbers of a report: calls of :mod:`libmode.metrics`, for each score and each working point."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import metrics, mode_edges
from .._far_masses import far
from ..metrics.roc import ROUNDING, area, working_point
from . import spurious
from .problem import Problem
from .read import Sample

BINS = 20  # of mass, with equal numbers of background events
MOST_TESTED = 2_000_000  # background events in the tests of dependence: more take half a second for each million
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
    efficiency: metrics.Efficiency  #: of the background, by mass
    residual: metrics.Residual | None  #: of that around its best polynomial
    inverse_jsd: float | None  #: 1/JSD in base 2
    inverse_jsd_ceiling: float | None  #: that of a selection that does not look at the mass
    dependence: metrics.Dependence | None  #: of this selection alone
    spurious: metrics.SpuriousSignal | None
    quoted: tuple[float, float, float] | None  #: the mass of the signal that is quoted, the signal and its error
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Judged:
    """One score."""

    auc: float | None
    roc: metrics.Roc | None  #: at most 1000 points of it
    dependence: metrics.Dependence | None  #: over all working points at once
    points: list[Point]
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
    order: int,
    wanted: list[float],
    advance: Callable[[str], object] = lambda _: None,
    search: spurious.Search = spurious.ANY,
) -> Judgement:
    """Judges each score of a sample at these efficiencies.

    advance : is called with what comes next

    Raises
    ------
    Problem, ValueError
        Where the events do not allow it at all: a class is missing, or there are too few masses.
    """
    background = _Background(sample, order)
    advance("spurious signal before a selection")
    unknown: dict[str, str] = {}
    signal = None if sample.label is None else sample.mass[sample.label]
    fit = _or_unknown(
        unknown, "spurious signal", lambda: spurious.fit(background.mass, background.weight, signal, order, search)
    )
    scores = []
    for number, score in enumerate(sample.scores, 1):
        advance(f"score {number} of {len(sample.scores)}")
        scores.append(_of_score(score, sample, background, fit, wanted))
    return Judgement(
        events=len(sample.mass),
        signal=None if sample.label is None else int(sample.label.sum()),
        background=len(background.mass),
        tested=background.tested,
        edges=background.edges,
        far_masses=background.far_masses,
        fit=fit,
        scores=scores,
        unknown=unknown,
    )


class _Background:
    """The background, its bins of mass, and which of its events are tested."""

    def __init__(self, sample: Sample, order: int) -> None:
        self._chosen = None if sample.label is None else ~sample.label
        self.mass = self.of(sample.mass)
        if len(self.mass) == 0:
            raise Problem("--label is 1 for all events: expected background, which has label 0.")
        if len(self.mass) == len(sample.mass) and sample.label is not None:
            raise Problem("--label is 0 for all events: expected signal, which has label 1; or leave --label out.")
        if np.min(self.mass) == np.max(self.mass):
            raise Problem(f"--mass is {self.mass[0]:g} for all background: expected masses that differ.")
        self.weight = None if sample.weight is None else self.of(sample.weight)
        self.order = order
        self.far_masses = far(self.mass)
        self.mass_range = float(np.min(self.mass)), float(np.max(self.mass))
        self.edges = mode_edges(self.mass, bins=BINS)
        if len(self.edges) < order + 3:
            raise Problem(
                f"--mass gives {len(self.edges) - 1} bins of mass, since so many values are equal: "
                f"expected at least order + 2 = {order + 2}."
            )
        count = len(self.mass)
        self._tested = None
        if count > MOST_TESTED:
            self._tested = np.sort(np.random.default_rng(0).choice(count, MOST_TESTED, replace=False, shuffle=False))
        self.tested = min(count, MOST_TESTED)

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """The background among all events."""
        return array if self._chosen is None else array[self._chosen]

    def dependence(self, score: NDArray[Any], bins: int | None) -> metrics.Dependence:
        """The test of these events, or of some of them."""
        which = slice(None) if self._tested is None else self._tested
        weight = None if self.weight is None else self.weight[which]
        return metrics.dependence(
            score[which],
            self.mass[which],
            weight=weight,
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
    score: NDArray[Any], sample: Sample, background: _Background, fit: spurious.Fit | None, wanted: list[float]
) -> Judged:
    unknown: dict[str, str] = {}
    of_background = background.of(score)
    auc, curve = None, None
    cuts: list[tuple[float, float | None, float]]
    if sample.label is None:
        cuts = [(cut, None, kept) for cut, kept in _kept(score, sample.weight, wanted)]
    else:
        whole = metrics.roc(score, sample.label, weight=sample.weight)
        at = [working_point(whole, efficiency) for efficiency in wanted]
        cuts = [
            (float(whole.threshold[k]), float(whole.signal_efficiency[k]), float(whole.false_positive_rate[k]))
            for k in at
        ]
        auc, curve = area(whole), _thinned(whole)
        del whole
    test = _or_unknown(unknown, "dependence", lambda: background.dependence(of_background, None))
    points = [
        _at(efficiency, *cut, of_background >= cut[0], background, fit)
        for efficiency, cut in zip(wanted, cuts, strict=True)
    ]
    return Judged(auc, curve, test, points, unknown)


def _at(
    wanted: float,
    threshold: float,
    signal_efficiency: float | None,
    rate: float,
    selected: NDArray[np.bool_],
    background: _Background,
    fit: spurious.Fit | None,
) -> Point:
    unknown: dict[str, str] = {}
    mass, weight, edges = background.mass, background.weight, background.edges
    if rate <= 0:
        unknown["rejection"] = f"the background efficiency is {rate:g}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of bins that are NaN, which the page leaves out
        efficiency = metrics.efficiency(mass, selected, edges, weight=weight)
    residual = _or_unknown(
        unknown, "residual", lambda: metrics.residual(mass, selected, edges, degree=background.order, weight=weight)
    )
    jsd = _or_unknown(unknown, "1/JSD", lambda: metrics.jsd(mass, selected, edges, weight=weight))
    blind = _or_unknown(unknown, "1/JSD", lambda: metrics.blind_jsd(mass, selected, edges, weight=weight))
    if jsd == 0:
        unknown["1/JSD"] = "the masses of what is selected and what is not have the same spectrum"
    few = min(int(selected.sum()), int((~selected).sum())) * background.tested // len(mass)
    bins = min(max(few // PER_BIN, background.order + 2), BINS)
    test = _or_unknown(unknown, "dependence", lambda: background.dependence(selected, bins))
    scan, at = None, None
    if fit is not None:
        of_selected = None if weight is None else weight[selected]
        scan = _or_unknown(unknown, "spurious signal", lambda: fit.scan(mass[selected], of_selected))
        failed = 0 if scan is None else int(np.isnan(scan.signal).sum())
        if failed:
            unknown["spurious signal"] = f"the fit has too few events at {failed} of {len(fit.signal_mass)} masses"
        at = None if scan is None else spurious.quoted(scan, fit.quoted)
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


def _kept(score: NDArray[Any], weight: NDArray[Any] | None, wanted: list[float]) -> list[tuple[float, float]]:
    """For each efficiency the largest threshold that keeps at least so much of the weight, and what it keeps.

    As :func:`libmode.metrics.threshold` does of the signal.
    """
    order = np.argsort(score)[::-1]
    ordered = score[order]
    passed = np.cumsum(np.ones(len(score)) if weight is None else weight[order], dtype=np.float64)
    if passed[-1] <= 0:
        raise Problem(f"--weight sums to {passed[-1]:g} over all events: expected a positive sum.")
    last_of_tied = np.append(ordered[1:] != ordered[:-1], True)
    fraction, thresholds = passed[last_of_tied] / passed[-1], ordered[last_of_tied]
    at = [int(np.argmax(fraction >= efficiency * (1 - ROUNDING))) for efficiency in wanted]
    return [(float(thresholds[k]), float(fraction[k])) for k in at]


def _thinned(curve: metrics.Roc) -> metrics.Roc:
    """At most 1000 of its points, the first and the last among them, denser towards the highest scores."""
    last = len(curve.threshold) - 1
    even, dense = np.linspace(0, last, ROC_POINTS), np.geomspace(1, last + 1, ROC_POINTS) - 1
    which = np.unique(np.rint(np.r_[even, dense]).astype(int))
    return metrics.Roc(curve.signal_efficiency[which], curve.false_positive_rate[which], curve.threshold[which])
