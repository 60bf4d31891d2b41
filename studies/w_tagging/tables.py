"""The tables of docs/zoo.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .. import pages
from .classifiers import METHODS, PAPER_RECIPE, PAPER_STRENGTH
from .summary import BIAS, BIAS_OF_NEXT, Bias, Point, Value, best, is_as_wanted, is_unbiased, r50_at, sensitivity

INVERSE_JSD = (100, 300, 1000)
REFERENCE = "DisCo"


def of_study(scans: Mapping[str, list[Point]]) -> dict[str, str]:
    """The tables of results.json, by the names of their marks."""
    fit = scans["unconstrained"][0].seeds[0]["fit"]
    return {
        "w tagging, unselected": unselected(fit["degrees"], fit["degree"]),
        "w tagging, unbiased": _sensitivity(scans, is_unbiased),
        "w tagging, unbiased with a degree more": _sensitivity(
            scans, lambda point: is_unbiased(point, BIAS_OF_NEXT), BIAS_OF_NEXT
        ),
        "w tagging, as wanted": _sensitivity(scans, is_as_wanted),
        "w tagging, equal jsd": _equal(scans),
        "w tagging, scans": _scans([point for name in METHODS for point in scans[name]]),
        "w tagging, recipe": _recipe(scans),
    }


def _scans(shown: list[Point]) -> str:
    head = [
        "method", "strength", "AUC", "R50", "1/JSD", "mass-blind", "residual over expected",
        "bias", "chi2/ndof", "bias, a degree more",
    ]  # fmt: skip
    return pages.table([head, *(_row(point) for point in shown)])


def _row(point: Point) -> list[str]:
    classifier, seeds = point.classifier, point.seeds
    chi2 = [result["bias"]["chi2"] for result in seeds]
    return [
        classifier.name,
        _strength(point),
        pages.over_seeds(point.values("auc"), 4),
        shown_value(point.r50, 2),
        pages.over_seeds([1 / jsd for jsd in point.values("jsd")], 0),
        pages.over_seeds([1 / jsd for jsd in point.values("blind_jsd")], 0),
        shown_value(point.residual, 2),
        shown_value(point.bias(), 2),
        "-" if None in chi2 else pages.over_seeds(chi2, 2),
        shown_value(point.bias(BIAS_OF_NEXT), 2),
    ]


def _strength(point: Point) -> str:
    return f"{point.classifier.strength:g}" if point.classifier.strength else ""


def shown_value(value: Value | Bias | None, digits: int) -> str:
    """The value as text, without an error of 0 (the reference, or one seed)."""
    if value is None:
        return "-"
    return f"{value.mean:.{digits}f}" + (f" ± {value.error:.{digits}f}" if value.error else "")


def unselected(fits: Iterable[Mapping[str, Any]], degree: int) -> str:
    """The fits of the unselected spectrum with each degree, and the choice."""
    rows = [["degree", "chi2/ndof", "probability", "signal over its error", ""]]
    for one in fits:
        chosen = "chosen" if one["degree"] == degree else ""
        rows.append(
            [str(one["degree"]), f"{one['chi2']:.1f}/{one['ndof']}", f"{one['probability']:.2g}",
             f"{one['significance']:.2f}", chosen]
        )  # fmt: skip
    return pages.table(rows)


def _sensitivity(scans: Mapping[str, list[Point]], good: Callable[[Point], bool], fit: str = BIAS) -> str:
    """The best good classifier of each method that has one."""
    rows = [["method", "strength", "R50", "residual over expected", "bias", "probability",
             f"sqrt(R50) relative to {REFERENCE}"]]  # fmt: skip
    reference = best(scans[REFERENCE], good)
    for name in METHODS:
        point = best(scans[name], good)
        if point is None:
            continue
        bias = point.bias(fit)
        rows.append(
            [name, _strength(point), shown_value(point.r50, 2), shown_value(point.residual, 2), shown_value(bias, 2),
             "-" if bias is None else f"{bias.probability:.2g}",
             shown_value(None if reference is None else sensitivity(point, reference), 3)]
        )  # fmt: skip
    return pages.table(rows)


def _equal(scans: Mapping[str, list[Point]]) -> str:
    rows = [["method", *(f"R50 at 1/JSD = {inverse:,}" for inverse in INVERSE_JSD)]]
    for name, scan in scans.items():
        if len(scan) > 1:
            rows.append([name, *(shown_value(r50_at(scan, inverse), 2) for inverse in INVERSE_JSD)])
    return pages.table(rows)


def _recipe(scans: Mapping[str, list[Point]]) -> str:
    compared = [
        p for n in ("MoDe[0]", "MoDe[1]", "MoDe[2]") for p in scans[n] if p.classifier.strength == PAPER_STRENGTH
    ]
    return _scans([*compared, *(point for c in PAPER_RECIPE for point in scans[c.name])])


def of_cost(cost: Mapping[str, Mapping[str, Any]]) -> str:
    """Medians over epochs; memory above the cross entropy alone."""
    rows = [["method", "batch", "seconds of an epoch", "without it", "more, in %", "memory beside that without, MB"]]
    alone = cost["unconstrained"]["memory"]
    for name, found in cost.items():
        batch = f"{found['batch']:,}"
        without = np.array(found["seconds"]["without"])
        if "with" not in found["seconds"]:
            rows.append([name, batch, "", f"{np.median(without):.3f}", "", f"{alone / 1e6:.0f} in all"])
            continue
        with_it = np.array(found["seconds"]["with"])
        more = 100 * (with_it / without - 1)  # measured in turns, under the same load
        error = 1.25 * more.std(ddof=1) / len(more) ** 0.5  # of a median
        rows.append(
            [name, batch, f"{np.median(with_it):.3f}", f"{np.median(without):.3f}",
             f"{np.median(more):.1f} ± {error:.1f}", f"{(found['memory'] - alone) / 1e6:.0f}"]
        )  # fmt: skip
    return pages.table(rows)
