"""The tables of the limit, its picture, and the column of docs/zoo.md: ``python -m studies.limit.report``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .. import pages
from ..drawing import OKABE_ITO
from ..zoo.study import stored
from .study import CUTS, RESULTS

REST = Path(__file__).with_name("tables.md")
Found = dict[str, Any]
#: The problem and the constraint of the limit, for problems of the zoo.
OF_ZOO = {
    f"{problem}, order {order}": (problem, str(order))
    for problem in ("simple", "tagger", "steep", "slices", "slices without weights")
    for order in (0, 1)
}
OF_ZOO["modified, order 1, max_slope 0.5"] = ("modified", "1, max_slope 0.5")
OF_ZOO["modified, order 2, monotonic"] = ("modified", "2, monotonic")
OF_ZOO["few events, order 1"] = OF_ZOO["simple, order 1"]
SHOWN = [name for name in OF_ZOO if "without" not in name and "few" not in name]
IN_TABLES = (0.0, 0.05, 0.1, 0.3)  # residuals
CERTAIN = 0.1  # how far two samples' bounds may be apart in a table
METHODS = {  # marker and color
    "MoDeConstraint()": ("*", "vermillion"),
    "MoDeLoss": ("o", "blue"),
    "DisCo": ("^", "bluish green"),
    "no constraint": ("s", "black"),
}


def limits() -> dict[str, Found]:
    """The results of the study, by problem, constraint and cut."""
    found: dict[str, Found] = json.loads(RESULTS.read_text())["results"]
    return found


def of_zoo(results: Mapping[str, Found], problem: str) -> Found | None:
    """The limit at half of the signal for a problem of the zoo, if it is known."""
    return results.get("{}; {}; 50 %".format(*OF_ZOO[problem])) if problem in OF_ZOO else None


def curve(one: Found) -> tuple[list[float], list[float]]:
    """Residuals and the largest R at each; the last is that without a constraint."""
    points = [(float(name), 1 / found["background"]) for name, found in one["of"].items()]
    free = one["free"]
    points = [point for point in points if point[0] < free["residual"]]
    points.append((free["residual"], 1 / free["background"]))
    residuals, r = zip(*points, strict=True)
    return list(residuals), list(r)


def share(limit: Found, cut: Mapping[str, float]) -> float:
    """R at half of the signal, over its limit at the same residual.

    The statistics of the test sample are taken off the residual in quadrature. Between residuals log R is linear.
    """
    residuals, r = curve(limit)
    return float(1 / cut["efficiency"] / np.exp(np.interp(genuine(cut), residuals, np.log(r))))


def genuine(cut: Mapping[str, float]) -> float:
    """A residual without the statistics of the test sample."""
    return float(np.sqrt(max(cut["residual"] ** 2 - cut["test"] ** 2, 0)))


def shares(limit: Found | None, trainings: list[Found]) -> str:
    """A cell of the zoo: the median over seeds of the share of the limit, "-" where this is not known."""
    cuts = [one["cuts"]["50 %"] for one in trainings if "50 %" in one["cuts"]]
    return f"{100 * np.median([share(limit, cut) for cut in cuts]):.0f} %" if limit and cuts else "-"


def tables(results: Mapping[str, Found]) -> dict[str, str]:
    """By the names of their marks."""
    found = {}
    for cut in CUTS:
        rows = [["problem", "order", *(f"{residual:g}" for residual in IN_TABLES), "no constraint (its residual)"]]
        for name, one in results.items():
            problem, kind, of = name.split("; ")
            if of == cut:
                cells = [_cell(one["of"][f"{residual:g}"], cut) for residual in IN_TABLES]
                rows.append([problem, kind, *cells, f"{_value(one['free'], cut)} ({one['free']['residual']:.2f})"])
        name = f"limit at {cut}" + (" of the signal" if CUTS[cut].of_signal else " of the background")
        if len(rows) > 1:
            found[name] = pages.table(rows)
    return found


def _cell(one: Found, cut: str) -> str:
    given = one["background" if CUTS[cut].of_signal else "signal"]
    return _value(one, cut) if abs(np.log(max(one["again"], 1e-9) / given)) < CERTAIN else "-"


def _value(one: Found, cut: str) -> str:
    """R, or the signal efficiency."""
    if not CUTS[cut].of_signal:
        return f"{one['signal']:.3f}"
    r = 1 / one["background"]
    return f"{r:.{0 if r >= 100 else 1 if r >= 10 else 2}f}"


def figure(results: Mapping[str, Found], zoo: Mapping[str, Found]) -> Figure:
    """A panel for each problem of the zoo whose limit is known: R50 against the residual."""
    shown = {name: limit for name in SHOWN if (limit := of_zoo(results, name))}
    drawn = Figure(figsize=(16, 7.2), layout="constrained")
    panels = drawn.subplots(2, -(-len(shown) // 2), squeeze=False).T.flat
    for (name, limit), axes in zip(shown.items(), panels, strict=False):
        _panel(axes, name, limit, zoo)
    for axes in list(panels):  # that are left
        axes.remove()
    drawn.supxlabel("residual at 50 % of the signal, without the statistics of the test sample")
    drawn.supylabel("R50")
    handles, labels = drawn.axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return drawn


def _panel(axes: Axes, name: str, limit: Found, zoo: Mapping[str, Found]) -> None:
    residuals, r = curve(limit)
    axes.set_xscale("function", functions=(np.sqrt, np.square))
    axes.plot(residuals, r, color=OKABE_ITO["black"], label="limit")
    axes.fill_between(residuals, r, 1e6, color="0.9", linewidth=0)
    axes.axhline(r[-1], xmin=0, color="0.6", linewidth=0.8, linestyle=":")
    for method, (marker, color) in METHODS.items():
        points = []
        for key, one in zoo.items():
            problem, of, _ = key.split("; ")
            kind = {"default": "MoDeConstraint()", "none": "no constraint"}.get(of, of.split()[0])
            if problem == name and kind == method and "," not in of and "50 %" in one["cuts"]:
                points.append((genuine(one["cuts"]["50 %"]), one["r50"], of.partition(" ")[2]))
        size = {"MoDeConstraint()": 13, "no constraint": 7}.get(method, 6)
        style = {"marker": marker, "markersize": size, "linestyle": "none", "color": OKABE_ITO[color]}
        axes.plot(*np.array([point[:2] for point in points]).T, **style, label=method, zorder=3)
        for x, y, text in points:
            axes.annotate(text, (x, y), (0, -11), textcoords="offset points", fontsize=7, ha="center", color="0.3")
    lowest = min(r[0] * 0.6, *(one["r50"] for key, one in zoo.items() if key.startswith(f"{name}; default; ")))
    axes.set_title(name, fontsize=10)
    axes.set(yscale="log", xlim=(0, 1.15 * residuals[-1]), ylim=(0.9 * lowest, 1.35 * r[-1]))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    ticks = [tick for tick in (0, 0.05, 0.2, 0.5, 1, 2, 3) if tick < 1.15 * residuals[-1]]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def main() -> None:
    results, zoo = limits(), stored()
    pages.write(tables(results), REST)
    figure(results, zoo).savefig(pages.DOCS / "images" / "limit.png", dpi=75)


if __name__ == "__main__":
    main()
