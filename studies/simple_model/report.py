"""Writes the tables and figures of docs/ from committed results: ``python -m studies.simple_model.report``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from libmode import plots
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import pages
from ..drawing import OKABE_ITO, efficiency, style
from . import bins, maps, small_batches
from .classifiers import AGNOSTIC, MONOTONIC_TIGHT, SLOPES, SLOPES_TIGHT, Classifier
from .measure import EFFICIENCIES, MASS_EDGES
from .paper import GROUPS, RESULTS

Results = Mapping[str, Any]  # of one training
Found = dict[tuple[str, str], list[Results]]  # by group and classifier, one for each seed

REST = Path(__file__).with_name("tables.md")
COLORS = {
    "unconstrained": "#888888",
    AGNOSTIC: OKABE_ITO["black"],
    "MoDe[0]": OKABE_ITO["vermillion"],
    "MoDe[1]": OKABE_ITO["blue"],
    "MoDe[2]": OKABE_ITO["bluish green"],
    "MoDe[2] monotonic": OKABE_ITO["reddish purple"],
    "planing": OKABE_ITO["orange"],
    "flatness": OKABE_ITO["sky blue"],
    "DisCo 1000": OKABE_ITO["reddish purple"],
    "DisCo 2000": "#7A3E62",
    "adversary 10": OKABE_ITO["bluish green"],
    "adversary 100": OKABE_ITO["blue"],
}


def found(results: Mapping[str, Results]) -> Found:
    """The trainings that results.json names 'group, classifier, seed N'."""
    sorted_out: Found = {(group, c.name): [] for group, classifiers in GROUPS.items() for c in classifiers}
    for key, result in results.items():
        group, name, _ = key.split(", ")
        sorted_out[group, name].append(result)
    return sorted_out


# ---------------------------------------------------------------- tables


def tables(results: Found) -> dict[str, str]:
    """The tables, by the names of their marks."""
    return {
        "simple model": _compared("simple", results),
        "modified model": _compared("modified", results),
        "monotonic": _monotonic(results),
        "slopes": _slopes(results),
    }


def _compared(group: str, results: Found) -> str:
    rows = [["classifier", "AUC", "R50", "residual over expected at 80, 50, 20 %", "1/JSD at 50 %", "bias at 50 %"]]
    for classifier in GROUPS[group]:
        seeds = results[group, classifier.name]
        rejection = _at(seeds, 1, lambda s: s["background_rejection"], 1)
        at = [[seed["selections"][k] for seed in seeds] for k in range(3)]
        flat = [np.mean([s["flatness"] / s["flatness_expected"] for s in one]) for one in at]
        jsd, bias = _at(seeds, 1, lambda s: 1 / s["jsd"], 0), _at(seeds, 1, lambda s: s["bias"], 1)
        rows.append([classifier.name, _auc(seeds), rejection, " ".join(f"{one:.1f}" for one in flat), jsd, bias])
    return pages.table(rows)


def _monotonic(results: Found) -> str:
    rows = [["classifier", "AUC", "against the trend at 80 %", "50 %", "20 %"]]
    for group, name in (("modified", "MoDe[2]"), ("modified", "MoDe[2] monotonic"), ("tight", MONOTONIC_TIGHT.name)):
        seeds = results[group, name]
        rows.append([name, _auc(seeds), *(_at(seeds, k, against_trend, 3) for k in range(3))])
    return pages.table(rows)


def _slopes(results: Found) -> str:
    rows = [["max_slope", "relative to", "integral over", "AUC", "slope at 80 %", "50 %", "20 %"]]
    for group, classifiers in {"slopes": SLOPES, "tight": SLOPES_TIGHT}.items():
        for classifier in classifiers:
            seeds, options = results[group, classifier.name], classifier.options
            slopes = [_at(seeds, k, lambda s: slope(classifier, s), 3) for k in range(3)]  # noqa: B023
            over = options.get("integral_over", "scores")
            rows.append([f"{options['max_slope']:g}", options["slope_of"], over, _auc(seeds), *slopes])
    return pages.table(rows)


def against_trend(selection: Results) -> float:
    """How far a quadratic response turns back, relative to its mean; 0 for a monotonic one.

    c_0 + c_1 P_1 + c_2 P_2 has its turning point at -c_1 / (3 c_2).
    """
    c_0, c_1, c_2 = selection["moments"]
    turn = abs(c_1) / (3 * abs(c_2))
    return 1.5 * abs(c_2) * max(0.0, 1 - turn) ** 2 / (1 - c_0)


def slope(classifier: Classifier, selection: Results) -> float:
    """|c_1| of a selection over the quantity that bounds it."""
    c_0, c_1, _ = selection["moments"]
    return float(abs(c_1) / (c_0 if classifier.options["slope_of"] == "rejected" else 1 - c_0))


def _auc(seeds: Iterable[Results]) -> str:
    return pages.over_seeds((result["auc"] for result in seeds), 4)


def _at(seeds: Iterable[Results], k: int, value: Callable[[Results], float | None], digits: int) -> str:
    values = [value(result["selections"][k]) for result in seeds]
    return "-" if None in values else pages.over_seeds([v for v in values if v is not None], digits)


# --------------------------------------------------------------- figures


def figures(results: Found) -> dict[str, Figure]:
    """The figures, by the names of their files in docs/images."""
    simple = {c.name: results["simple", c.name] for c in GROUPS["simple"]}
    names = list(simple)
    mode, others = names[:5], [AGNOSTIC, "MoDe[0]", *names[5:]]
    with style():
        return {
            "results_simple": _by_efficiency({name: simple[name] for name in mode}, _rate, "background efficiency"),
            "results_others": _by_efficiency(
                {name: simple[name] for name in others}, _relative, "background efficiency over its mean", 2.4
            ),
            "results_modified": _modified(results),
            "results_slopes": _slope_figure(results),
            "results_tradeoff": _tradeoff(simple),
            "results_roc": _rocs(simple),
        }


def _by_efficiency(
    shown: Mapping[str, list[Results]], draw: Callable[..., None], ylabel: str, top: float | None = None
) -> Figure:
    """A panel for each signal efficiency, with ``draw`` (_rate or _relative) for each classifier."""
    figure = Figure(figsize=(18, 7), layout="constrained")
    panels = figure.subplots(1, 3)
    for k, panel in enumerate(panels):
        for name, seeds in shown.items():
            draw(panel, seeds, k, label=name, color=COLORS[name])
        panel.set_title(f"signal efficiency {EFFICIENCIES[k]:.0%}", pad=12)
        panel.set(xlim=(-1, 1), ylim=(0, top), ylabel="")
    panels[0].set_ylabel(ylabel)
    _legend(figure, panels[0])
    return figure


def _rate(axes: Axes, seeds: list[Results], k: int, **style: Any) -> None:
    """False positive rate against mass: the mean over seeds and their spread."""
    rates = np.array([result["selections"][k]["false_positive_rate"] for result in seeds])
    statistical = np.array(seeds[0]["selections"][k]["false_positive_rate_error"])
    spread = rates.std(axis=0, ddof=1) if len(seeds) > 1 else statistical
    efficiency(axes, (MASS_EDGES, rates.mean(axis=0), np.maximum(spread, statistical)), **style)


def _modified(results: Found) -> Figure:
    """The response at 50 %, with a linear and a logarithmic axis."""
    figure = Figure(figsize=(16, 7), layout="constrained")
    panels = figure.subplots(1, 2)
    for panel in panels:
        for classifier in GROUPS["modified"]:
            _rate(panel, results["modified", classifier.name], 1, label=classifier.name, color=COLORS[classifier.name])
        panel.set(xlim=(-1, 1), ylabel="")
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("background efficiency at 50% signal efficiency")
    panels[1].set_yscale("log")
    _legend(figure, panels[0])
    return figure


def _slope_figure(results: Found) -> Figure:
    """The response at 50 %, relative to its mean, for each bound on the slope."""
    figure = Figure(figsize=(18, 7), layout="constrained")
    shown = {
        "slope_of = rejected": ("slopes", SLOPES[:3]),
        "slope_of = selected": ("slopes", SLOPES[3:]),
        "selected, integral over odds": ("tight", SLOPES_TIGHT),
    }
    for (title, (group, classifiers)), panel in zip(shown.items(), figure.subplots(1, 3, sharey=True), strict=True):
        for name, color in (("MoDe[0]", "0.6"), ("MoDe[1]", "black")):
            _relative(panel, results["simple", name], 1, label=name, color=color)
        for classifier in classifiers:
            _relative(panel, results[group, classifier.name], 1, label=f"max_slope {classifier.options['max_slope']:g}")
        panel.set_title(title, pad=12)
        panel.set(xlim=(-1, 1), ylim=(0, 2.4), ylabel="")
        panel.legend(loc="upper right", fontsize="small")
    figure.axes[0].set_ylabel("background efficiency over its mean, at 50%")
    return figure


def _relative(axes: Axes, seeds: list[Results], k: int, **style: Any) -> None:
    """The same relative to its mean, since some seeds select much more than others."""
    rates = np.array([result["selections"][k]["false_positive_rate"] for result in seeds])
    rates /= rates.mean(axis=1, keepdims=True)
    spread = rates.std(axis=0, ddof=1) if len(seeds) > 1 else np.zeros(rates.shape[1])
    efficiency(axes, (MASS_EDGES, rates.mean(axis=0), spread), **style)


def _rocs(shown: Mapping[str, list[Results]]) -> Figure:
    figure = Figure(figsize=(10, 9), layout="constrained")
    axes = figure.subplots()
    for name, seeds in shown.items():
        curve = seeds[0]["roc"]
        auc = np.mean([result["auc"] for result in seeds])
        dashes = "-" if name.startswith(("MoDe", "unconstrained")) else "--"
        plots.roc(
            axes, (curve["signal_efficiency"], curve["false_positive_rate"]),
            label=f"{name}, AUC {auc:.3f}", color=COLORS[name], ls=dashes,
        )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(1, 1e3))
    axes.legend(loc="upper right", fontsize="small")
    return figure


def _tradeoff(shown: Mapping[str, list[Results]]) -> Figure:
    """Rejection against 1/JSD, and bias against rejection, at 50 %: a point for each seed."""
    figure = Figure(figsize=(16, 7), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, seeds in shown.items():
        at_half = [result["selections"][1] for result in seeds]
        rejection, jsd, bias = (
            np.array([np.nan if s[key] is None else s[key] for s in at_half], float)
            for key in ("background_rejection", "jsd", "bias")
        )
        fitted = np.isfinite(bias)
        marker = {"marker": "o" if name.startswith("MoDe") else "^", "color": COLORS[name]}
        left.plot(1 / jsd, rejection, ls="none", label=name, **marker)
        right.errorbar(rejection[fitted], np.abs(bias[fitted]), 1, ls="none", **marker)
    left.set(xlabel="1 / JSD", ylabel="background rejection at 50%", xscale="log")
    right.set(xlabel="background rejection at 50%", ylabel="|fitted signal| over its error", yscale="symlog")
    right.set_yticks([0, 1, 10, 100], ["0", "1", "10", "100"])
    _legend(figure, left)
    return figure


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(len(labels), 7), fontsize="small")


def all_tables() -> dict[str, str]:
    """The tables of all studies of the simple model, from committed results, by the names of their marks."""
    return {
        **tables(found(_committed(RESULTS))),
        **maps.tables(_committed(maps.RESULTS)),
        **bins.tables(_committed(bins.RESULTS)),
        **small_batches.tables(_committed(small_batches.RESULTS)),
    }


def main() -> None:
    """Writes the tables and figures of the studies of the simple model."""
    results, batches = found(_committed(RESULTS)), _committed(small_batches.RESULTS)
    pages.write(all_tables(), REST)
    with style():
        drawn = {**figures(results), "small_batches": small_batches.figure(batches)}
        for name, figure in drawn.items():
            figure.savefig(pages.DOCS / "images" / f"{name}.png", dpi=60)


def _committed(path: Path) -> dict[str, Results]:
    results: dict[str, Results] = json.loads(path.read_text())["results"]
    return results


if __name__ == "__main__":
    main()
