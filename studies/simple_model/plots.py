"""The figures of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from libmode.plots import roc
from matplotlib.figure import Figure

from ..drawing import OKABE_ITO, efficiency, style
from .classifiers import AGNOSTIC
from .measure import EFFICIENCIES, MASS_EDGES, Performance

# MoDe[1], MoDe[2] and the agnostic classifier lie on one another, hence the dashes.
CURVES = {
    "unconstrained": {"color": "#888888", "ls": "-."},
    AGNOSTIC: {"color": "black", "ls": "--"},
    "MoDe[0]": {"color": OKABE_ITO["vermillion"], "ls": "-"},
    "MoDe[1]": {"color": OKABE_ITO["blue"], "ls": "-"},
    "MoDe[2]": {"color": OKABE_ITO["bluish green"], "ls": (0, (1, 1))},
}


def write(results: dict[str, Performance], directory: Path) -> list[Path]:
    """Writes both figures as PNG and PDF; returns the four files."""
    written = []
    with style():
        for name, draw in {"false_positive_rate": rate_against_mass, "roc": roc_curves}.items():
            figure = draw(results)
            for suffix in (".png", ".pdf"):
                written.append(directory / f"{name}{suffix}")
                figure.savefig(written[-1], dpi=100)
    return written


def rate_against_mass(results: dict[str, Performance]) -> Figure:
    """One column per signal efficiency; below, the ratio to the m-agnostic classifier."""
    figure = Figure(figsize=(18, 10), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, height_ratios=(2, 1))
    axes[0, 0].set_ylabel("background efficiency")
    axes[1, 0].set_ylabel("ratio to m-agnostic")
    for k, signal_efficiency in enumerate(EFFICIENCIES):
        upper, lower = axes[:, k]
        reference = results[AGNOSTIC].selections[k].rate
        for name, result in results.items():
            s = result.selections[k]
            efficiency(upper, (MASS_EDGES, s.rate, s.error), label=name, **CURVES[name])
            with np.errstate(divide="ignore", invalid="ignore"):  # bins where nothing passes are not drawn
                ratio = MASS_EDGES, s.rate / reference, s.error / reference
            efficiency(lower, ratio, **CURVES[name])
        upper.set(title=f"signal efficiency {signal_efficiency:.0%}", xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))
        upper.set_ylim(bottom=0)
        lower.set(ylim=(0, 2.4))
    for panel in axes[0]:
        panel.set_xlabel("")
    for panel in axes[:, 1:].flat:
        panel.set_ylabel("")
    figure.align_ylabels(axes[:, 0])

    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize="medium", handlelength=2.2)
    return figure


def roc_curves(results: dict[str, Performance]) -> Figure:
    """Background rejection against signal efficiency."""
    figure = Figure(figsize=(10, 9), layout="constrained")
    axes = figure.subplots()
    for name, result in results.items():
        roc(axes, result.roc, label=f"{name}, AUC {result.auc:.3f}", lw=3, **CURVES[name])
    chance = np.linspace(0.001, 1, 1000)
    roc(axes, (chance, chance), label="random choice", color="black", lw=1, ls=":")
    axes.set(xlim=(0, 1), ylim=(1, 1e3))
    axes.legend(loc="upper right", fontsize="medium", handlelength=2.2)
    return figure
