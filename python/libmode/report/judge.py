"""All numbers of a report: calls of :mod:`libmode.metrics`, for each score and each working point."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import metrics, mode_edges
from .._problems import far
from ..metrics._backwards import sentence
from ..metrics._histogram import Histogram
from ..metrics.check import AtCut, Settings
from ..metrics.check import Judge as Check
from ..metrics.dependence import Dependence
from ..metrics.roc import Roc, working_point
from . import spurious, words
from .events import Events, Wanted
from .fill import fill
from .problem import Problem
from .sample import Sample

FLEXIBLE = 6  # A background of a higher order takes the shape of a bump that is wider than the signal.
BINS = 20  # of mass, with equal numbers of background events
BUMP = ("signal_mass", "spurious_signal", "spurious_error", "significance", "smallest_bump")  # of a template
ROC_POINTS = 500  # evenly spaced among all, and as many more towards the highest scores

T = TypeVar("T")
Array = NDArray[Any]
Numbers = dict[str, Any]


class Judge:
    """Judges scores in the same bins of mass, at efficiencies of the signal or, without a label, of the background."""

    def __init__(
        self, wanted: Wanted, sample: Sample, order: int, points: Sequence[float], search: spurious.Search
    ) -> None:
        self._wanted, self._sample, self._order, self._points = wanted, sample, order, points
        self._mass = sample.background.mass
        self._edges = mode_edges(self._mass, bins=BINS)
        self._edges[[0, -1]] = sample.mass_range
        if len(self._edges) < order + 3:
            raise Problem(
                f"--mass gives {len(self._edges) - 1} bins of mass, since so many values are equal: expected at least "
                f"order + 2 = {order + 2}."
            )
        self._unknown: dict[str, str] = {}
        signal = sample.signal.mass
        self._said: list[tuple[str, str]] = []  # where, and a warning
        self._shapes: dict[str, int] = {}  # the orders of shapes that describe the background before the selection
        self._scan = self._searched("", self._unknown, lambda: spurious.plan(self._mass, signal, order, search))
        self._background_order = 0  # of the fits
        self._fit: Numbers | None = None
        labeled = wanted.label is not None
        both = Events.joined([sample.background, sample.signal]) if labeled else sample.background
        cuts: dict[str, Any] = {("signal" if labeled else "background") + "_efficiency": list(points)}
        settings = Settings.checked(
            order=order,
            **cuts,
            mass_range=sample.mass_range,
            signal_mass=search.mass,
            signal_width=search.widths[0] if len(search.widths) == 1 else None,
        )
        self._check = Check(settings, both.label, both.mass, both.weight)

    def histograms(self, chunks: Iterable[Events]) -> list[Histogram]:
        """A histogram of all events for each score."""
        every = self._edges if self._scan is None else np.union1d(self._edges, self._scan.edges)
        return fill(chunks, self._sample, every, self._order, len(self._wanted.scores))

    def scores(self, histograms: list[Histogram]) -> Iterator[Numbers]:
        """The entry of report.json for each score, one after the other."""
        self._fit = self._fitted(histograms[0])
        for place, (name, histogram) in enumerate(zip(self._wanted.scores, histograms, strict=True)):
            yield {"score": name, **self._score(place, histogram)}

    def numbers(self, scores: list[Numbers]) -> Numbers:
        """The contents of report.json, with arrays and results of :mod:`libmode.metrics`; None: not known."""
        background, signal = self._sample.events
        return {
            **self._wanted._asdict(),
            "order": self._order,
            "entries": self._sample.entries,
            "events": background + signal,
            "signal": signal if self._wanted.label else None,
            "background": background,
            "tested": len(self._mass),
            "edges": self._edges,
            "fit": self._fit,
            "warnings": self._warnings(scores),
            "unknown": self._unknown,
            "scores": scores,
        }

    def _warnings(self, scores: list[Numbers]) -> list[str]:
        """Sentences on masses, labels and fits that may be wrong."""
        masses, (background, signal) = far(self._mass), self._sample.events
        said: list[str | None] = [f"{masses}: leave out events without a mass, by --cut"] if masses else []
        said += _joined(self._said)
        if self._fit is not None and self._background_order > FLEXIBLE:
            said.append(
                f"the fit of the spurious signal needs a background of order {self._background_order} before the "
                "selection, which can absorb a wide bump: leave out a turn-on of the spectrum by --cut, or take "
                "another --background"
            )
        for score in scores:
            if score["auc"] is not None:
                said.append(sentence(score["auc"], signal, background, "--label", f"--score {score['score']}"))
        return list(filter(None, said))

    def _fitted(self, histogram: Histogram) -> Numbers | None:
        """The fit, and its results before any selection; where no fit works then, none is tried later."""
        scan = self._scan
        order = self._order
        before = scan and self._searched("no cut: ", self._unknown, lambda: scan.of(histogram, order, None))
        if scan is None or before is None:
            self._scan = None
            return None
        self._background_order = before.background_order
        self._shapes = scan.orders(histogram, order)
        orders = {"order": order, "background_order": before.background_order}
        return scan._asdict() | orders | {"before": scan.numbers(before)}

    def _score(self, place: int, histogram: Histogram) -> Numbers:
        unknown: dict[str, str] = {}
        # Without a label the background stands for the signal, so that these are its efficiencies.
        curve = metrics.roc(histogram)
        background, signal = self._sample.background.scores[:, place], self._sample.signal.scores[:, place]
        dependence = _or_unknown(unknown, "dependence", lambda: self._dependence(background))
        labeled = self._wanted.label is not None
        check = self._check(np.append(background, signal) if labeled else background)
        closure = None
        if self._wanted.second is not None:
            closure = _or_unknown(unknown, "closure", lambda: self._closure(place))
        return {
            "check": {**check.to_dict(), "why": check.why},
            "auc": metrics.auc(histogram) if labeled else None,
            "dependence": dependence,
            "roc": _thinned(curve) if labeled else None,
            "closure": closure,
            "unknown": unknown,
            "working_points": [
                self._point(place, wanted, curve, cut, histogram)
                for wanted, cut in zip(self._points, check.cuts, strict=True)
            ],
        }

    def _point(self, place: int, wanted: float, curve: Roc, cut: AtCut, histogram: Histogram) -> Numbers:
        """One working point: events with score >= threshold are selected."""
        at = working_point(curve, wanted)
        threshold, rate = float(curve.threshold[at]), float(curve.false_positive_rate[at])
        unknown: dict[str, str] = {}
        if rate <= 0:
            unknown["rejection"] = f"the background efficiency is {rate:g}"
        where: dict[str, Any] = {"bins": self._edges, "threshold": threshold}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of bins that are NaN, which the page leaves out
            efficiency = metrics.efficiency(histogram, **where)
        residual = _or_unknown(unknown, "residual", lambda: metrics.residual(histogram, order=self._order, **where))
        jsd = _or_unknown(unknown, "1/JSD", lambda: metrics.jsd(histogram, **where))
        blind = _or_unknown(unknown, "1/JSD", lambda: metrics.jsd(histogram, blind=True, **where))
        if jsd == 0:
            unknown["1/JSD"] = "the masses of what is selected and what is not have the same spectrum"
        if not cut.p_value <= 1:
            unknown["dependence"] = cut.why
        scan, fits = self._scan, None
        where_from = f"{self._wanted.scores[place]} at {words.efficiency(wanted)}: "
        if scan is not None:
            orders = self._order, self._background_order
            fits = self._searched(where_from, unknown, lambda: scan.of(histogram, *orders, threshold=threshold))
        signal = scan and fits and scan.numbers(fits)
        if scan and signal and signal["quoted"]:
            mass = signal["quoted"]["signal_mass"]
            signal["by_shape"] = scan.by_shape(histogram, self._order, self._shapes, mass, threshold=threshold)
            if sentence := spurious.disagreement(mass, signal["by_shape"]):
                self._said.append((where_from, sentence))
        labeled = self._wanted.label is not None
        return {
            "wanted": wanted,
            "threshold": threshold,
            "signal_efficiency": float(curve.signal_efficiency[at]) if labeled else None,
            "background_efficiency": rate,
            "rejection": 1 / rate if rate > 0 else None,
            "efficiency": efficiency,
            "residual": residual,
            "flatness": residual and residual.flatness,
            "inverse_jsd": 1 / jsd if jsd else None,
            "inverse_jsd_ceiling": 1 / blind if blind else None,
            "dependence": {"p_value": cut.p_value} if cut.p_value <= 1 else None,
            "flat": cut.flat,
            "why": cut.why,
            "template": {name: getattr(cut, name) for name in BUMP} if np.isfinite(cut.significance) else None,
            "spurious_signal": signal,
            "unknown": unknown,
        }

    def _searched(self, where: str, unknown: dict[str, str], compute: Callable[[], T]) -> T | None:
        """The result of a search for a signal, whose warnings the page shows."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = _or_unknown(unknown, "spurious signal", compute)
        self._said += [(where, _without_arguments(str(one.message))) for one in caught]
        return result

    def _dependence(self, score: Array) -> Dependence:
        """The test of scores of the background of the sample."""
        return metrics.dependence(
            score,
            None,
            self._mass,
            weight=self._sample.background.weight,
            order=self._order,
            mass_range=self._sample.mass_range,
            score_range=None,
        )

    def _closure(self, place: int) -> Numbers:
        """The closure of the ABCD method with the second score; events of the sample stand for all of their class."""
        background, signal = self._sample.background, self._sample.signal
        both = Events.joined([background, signal])
        share = [
            of / max(len(part.mass), 1) for of, part in zip(self._sample.events, (background, signal), strict=True)
        ]
        weight = both.weight * np.where(both.label, share[1], share[0])
        closure = metrics.closure(both.scores[:, place], both.label, both.scores[:, -1], weight=weight)
        return {**vars(closure), "worst": closure.worst._asdict()}


