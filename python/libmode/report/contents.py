"""The numbers of a report as plain dictionaries and lists: what report.json holds, and what the page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from .. import __version__
from .judge import Judged, Judgement, Point
from .read import Wanted
from .sample import Sample
from .sources import Source
from .spurious import quoted
from .verdict import verdict


def contents(
    sources: Sequence[Source],
    wanted: Wanted,
    sample: Sample,
    found: Judgement,
    order: int,
    max_dependence: float | None,
) -> dict[str, Any]:
    """Everything, with None for what is not known or not finite."""
    labelled = wanted.label is not None
    fit = found.fit
    of_fit = None
    if fit is not None:
        of_fit = {name: getattr(fit.plan, name) for name in ("edges", "signal_width", "quoted")}
        of_fit |= {"degree": fit.degree, "before": _spurious(fit.before, quoted(fit.before, fit.plan.quoted))}
    numbers: dict[str, Any] = _plain(
        {
            "libmode": __version__,
            "files": [str(source) for source in sources],
            "mass": wanted.mass,
            "weight": wanted.weight,
            "label": wanted.label,
            "cut": wanted.cut,
            "second": wanted.second,
            "order": order,
            "entries": sample.entries,
            "events": found.events,
            "signal": found.signal,
            "background": found.background,
            "tested": found.tested,
            "edges": found.edges,
            "fit": of_fit,
            "far_masses": found.far_masses,
            "unknown": found.unknown,
            "max_dependence": max_dependence,
            "passed": passed(found, max_dependence),
            "scores": [
                _score(name, judged, order, labelled) for name, judged in zip(wanted.scores, found.scores, strict=True)
            ],
        }
    )
    return numbers


def passed(found: Judgement, max_dependence: float | None) -> bool | None:
    """Whether no test has a p-value below ``max_dependence``; None without that, or where one is not known."""
    values = found.p_values()
    if max_dependence is None:
        return None
    if any(p is not None and p < max_dependence for p in values):
        return False
    return None if None in values else True


def _score(name: str, judged: Judged, order: int, labelled: bool) -> dict[str, Any]:
    return {
        "score": name,
        "auc": judged.auc,
        "dependence": judged.dependence,
        "roc": judged.roc,
        "closure": None
        if judged.closure is None
        else {**vars(judged.closure), "worst": judged.closure.worst._asdict()},
        "unknown": judged.unknown,
        "working_points": [_point(point, order, labelled) for point in judged.points],
    }


def _point(point: Point, order: int, labelled: bool) -> dict[str, Any]:
    said = verdict(point, order, labelled)
    residual = point.residual
    return {
        "wanted": point.wanted,
        "threshold": point.threshold,
        "signal_efficiency": point.signal_efficiency,
        "background_efficiency": point.background_efficiency,
        "rejection": point.rejection,
        "efficiency": {"value": point.efficiency.value, "error": point.efficiency.error},
        "residual": None if residual is None else {"value": residual.value, "error": residual.error},
        "flatness": None if residual is None else residual.flatness,
        "inverse_jsd": point.inverse_jsd,
        "inverse_jsd_ceiling": point.inverse_jsd_ceiling,
        "dependence": point.dependence,
        "spurious_signal": None if point.spurious is None else _spurious(point.spurious, point.quoted),
        "unknown": point.unknown,
        "level": said.level.value,
        "verdict": said.sentence,
    }


def _spurious(scan: Any, at: tuple[float, float, float] | None) -> dict[str, Any]:
    return {
        "signal_mass": scan.signal_mass,
        "signal": scan.signal,
        "error": scan.error,
        "quoted": None if at is None else dict(zip(("signal_mass", "signal", "error"), at, strict=True)),
    }


def _plain(value: Any) -> Any:
    """What JSON has, of dataclasses, arrays and their numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
