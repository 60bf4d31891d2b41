"""The figures of docs/zoo.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from libmode import plots
from matplotlib.figure import Figure

from ..drawing import OKABE_ITO, efficiency, style
from .classifiers import METHODS
from .measure import FINE_EDGES, ROC
from .summary import Point, over_seeds, shown

COLORS = {
    "unconstrained": "#888888",
    "planing": OKABE_ITO["orange"],
    "flatness": OKABE_ITO["sky blue"],
    "DisCo": OKABE_ITO["reddish purple"],
    "adversary": "#7A3E62",
    "MoDe[0]": OKABE_ITO["vermillion"],
    "MoDe[1]": OKABE_ITO["blue"],
    "MoDe[2]": OKABE_ITO["bluish green"],
    "MoDe[2] monotonic": OKABE_ITO["black"],
}


def figures(scans: Mapping[str, list[Point]]) -> dict[str, Figure]:
    """The figures, by the names of their files in docs/images."""
    scans = {name: scans[name] for name in METHODS}
    with style():
        return {
            "w_tagging_spectra": _spectra(scans),
            "w_tagging_jsd": _rejection_against_jsd(scans),
            "w_tagging_bias": _bias_against_rejection(scans),
            "w_tagging_roc": _rocs(scans),
        }


def _spectra(scans: Mapping[str, list[Point]]) -> Figure:
    """Spectra of all and of selected QCD jets, of unit area, from all seeds; below, their ratio."""
    figure = Figure(figsize=(16, 10), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(2, 1))
    groups = ["unconstrained", "planing", "flatness", "DisCo", "adversary"], [n for n in scans if n.startswith("MoDe")]
    for (upper, lower), names in zip(axes.T, groups, strict=True):
        everything = _density(_sum(shown(scans["unconstrained"]), "background"))
        upper.stairs(everything, FINE_EDGES, fill=True, color="0.85", label="all QCD jets")
        for name in names:
            point = shown(scans[name])
            selected = _sum(point, "selected")
            density = _density(selected)
            upper.stairs(density, FINE_EDGES, label=_name(point), color=COLORS[name], lw=2)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = density / everything
                error = ratio / np.sqrt(selected)
            efficiency(lower, (FINE_EDGES, ratio, error), color=COLORS[name], lw=2)
        upper.set(yscale="log", xlim=(50, 220), ylim=(1e-6, 1))
        upper.legend(fontsize="small", loc="upper right")
        lower.set(xlabel="mass [GeV]", ylim=(0, 2.5), ylabel="")
    axes[0, 0].set_ylabel("normalized to unit area")
    axes[1, 0].set_ylabel("after / before")
    return figure


def _sum(point: Point, name: str) -> np.ndarray:
    return np.sum([result[name] for result in point.seeds], axis=0)


def _density(counts: np.ndarray) -> np.ndarray:
    return counts / counts.sum() / np.diff(FINE_EDGES)


def _name(point: Point) -> str:
    strength = f", strength {point.classifier.strength:g}" if point.classifier.strength else ""
    return f"{point.classifier.name}{strength}"


def _rejection_against_jsd(scans: Mapping[str, list[Point]]) -> Figure:
    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots()
    for name, scan in scans.items():
        jsd, jsd_error = np.array([over_seeds(p.values("jsd")) for p in scan]).T
        r50, r50_error = np.array([p.r50 for p in scan]).T
        order = np.argsort([p.classifier.strength for p in scan], kind="stable")
        points = np.array([1 / jsd, r50, r50_error, jsd_error / jsd**2])[:, order]
        axes.errorbar(*points, label=name, color=COLORS[name], **_marker(name))
    # The ceiling depends on the number of selected jets: one line for all classifiers.
    blind = sorted((p.r50.mean, float(np.mean(p.values("blind_jsd")))) for p in _all(scans))
    axes.plot([1 / jsd for _, jsd in blind], [r50 for r50, _ in blind], color="black", ls=":", label="mass-blind")
    axes.set(xlabel="1 / JSD", ylabel="R50", xscale="log")
    axes.legend(fontsize="small")
    return figure


def _bias_against_rejection(scans: Mapping[str, list[Point]]) -> Figure:
    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots()
    for name, scan in scans.items():
        fitted = [(p, bias) for p in scan if (bias := p.bias()) is not None]
        if not fitted:
            continue
        r50, r50_error = np.array([p.r50 for p, _ in fitted]).T
        bias, bias_error = np.array([(bias.mean, bias.error) for _, bias in fitted]).T
        order = np.argsort([p.classifier.strength for p, _ in fitted], kind="stable")
        points = (r50[order], bias[order], bias_error[order], r50_error[order])
        axes.errorbar(*points, label=name, color=COLORS[name], **{"marker": "o"} | _marker(name))
    axes.axhline(0, color="black", lw=1)
    axes.set(xlabel="R50", ylabel="fitted signal over its error")
    axes.set_yscale("symlog", linthresh=3)
    axes.set_yticks([-3, -1, 0, 1, 3, 10], ["-3", "-1", "0", "1", "3", "10"])
    axes.legend(fontsize="small")
    return figure


def _rocs(scans: Mapping[str, list[Point]]) -> Figure:
    figure = Figure(figsize=(10, 9), layout="constrained")
    axes = figure.subplots()
    for name, scan in scans.items():
        point = shown(scan)
        rate = np.mean(point.values("roc"), axis=0)
        style = {"color": COLORS[name], "ls": "-" if name.startswith("MoDe") else "--"}
        plots.roc(axes, (ROC, rate), label=_name(point), **style)
    axes.set(xlim=(0, 1), ylim=(1, 1e3))
    axes.legend(loc="upper right", fontsize="small")
    return figure


def _marker(name: str) -> dict[str, str]:
    return {"marker": "o" if name.startswith("MoDe") else "^"}


def _all(scans: Mapping[str, list[Point]]) -> Iterable[Point]:
    return (point for scan in scans.values() for point in scan)
