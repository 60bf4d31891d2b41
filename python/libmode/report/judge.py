"""All numbers of a report: a check of each score, and the ROC curve."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import metrics
from ..metrics import Check
from ..metrics.roc import Roc, area
from .events import Events, Wanted

ROC_POINTS = 500  # evenly spaced among all, and the same number towards the highest scores


class Judged(NamedTuple):
    """A score with its results."""

    score: str
    check: Check
    auc: float | None  #: None without a label
    roc: Roc | None
    warnings: list[str]  #: of libmode.metrics


def judge(wanted: Wanted, events: Events, settings: dict[str, Any]) -> Iterator[Judged]:
    """The results for each score; ``settings`` are arguments of :func:`metrics.check`."""
    label = None if wanted.label is None else events.label
    for name, score in zip(wanted.scores, events.scores.T, strict=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            points = None if label is None else metrics.roc(score, label, weight=events.weight)
            check = metrics.check(score, label, events.mass, weight=events.weight, **settings)
        said = [str(one.message).replace("give mass_range", "take the others by --cut") for one in caught]
        auc, thinned = (area(points), _thinned(points)) if points else (None, None)
        yield Judged(name, check, auc, thinned, list(dict.fromkeys(said)))


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