def _joined(said: Iterable[tuple[str, str]]) -> list[str]:
    """Warnings with their places. Warnings whose first words differ in numbers alone are one, with the other places."""
    alike: dict[str, list[tuple[str, str]]] = {}
    for where, message in said:
        alike.setdefault(re.sub(r"[-+]?\d[\d.]*(e[-+]\d+)?", "#", message.split(": ")[0]), []).append((where, message))
    return [
        where + message + (f" (and so for {', '.join(other.rstrip(': ') for other, _ in others)})" if others else "")
        for (where, message), *others in alike.values()
    ]


def _or_unknown(unknown: dict[str, str], name: str, compute: Callable[[], T]) -> T | None:
    """The result of ``compute``; None, with the reason in ``unknown``, where the events do not allow it."""
    try:
        return compute()
    except (ValueError, RuntimeError) as error:
        unknown[name] = _without_arguments(str(error))
        return None


def _without_arguments(message: str) -> str:
    """A message of :mod:`libmode.metrics`, without advice on arguments that are no options of the command."""
    message = re.sub(r"signal_masses\[\d+\] = ", "", re.split(r"[:;] use |: try ", message)[0])
    return message.replace("signal_width", "--signal-width")


def _thinned(curve: Roc) -> Roc:
    """At most 1000 points of a curve, the first and the last among them, denser towards the highest scores."""
    last = len(curve.threshold) - 1
    places = np.r_[np.linspace(0, last, ROC_POINTS), np.geomspace(1, last + 1, ROC_POINTS) - 1]
    which = np.unique(np.rint(places).astype(int))
    return Roc(*(getattr(curve, name)[which] for name in ("signal_efficiency", "false_positive_rate", "threshold")))


def plain(value: Any) -> Any:
    """Dictionaries, dataclasses and arrays as values of JSON, with None for numbers that are not finite."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
