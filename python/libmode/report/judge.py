"""All numbers of a report: a check of each score, and the ROC curve."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from .._problems import far
from ..metrics import Check
from ..metrics._judge import Judge
from ..metrics._sample import Sample as EventsOfMetrics
from ..metrics._sample import sentence
from ..metrics._settings import Settings
from ..metrics.roc import Roc, area, curve
from .events import Events, Wanted
from .sample import Sample

ROC_POINTS = 500  # evenly spaced among all, and the same number towards the highest scores
INVERSE: dict[str, Callable[[Any], Any]] = {
    "log": np.exp,
    "log10": lambda x: np.power(10.0, x),
    "log2": np.exp2,
    "log1p": np.expm1,
}


class Judged(NamedTuple):
    """A score with its results."""

    score: str
    check: Check
    auc: float | None  #: None without a label
    roc: Roc | None


def in_unit(mass: str) -> tuple[str, Callable[[Any], Any]]:
    """What a mass is a logarithm of, and the function from the one to the other; other masses as they are."""
    try:
        match ast.parse(mass.strip(), mode="eval").body:
            case ast.Call(ast.Name(name), [inner]) if name in INVERSE:
                return ast.unparse(inner), INVERSE[name]
    except SyntaxError:  # the name of a column, or an expression with backticks
        pass
    return mass, np.asarray


def judge(wanted: Wanted, sample: Sample, settings: Settings) -> Iterator[Judged]:
    """The results for each score, one after the other."""
    labeled = wanted.label is not None
    events = Events.joined([sample.background, sample.signal]) if labeled else sample.background
    check = Judge(settings, events.label, events.mass, events.weight)
    for name, score in zip(wanted.scores, events.scores.T, strict=True):
        points = curve(EventsOfMetrics(score, events.label, events.mass[:, None], events.weight)) if labeled else None
        yield Judged(
            name,
            check(score),
            area(points) if points else None,
            _thinned(points) if points else None,
        )


def numbers(wanted: Wanted, sample: Sample, settings: Settings, scores: list[Judged]) -> dict[str, Any]:
    """The contents of report.json, in which None is a number that is not known."""
    background, signal = sample.events
    masses = far(sample.background.mass)
    said = [f"{masses}: leave out events without a mass, by --cut"] if masses else []
    said += [
        warning
        for one in scores
        if one.auc is not None and (warning := sentence(one.auc, signal, background, "--label", f"--score {one.score}"))
    ]
    contents: dict[str, Any] = plain(
        {
            **wanted._asdict(),
            "order": settings.order,
            "entries": sample.entries,
            "signal": signal if wanted.label else None,
            "background": background,
            "tested": len(sample.background.mass),
            "warnings": said,
            "scores": [one._asdict() for one in scores],
        }
    )
    return contents


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
