"""The tables and the figure of the study of trees, from committed results: ``python -m studies.trees.report``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from .. import pages
from ..dalitz import report as dalitz
from ..drawing import OKABE_ITO, style
from ..w_tagging.summary import Point, Value, over_seeds
from . import jets, plane, simple
from .task import row

REST = Path(__file__).with_name("tables.md")
RESULTS = Path(__file__).with_name("results.json")

Results = Mapping[str, Any]  # by the names of the trainings


def points(results: Results, sample: str, classifiers: Iterable[Any]) -> list[Point]:
    """The classifiers of a sample, each with its seeds."""
    found = []
    for classifier in classifiers:
        start = f"{row(sample, classifier)}, seed "
        seeds = tuple(result for key, result in results.items() if key.startswith(start))
        if seeds:
            found.append(Point(classifier, seeds))
    return found


# ---------------------------------------------------------------- tables


def tables(results: Results) -> dict[str, str]:
    """The tables, by the names of their marks."""
    of_jets = points(results, "jets", jets.CLASSIFIERS)
    return {
        "trees, simple model": _simple(results),
        "trees, W tagging": _jets(of_jets),
        "trees, W tagging at equal flatness": _equal(of_jets),
        "trees, Dalitz plane": _plane(results),
        "trees, Dalitz plane, in short": _plane_in_short(results),
    }


class Simple(NamedTuple):
    """A classifier of the simple model by one order of the polynomial that it may follow: auc (seeds,), residual over
    expected (seeds, 3), and median CPU seconds, None where they are not known."""

    order: int
    name: str
    strength: float
    auc: np.ndarray
    residual: np.ndarray
    seconds: float | None


def by_order(results: Results) -> list[Simple]:
    """The classifiers of this study, for each order."""
    found = []
    for point in points(results, "simple", simple.CLASSIFIERS):
        name, strength = point.classifier.name, point.classifier.strength
        for order in point.seeds[0]["residual"]:
            residual = np.array([seed["residual"][order] for seed in point.seeds], float)
            auc, seconds = np.array(point.values("auc")), float(np.median(point.values("seconds")))
            found.append(Simple(int(order), name, strength, auc, residual, seconds))
    return sorted(found, key=lambda one: one.order)


def _simple(results: Results) -> str:
    rows = [
        [
            "order",
            "classifier",
            "seeds",
            "AUC: median; lowest",
            "residual at 80, 50, 20 %: median",
            "highest",
            "seconds",
        ]
    ]
    for one in by_order(results):
        rows.append(
            [
                str(one.order),
                _named(one.name, one.strength),
                str(len(one.auc)),
                f"{np.median(one.auc):.4f}; {one.auc.min():.4f}",
                _three(np.median(one.residual, axis=0)),
                _three(one.residual.max(axis=0)),
                "" if one.seconds is None else f"{one.seconds:.1f}",
            ]
        )
    return pages.table(rows)


def _three(values: np.ndarray) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.1f}" for value in values)


def _named(name: str, strength: float) -> str:
    return name + (f", strength {strength:,g}" if strength else "")


def _jets(scans: list[Point]) -> str:
    rows = [["classifier", "AUC", "R50", "1/JSD", "mass-blind", "residual over expected", "seconds"]]
    for point in scans:
        rows.append(
            [
                _named(point.classifier.name, point.classifier.strength),
                pages.over_seeds(point.values("auc"), 4),
                _value(point.r50, 2),
                _value(over_seeds([1 / jsd for jsd in point.values("jsd")]), 0),
                f"{np.mean([1 / jsd for jsd in point.values('blind_jsd')]):.0f}",
                _value(point.residual, 2),
                f"{np.median(point.values('seconds')):.1f}",
            ]
        )
    return pages.table(rows)


def _value(value: Value | None, digits: int) -> str:
    if value is None:
        return "-"
    return f"{value.mean:.{digits}f}" + (f" ± {value.error:.{digits}f}" if value.error else "")


def _equal(scans: list[Point]) -> str:
    """The R50 of trees with their defaults, and of others at equal flatness."""
    rows = [["classifier", "its R50", "networks at its residual", "networks at its 1/JSD"]]
    rows[0] += ["uGB+FL at its residual", "uGB+FL at its 1/JSD"]
    for point in scans:
        classifier = point.classifier
        if classifier.method not in ("XGBoost", "LightGBM"):
            continue
        cells = [classifier.name, _value(point.r50, 2)]
        for other in (f"MoDe[{classifier.order}], network", jets.FLAT):
            scan = [p for p in scans if p.classifier.name == other]
            # Neither measure compares classifiers of different orders.
            comparable = classifier.order == 0 or other != jets.FLAT
            for measure in (log_residual, log_inverse_jsd):
                cells.append(_value(r50_where(scan, measure, measure(point)) if comparable else None, 2))
        rows.append(cells)
    return pages.table(rows)


def log_residual(point: Point) -> float:
    """The logarithm of the mean residual over expected."""
    return float(np.log(point.residual.mean))


def log_inverse_jsd(point: Point) -> float:
    """The logarithm of the mean 1/JSD."""
    return float(np.log(over_seeds([1 / jsd for jsd in point.values("jsd")]).mean))


def r50_where(scan: list[Point], measure: Any, wanted: float) -> Value | None:
    """The largest R50 where lines between neighbors of a scan cross this measure, or None."""
    found = []
    for one, other in pairwise(scan):
        x0, x1 = measure(one), measure(other)
        if x0 != x1 and min(x0, x1) <= wanted <= max(x0, x1):
            part = (wanted - x0) / (x1 - x0)
            error = float(np.hypot((1 - part) * one.r50.error, part * other.r50.error))
            found.append(Value(one.r50.mean + part * (other.r50.mean - one.r50.mean), error))
    return max(found, default=None)


def _plane(results: Results) -> str:
    measures = dalitz.MEASURES | {"seconds": ("seconds", 1)}
    rows = [["classifier", *(column for column, _ in measures.values())]]
    for name, strength, seeds in of_plane(results):
        cells = [_named(name, strength)]
        for measure, (column, digits) in measures.items():
            scale = 1e4 if "10^-4" in column else 1
            cells.append(pages.over_seeds((scale * result[measure] for result in seeds), digits))
        rows.append(cells)
    return pages.table(rows)


IN_SHORT = (  # of the plane: names and strengths
    ("independent", 0), ("XGBoost", 0), ("uBoost of hep_ml", 0), ("MoDe[0], XGBoost", 0), ("MoDe[0], LightGBM", 0),
    (jets.FLAT, 10), (jets.FLAT, 30), (jets.FLAT, 60), ("MoDe[0], network", 30), ("MoDe[0], network", 100),
)  # fmt: skip


def _plane_in_short(results: Results) -> str:
    """The table of means over seeds."""
    rows = [["classifier", "AUC", "SDE of cells", "CvM of cells, 10^-4", "seconds"]]
    for name, strength, seeds in of_plane(results):
        if (name, strength) in IN_SHORT:
            auc, sde, cvm, took = (np.mean([one[key] for one in seeds]) for key in ("auc", "sde", "cvm", "seconds"))
            rows.append([_named(name, strength), f"{auc:.3f}", f"{sde:.3f}", f"{1e4 * cvm:.1f}", f"{took:.0f}"])
    return pages.table(rows)


STORED = {  # classifiers of studies/dalitz: their names there and here
    "independent": ("independent", 0),
    "boosting": ("boosting of hep_ml", 0),
    **{f"uGB+FL, bins {c}": (jets.FLAT, c) for c in (3, 10, 30, 60)},
    "network": ("network", 0),
    **{f"MoDe[0] {s}": ("MoDe[0], network", s) for s in (3, 10, 30, 100, 300)},
}


def of_plane(results: Results) -> list[tuple[str, float, list[Mapping[str, float]]]]:
    """Name, strength and measures of each seed, from this study and from studies/dalitz."""
    found = []
    for point in points(results, "plane", plane.CLASSIFIERS):
        found.append((point.classifier.name, point.classifier.strength, list(point.seeds)))
    stored = dalitz.committed()
    return found + [(*called, stored[name]) for name, called in STORED.items()]


# ---------------------------------------------------------------- figure

COLORS = {"MoDe[0]": OKABE_ITO["vermillion"], "MoDe[1]": OKABE_ITO["blue"], "MoDe[2]": OKABE_ITO["bluish green"]}
KINDS = {  # by their names in the legend: markers of MoDe; the order gives the color
    "XGBoost": {"marker": "o", "ms": 13},
    "LightGBM": {"marker": "s", "ms": 11, "mfc": "none", "mew": 2},
    "network": {"marker": "*", "ms": 14, "ls": "-", "lw": 1, "mfc": "none"},
}
OTHERS = {
    "XGBoost": {"marker": "D", "color": "#888888"},
    simple.AGNOSTIC.name: {"marker": "P", "color": OKABE_ITO["black"]},
    "XGBoost, planing": {"marker": "X", "color": OKABE_ITO["sky blue"]},
    "XGBoost, DisCo": {"marker": "v", "color": OKABE_ITO["reddish purple"]},
    jets.FLAT: {"marker": "^", "color": OKABE_ITO["orange"], "ls": "-", "lw": 1},
    "uBoost of hep_ml": {"marker": "<", "color": "#7A3E62"},
}


class Mark(NamedTuple):
    """One point of a panel."""

    name: str
    strength: float
    x: float
    y: float


def figure(results: Results) -> Figure:
    """AUC or R50 against the residual, a panel for each sample."""
    of_simple = [
        Mark(one.name, one.strength, float(np.median(one.auc)), float(np.median(one.residual[:, 1])))
        for one in by_order(results)
        if one.order == _order_shown(one.name)
    ]
    of_jets = [
        Mark(point.classifier.name, point.classifier.strength, point.r50.mean, point.residual.mean)
        for point in points(results, "jets", jets.CLASSIFIERS)
    ]
    of_plane_ = [
        Mark(name, strength, *(float(np.mean([seed[key] for seed in seeds])) for key in ("auc", "sde")))
        for name, strength, seeds in of_plane(results)
    ]
    drawn = Figure(figsize=(21, 8), layout="constrained")
    panels = drawn.subplots(1, 3)
    for panel, marks in zip(panels, (of_simple, of_jets, of_plane_), strict=True):
        _draw(panel, marks)
        panel.set(yscale="log")
        panel.yaxis.set_minor_formatter(NullFormatter())
    panels[0].set(xlabel="AUC", ylabel="residual over expected at 50%")
    panels[1].set(xlabel="R50", ylabel="residual over expected")
    panels[2].set(xlabel="AUC", ylabel="SDE of signal")
    for panel, title in zip(panels, ("simple model", "W tagging", "Dalitz plane"), strict=True):
        panel.set_title(title, pad=12)
    panels[2].axhline(next(m.y for m in of_plane_ if m.name == "independent"), color="black", ls=":", lw=1)
    for panel, highest in zip(panels[:2], (20, 5), strict=True):
        panel.axhline(1, color="black", ls=":", lw=1)
        ticks = [tick for tick in (1, 2, 5, 10, 20) if tick <= highest]
        panel.set_yticks(ticks, [str(tick) for tick in ticks])
    panels[2].set_yticks([0.01, 0.02, 0.05, 0.1], ["0.01", "0.02", "0.05", "0.1"])
    handles = [Line2D([], [], color=color, ls="", marker="o", ms=13, label=name) for name, color in COLORS.items()]
    handles += [
        Line2D([], [], color="black", label=f"MoDe: {name}", **{"ls": "", **look}) for name, look in KINDS.items()
    ]
    handles += [Line2D([], [], label=name, ms=11, **{"ls": "", **look}) for name, look in OTHERS.items()]
    drawn.legend(handles=handles, loc="outside upper center", ncols=5, fontsize="small")
    return drawn


def _order_shown(name: str) -> int:
    """The order by which the figure judges a classifier of several orders. Trees without mass are linear in it."""
    return int(name[5]) if name.startswith("MoDe") else int(name == simple.AGNOSTIC.name)


def _draw(panel: Axes, marks: list[Mark]) -> None:
    """Draws the points of classifiers that have a marker."""
    series: dict[tuple[str, str], list[Mark]] = {}
    for mark in marks:
        method, _, kind = mark.name.partition(", ")
        if method in COLORS:
            series.setdefault((method, kind), []).append(mark)
        else:
            series.setdefault((mark.name, ""), []).append(mark)
    for (name, kind), found in series.items():
        look = KINDS.get(kind, {}) | {"color": COLORS[name]} if name in COLORS else OTHERS.get(name, {})
        if "marker" in look:
            x, y = [mark.x for mark in found], [mark.y for mark in found]
            panel.plot(x, y, **{"ls": "", "ms": 11, **look})


def main() -> None:
    """Writes the tables and the figure."""
    results = json.loads(RESULTS.read_text())["results"]
    pages.write(tables(results), REST)
    with style():
        figure(results).savefig(pages.DOCS / "images" / "trees.png", dpi=60)


if __name__ == "__main__":
    main()
