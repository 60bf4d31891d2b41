"""The tables and the picture of docs/zoo.md: ``python -m studies.zoo.report``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .. import pages
from ..drawing import OKABE_ITO
from ..limit import report as limit
from .compare import (
    COMPARED,
    CUTS,
    FLAT,
    SCANNED,
    VARIANTS,
    Found,
    best,
    flattest,
    medians,
    of_kind,
    of_method,
    size,
    winner,
    worst,
)
from .judge import BACKGROUND, SIGNAL
from .problems import PROBLEMS
from .study import LARGE, MAPPED, OF_RIVALS, ON_LARGE, RIVALS, VARIATIONS, VARIED, stored

REST = Path(__file__).with_name("tables.md")
COLUMNS = 3  # of the picture of the frontiers
#: Maps of scores, and what they compare with, by the names of columns.
MAPS = {"default": "layer", "default, then a map": "layer, then a map", "none, then a map": "map alone"}
#: Further residuals of a cut, of the default.
OTHERS: dict[str, Callable[[Found], float]] = {
    "test events alone": lambda cut: cut["residual"] / cut["test"],
    "both samples, around a fit with errors": lambda cut: cut["fitted"],
}


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the page, by the names of their marks. A cell without a training is "-"."""
    default = "`MoDeConstraint()`"
    limits = limit.limits()
    short = [
        ["problem", "no constraint", "planing", default, "of the limit", *(f"{kind}, flat" for kind in SCANNED), "best"]
    ]
    full = [["problem", "method", "AUC", "R50", *CUTS]]
    for problem in PROBLEMS:
        found = of_method(results, problem)
        share = limit.shares(limit.of_zoo(limits, problem), found.get("default", []))
        row = [problem, *(_short(found, method) for method in ("none", "none, planed", "default")), share]
        short.append([*row, *(_best(found, kind) for kind in SCANNED), winner(found)])
        shown = {"no constraint": "none", "planing": "none, planed", default: "default"}
        for kind in SCANNED:
            shown_of = best(found, kind) or flattest(found, kind)
            shown |= {shown_of[0]: shown_of[0]} if shown_of else {}
        full += [[problem, name, *_full(medians(found[method]))] for name, method in shown.items() if method in found]
    varied = [["problem", "change", "no constraint", default]]
    for problem, names in {**dict.fromkeys(VARIED, VARIATIONS), **dict.fromkeys(ON_LARGE, (LARGE,))}.items():
        found = of_method(results, problem)
        for name in ("", *names):
            end = f", {name}" if name else ""
            cells = _cell(found, f"none{end}"), _cell(found, f"default{end}")
            varied.append([problem, name or "none", *cells])
    maps = [["problem", *MAPS.values()]]
    for problem in MAPPED:
        found = of_method(results, problem)
        maps.append([problem, *(_cell(found, method) for method in MAPS)])
    others = [["problem", "scale", *CUTS]]
    for problem in PROBLEMS:
        trainings = of_method(results, problem).get("default", [])
        judged = [one["cuts"] for one in trainings]
        others += [[problem, name, *_others(judged, of_cut)] for name, of_cut in OTHERS.items() if judged]
    return {
        "zoo": pages.table(short),
        "zoo in full": pages.table(full),
        "bumps of the zoo": pages.table(_bumps(results)),
        "other scales of the zoo": pages.table(others),
        "variations of the zoo": pages.table(_measured(varied, 2)),
        "maps in the zoo": pages.table(_measured(maps, 1)),
        "bounds of the zoo": pages.table(_bounds(results)),
        "rivals of the zoo": pages.table(_rivals(results)),
        **{f"strengths of {kind} in the zoo": pages.table(_scan(results, kind)) for kind in SCANNED},
    }


def _bumps(results: Mapping[str, Any]) -> list[list[str]]:
    """The bump and the rejection at 20 % of the signal of each training that has them; of the rivals, where useful."""
    rows = [["problem", "method", "bump at 20 % of the signal, by seed", "R20, by seed"]]
    for problem in PROBLEMS:
        for method, trainings in of_method(results, problem).items():
            seen, kind = [one for one in trainings if "bump" in one], method.removesuffix(f", {LARGE}")
            if seen and kind.partition(", ")[2] in VARIANTS:
                bumps = (f"{100 * one['bump']:+.0f} %" for one in seen)
                names = {"none": "no constraint", "none, planed": "planing", "default": "`MoDeConstraint()`"}
                name = names.get(kind, kind) + method.removeprefix(kind)
                rows.append([problem, name, " ".join(bumps), " ".join(f"{one['r20']:,.0f}" for one in seen)])
    return rows


def _measured(rows: list[list[str]], names: int) -> list[list[str]]:
    """The head, and the rows that have a number after so many columns of names."""
    return [rows[0], *(row for row in rows[1:] if any(set(cell) - set("- ") for cell in row[names:]))]


