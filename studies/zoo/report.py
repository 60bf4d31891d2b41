"""The tables and the picture of docs/zoo.md: ``python -m studies.zoo.report``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from libmode import plots
from libmode.plots._style import OKABE_ITO
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .. import pages
from .problems import PROBLEMS
from .study import RESULTS, VARIATIONS, VARIED

REST = Path(__file__).with_name("tables.md")
Found = dict[str, Any]


def of_method(results: Mapping[str, Any], problem: str) -> dict[str, list[Found]]:
    """The trainings of a problem by method, in the order of the study."""
    found: dict[str, list[Found]] = {}
    for key, result in results.items():
        name, method, _ = key.split("; ")
        if name == problem:
            found.setdefault(method, []).append(result)
    return found


def medians(trainings: list[Found]) -> Found:
    """Medians over seeds of AUC, R50 and residuals, and the lowest AUC."""
    auc = [one["auc"] for one in trainings]
    return {
        "auc": float(np.median(auc)),
        "lowest": min(auc),
        "r50": float(np.median([one["r50"] for one in trainings])),
        "residual": np.median([one["residual"] for one in trainings], axis=0),
    }


def size(residual: Any) -> float:
    """The root mean square of the residuals at the three working points."""
    return float(np.sqrt(np.mean(np.square(residual))))


def best(found: Mapping[str, list[Found]], kind: str) -> tuple[str, Found] | None:
    """The strength with the largest AUC among trainings as flat as the default; "" for none."""
    least = size(medians(found["default"])["residual"])
    flat = {
        method: one
        for method, trainings in found.items()
        if method.startswith(kind) and "," not in method and size((one := medians(trainings))["residual"]) <= least
    }
    return max(flat.items(), key=lambda pair: pair[1]["auc"]) if flat else None


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the page, by the names of their marks."""
    rows = [
        [
            "problem",
            "no constraint",
            "`MoDeConstraint()`: median; lowest",
            "best fixed strength as flat",
            "best DisCo as flat",
        ]
    ]
    for problem in PROBLEMS:
        found = of_method(results, problem)
        default = medians(found["default"])
        rows.append(
            [
                problem,
                _shown(medians(found["none"])),
                _with_lowest(default),
                *(_of_best(best(found, kind)) for kind in ("fixed", "DisCo")),
            ]
        )
    varied = [["problem", "change", "no constraint", "`MoDeConstraint()`: median; lowest"]]
    for problem in VARIED:
        found = of_method(results, problem)
        for name in ("", *VARIATIONS):
            end = f", {name}" if name else ""
            default = medians(found[f"default{end}"])
            varied.append([problem, name or "none", _shown(medians(found[f"none{end}"])), _with_lowest(default)])
    return {
        "zoo": pages.table(rows),
        "variations of the zoo": pages.table(varied),
        "bounds of the zoo": pages.table(_bounds(results)),
    }


def _bounds(results: Mapping[str, Any]) -> list[list[str]]:
    """The response of constraints with a bound at the working points: median and largest of the seeds."""
    rows = [["problem", "measure", "80 %", "50 %", "20 %"]]
    for problem, measure, name in (
        ("modified, order 1, max_slope 0.5", "slopes", "slope, at most 0.5"),
        ("modified, order 2, monotonic", "turns", "turn, at most 1"),
    ):
        every = np.array([one[measure] for one in of_method(results, problem)["default"]])
        pairs = zip(np.median(every, axis=0), every.max(axis=0), strict=True)
        rows.append([problem, name, *(f"{median:.2f}; {largest:.2f}" for median, largest in pairs)])
    return rows


def _shown(one: Found) -> str:
    return f"{one['auc']:.3f} ({one['r50']:.1f}) {_three(one['residual'])}"


def _with_lowest(one: Found) -> str:
    return f"{one['auc']:.3f}; {one['lowest']:.3f} ({one['r50']:.1f}) {_three(one['residual'])}"


def _of_best(found: tuple[str, Found] | None) -> str:
    return "none" if found is None else f"{found[0].split()[1]}: {_shown(found[1])}"


def _three(values: Any) -> str:
    return " ".join(f"{value:.1f}" for value in values)


def figure(results: Mapping[str, Any]) -> Figure:
    """The frontier of each problem."""
    drawn = Figure(figsize=(15, 7), layout="constrained")
    colors = OKABE_ITO
    for axes, problem in zip(drawn.subplots(2, 5).flat, PROBLEMS, strict=True):
        found = {method: medians(trainings) for method, trainings in of_method(results, problem).items()}
        for kind, name, color in (("fixed", "fixed strengths", "blue"), ("DisCo", "DisCo", "bluish green")):
            of_kind = {float(m.split()[1]): one for m, one in found.items() if m.startswith(kind) and "," not in m}
            points = [size(one["residual"]) for one in of_kind.values()], [one["auc"] for one in of_kind.values()]
            plots.frontier(axes, *points, scan=list(of_kind), label=name, color=colors[color])
        for method, marker, color in (("none", "s", "black"), ("default", "*", "vermillion")):
            one, name = found[method], {"none": "no constraint", "default": "MoDeConstraint()"}[method]
            style = {"marker": marker, "color": colors[color], "markersize": 15 if method == "default" else 6}
            plots.frontier(axes, size(one["residual"]), one["auc"], label=name, **style)
        lowest = (
            min(found["default"]["auc"], *(one["auc"] for m, one in found.items() if m.startswith("fixed 10"))) - 0.02
        )
        axes.set(title=problem, xlabel="", ylabel="", ylim=(max(lowest, 0.5), found["none"]["auc"] + 0.01))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    drawn.supxlabel("residual over expected: root mean square at 80, 50 and 20 % of the signal")
    drawn.supylabel("AUC")
    handles, labels = axes.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=4)
    return drawn


def main() -> None:
    results = json.loads(RESULTS.read_text())["results"]
    pages.write(tables(results), REST)
    figure(results).savefig(pages.DOCS / "images" / "zoo.png", dpi=60)


if __name__ == "__main__":
    main()
