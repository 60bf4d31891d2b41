"""The tables of docs/w-tagging.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import pages
from .classifiers import METHODS, PAPER_RECIPE, PAPER_STRENGTH
from .summary import Point, Value, best_unbiased, r50_at, sensitivity

INVERSE_JSD = (100, 300, 1000)
REFERENCE = "DisCo"


def of_study(scans: Mapping[str, list[Point]]) -> dict[str, str]:
    """The tables made of results.json, by the name of their marks."""
    return {
        "w tagging, unselected": _unselected(scans),
        "w tagging, sensitivity": _sensitivity(scans),
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
        f"{classifier.strength:g}" if classifier.strength else "",
        pages.over_seeds(point.values("auc"), 4),
        pages.over_seeds(point.values("r50"), 2),
        pages.over_seeds([1 / jsd for jsd in point.values("jsd")], 0),
        pages.over_seeds([1 / result["blind"]["jsd"] for result in seeds], 0),
        pages.over_seeds([result["flatness"] / result["flatness_expected"] for result in seeds], 2),
        _shown(point.bias, 2),
        "-" if None in chi2 else pages.over_seeds(chi2, 2),
        _shown(point.bias_of_next, 2),
    ]


def _shown(value: Value | None, digits: int) -> str:
    return "-" if value is None else f"{value.mean:.{digits}f} ± {value.error:.{digits}f}"


def _unselected(scans: Mapping[str, list[Point]]) -> str:
    fit = scans["unconstrained"][0].seeds[0]["fit"]
    rows = [["degree", "chi2/ndof", "probability", "signal over its error", ""]]
    for one in fit["degrees"]:
        chosen = "chosen" if one["degree"] == fit["degree"] else ""
        rows.append(
            [str(one["degree"]), f"{one['chi2']:.1f}/{one['ndof']}", f"{one['probability']:.2g}",
             f"{one['significance']:.2f}", chosen]
        )  # fmt: skip
    return pages.table(rows)


def _sensitivity(scans: Mapping[str, list[Point]]) -> str:
    rows = [["method", "strength", "R50", "bias", "a degree more", f"sqrt(R50) relative to {REFERENCE}"]]
    reference = best_unbiased(scans[REFERENCE])
    for name in METHODS:
        best = best_unbiased(scans[name])
        if best is None:
            rows.append([name, "none of the scan is unbiased", "-", "-", "-", "-"])
            continue
        strength = f"{best.classifier.strength:g}" if best.classifier.strength else ""
        relative = None if reference is None else sensitivity(best, reference)
        rows.append(
            [name, strength, _shown(best.r50, 2), _shown(best.bias, 2), _shown(best.bias_of_next, 2),
             _shown(relative, 3)]
        )  # fmt: skip
    return pages.table(rows)


def _equal(scans: Mapping[str, list[Point]]) -> str:
    rows = [["method", *(f"R50 at 1/JSD = {inverse:,}" for inverse in INVERSE_JSD)]]
    for name, scan in scans.items():
        if len(scan) > 1:
            at = [r50_at(scan, inverse) for inverse in INVERSE_JSD]
            rows.append([name, *("-" if values is None else pages.over_seeds(values, 2) for values in at)])
    return pages.table(rows)


def _recipe(scans: Mapping[str, list[Point]]) -> str:
    compared = [
        p for n in ("MoDe[0]", "MoDe[1]", "MoDe[2]") for p in scans[n] if p.classifier.strength == PAPER_STRENGTH
    ]
    return _scans([*compared, *(point for c in PAPER_RECIPE for point in scans[c.name])])


def of_cost(cost: Mapping[str, Mapping[str, Any]]) -> str:
    """Medians over epochs; memory beside that of the cross entropy alone."""
    rows = [["method", "batch", "seconds of an epoch", "without it", "more, in %", "memory beside that without, MB"]]
    alone = cost["unconstrained"]["memory"]
    for name, found in cost.items():
        batch = f"{found['batch']:,}"
        without = np.array(found["seconds"]["without"])
        if "with" not in found["seconds"]:
            rows.append([name, batch, "", f"{np.median(without):.3f}", "", f"{alone / 1e6:.0f} in all"])
            continue
        with_it = np.array(found["seconds"]["with"])
        more = 100 * (with_it / without - 1)  # in turns, so that both had the same neighbours
        error = 1.25 * more.std(ddof=1) / len(more) ** 0.5  # of a median
        rows.append(
            [name, batch, f"{np.median(with_it):.3f}", f"{np.median(without):.3f}",
             f"{np.median(more):.1f} ± {error:.1f}", f"{(found['memory'] - alone) / 1e6:.0f}"]
        )  # fmt: skip
    return pages.table(rows)