def _bounds(results: Mapping[str, Any]) -> list[list[str]]:
    """The response of constraints with a bound at the working points: median and largest of the seeds."""
    rows = [["problem", "measure", *SIGNAL]]
    for problem, measure, name in (
        ("modified, order 1, max_slope 0.5", "slope", "slope, at most 0.5"),
        ("modified, order 2, monotonic", "turn", "turn, at most 1"),
    ):
        trainings = of_method(results, problem).get("default", [])
        every = [[one["cuts"][cut][measure] for one in trainings if cut in one["cuts"]] for cut in SIGNAL]
        rows.append([problem, name, *(f"{np.median(seen):.2f}; {max(seen):.2f}" if seen else "-" for seen in every)])
    return rows


def _rivals(results: Mapping[str, Any]) -> list[list[str]]:
    """R50, and the residual over its scale at tight cuts, of trainings on other events, alone and with the layer."""
    head = [f"{problem.partition(',')[0]}: R50; ratios at 1, 0.5 and 0.1 %" for problem in OF_RIVALS]
    rows = [["training", *head]]
    for name, end in (("all events", ""), *((name, f", {name}") for name in RIVALS)):
        for method, what in (("none", name), ("default", f"{name}, and the layer")):
            cells = []
            for problem in OF_RIVALS:
                found = of_method(results, problem)
                known = f"{method}{end}" in found
                r50 = _r50(medians(found[f"{method}{end}"])) if known else ""
                cells.append(f"{r50}; {_tight(found, f'{method}{end}')}" if known else "-")
            rows.append([what, *cells])
    return rows


def _scan(results: Mapping[str, Any], kind: str) -> list[list[str]]:
    """Each problem at each strength of a rival, in each variant."""
    rows = [["problem", "strength", "AUC (R50), residuals", *VARIANTS[1:]]]
    for problem in PROBLEMS:
        found = of_method(results, problem)
        names = (name.partition(", ")[0] for name in of_kind(found, kind))
        for name in sorted(set(names), key=_strength):
            cells = [_cell(found, ", ".join(filter(None, (name, variant)))) for variant in VARIANTS]
            rows.append([problem, f"{_strength(name):g}", *cells])
    return rows


def _strength(name: str) -> float:
    """Of a rival's training: 30 of "DisCo 30, planed"."""
    return float(name.partition(",")[0].split()[1])


def _cell(found: Mapping[str, list[Found]], method: str) -> str:
    if method not in found:
        return "-"
    one = medians(found[method])
    return f"{one['auc']:.3f} ({_r50(one)}) {_ratios(one, COMPARED)}"


def _short(found: Mapping[str, list[Found]], method: str) -> str:
    """AUC, R50 and the worst residual over its scale."""
    if method not in found:
        return "-"
    one = medians(found[method])
    return f"{one['auc']:.3f} ({_r50(one)}) {worst(one):.1f}"


def _r50(one: Found) -> str:
    return f"{one['r50']:.{0 if one['r50'] >= 100 else 1}f}"


def _ratios(one: Found, cuts: Iterable[str]) -> str:
    return " ".join(f"{one['ratio'][cut]:.1f}" if cut in one["ratio"] else "-" for cut in cuts)


def _full(one: Found) -> list[str]:
    return [
        f"{one['auc']:.3f}",
        _r50(one),
        *(f"{one['ratio'][cut]:.1f}" if cut in one["ratio"] else "-" for cut in CUTS),
    ]


def _best(found: Mapping[str, list[Found]], kind: str) -> str:
    """The setting and the figures of the best flat training of a rival; else how far its scan went."""
    every = of_kind(found, kind)
    if not every:
        return "-"
    flat = best(found, kind)
    if flat is None:
        return f"none to {max(map(_strength, every)):g}"
    return f"{flat[0].partition(' ')[2]}: {_short(found, flat[0])}"


def _tight(found: Mapping[str, list[Found]], method: str) -> str:
    return _ratios(medians(found[method]), BACKGROUND) if method in found else "-"


def _others(judged: list[Found], of_cut: Callable[[Found], float]) -> list[str]:
    """The medians over the seeds, by cut."""
    every = [[of_cut(one[cut]) for one in judged if cut in one] for cut in CUTS]
    return [f"{np.median(seen):.1f}" if seen else "-" for seen in every]


#: What the summary draws: the method of the study, and the style of its points.
SUMMARY: dict[str, tuple[str, dict[str, Any]]] = {
    "no constraint": ("none", {"marker": "s", "color": OKABE_ITO["black"]}),
    "planing": ("none, planed", {"marker": "x", "color": OKABE_ITO["orange"]}),
    "DisCo, best flat strength": ("DisCo", {"marker": "^", "color": OKABE_ITO["bluish green"]}),
    "MoDeLoss, best flat strength": ("MoDeLoss", {"marker": "o", "color": OKABE_ITO["blue"]}),
    "MoDeConstraint()": ("default", {"marker": "*", "color": OKABE_ITO["vermillion"], "markersize": 12}),
}


def summary(results: Mapping[str, Any]) -> Figure:
    """The worst residual of each problem and R50 over that without a constraint, a row for each problem."""
    every = {problem: of_method(results, problem) for problem in PROBLEMS}
    shown = {problem: found for problem, found in every.items() if {"none", "default"} <= set(found)}
    drawn = Figure(figsize=(12, 8), layout="constrained")
    flat, rejection = drawn.subplots(1, 2, sharey=True)
    flat.axvspan(0.1, FLAT, color="0.92", zorder=0)
    for label, (method, style) in SUMMARY.items():
        there: list[tuple[int, str, Found]] = []
        for place, found in enumerate(shown.values()):
            if method not in SCANNED:
                there += [(place, "", medians(found[method]))] if method in found else []
            elif of_rival := best(found, method):
                there.append((place, of_rival[0].partition(" ")[2], of_rival[1]))
        places = [place for place, _, _ in there]
        shares = [one["r50"] / medians(list(shown.values())[place]["none"])["r50"] for place, _, one in there]
        flat.plot([worst(one) for _, _, one in there], places, linestyle="none", label=label, **style)
        rejection.plot(shares, places, linestyle="none", **style)
        for (place, strength, _), share in zip(there, shares, strict=True):
            above = -1 if method == "DisCo" else 1
            text = {"fontsize": "x-small", "color": style["color"], "ha": "center", "va": "center"}
            rejection.annotate(strength, (share, place), (0, 8 * above), textcoords="offset points", **text)
    flat.set(xscale="log", xlim=(0.3, 50), xlabel="worst residual over its scale (gray: flat)")
    flat.xaxis.set_major_formatter("{x:g}")
    flat.set_yticks(range(len(shown)), list(shown))
    flat.invert_yaxis()
    rejection.set(xscale="log", xlabel="R50 over that without a constraint (numbers: strengths)")
    rejection.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    rejection.xaxis.set_major_formatter("{x:g}")
    rejection.xaxis.set_minor_formatter("")
    for axes in (flat, rejection):
        axes.grid(axis="y", color="0.9")
    drawn.legend(loc="outside upper center", ncols=5)
    return drawn


def figure(results: Mapping[str, Any]) -> Figure:
    """The frontier of each problem that was trained with the default."""
    every = {problem: of_method(results, problem) for problem in PROBLEMS}
    shown = {problem: found for problem, found in every.items() if {"none", "default"} <= set(found)}
    rows = -(-len(shown) // COLUMNS)
    drawn = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    panels = drawn.subplots(rows, COLUMNS, squeeze=False).flat
    for (problem, found), axes in zip(shown.items(), panels, strict=False):
        for kind, color in (("MoDeLoss", "blue"), ("DisCo", "bluish green")):
            for variant, line in zip(VARIANTS, ("-", "--", ":"), strict=True):
                scan = {_strength(m): one for m, one in of_kind(found, kind).items() if m.partition(", ")[2] == variant}
                scan = dict(sorted(scan.items()))
                if not scan and variant == "warm":
                    continue
                points = [size(one) for one in scan.values()], [one["auc"] for one in scan.values()]
                label = ", ".join(filter(None, (kind, variant)))
                axes.plot(*points, f"o{line}", label=label, color=OKABE_ITO[color], markersize=4)
                for strength, *point in zip(scan, *points, strict=True):
                    text = {"textcoords": "offset points", "fontsize": "x-small", "annotation_clip": True}
                    axes.annotate(f"{strength:g}", point, (3, 3), clip_on=True, **text)
        for label, method in (("no constraint", "none"), ("planing", "none, planed"), ("MoDeConstraint()", "default")):
            style = {**SUMMARY[label][1], "linestyle": "none", "label": label}
            there = [medians(found[method])] if method in found else []
            axes.plot([size(one) for one in there], [one["auc"] for one in there], **style)
        chosen = [medians(found["default"]), *(one[1] for kind in SCANNED if (one := best(found, kind)))]
        low, high = min(one["auc"] for one in chosen), medians(found["none"])["auc"]
        axes.axvline(1, color="black", linestyle=":", linewidth=1)
        axes.set(title=problem, xscale="log", ylim=(low - 0.3 * (high - low) - 0.01, high + 0.01))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    for axes in list(panels):  # that are left
        axes.remove()
    drawn.supxlabel("residual over its scale: root mean square at 80, 50 and 20 % of the signal")
    drawn.supylabel("AUC")
    handles, labels = drawn.axes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=5)
    return drawn


def main() -> None:
    results = stored()
    pages.write(tables(results), REST)
    for name, drawn in {"zoo": figure(results), "zoo_summary": summary(results)}.items():
        drawn.savefig(pages.DOCS / "images" / f"{name}.png", dpi=80)


if __name__ == "__main__":
    main()
