"""The figures of the paper."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..style import STYLE
from .measure import EFFICIENCIES, MASS_CENTRES, Performance
from .study import AGNOSTIC

# Colours of Okabe and Ito, told apart with any colour vision. MoDe[1], MoDe[2] and
# the agnostic classifier lie on one another, hence the open markers and the dashes.
CURVES = {
    "unconstrained": {"color": "#888888", "marker": "v", "ls": "-."},
    AGNOSTIC: {"color": "black", "marker": "none", "ls": "--"},
    "MoDe[0]": {"color": "#D55E00", "marker": "s", "ls": "-"},
    "MoDe[1]": {"color": "#0072B2", "marker": "o", "ls": "-"},
    "MoDe[2]": {"color": "#00A078", "marker": "D", "ls": (0, (1, 1))},
}


def write(results: dict[str, Performance], directory: Path) -> list[Path]:
    """Writes both figures as PNG and PDF; returns the four files."""
    written = []
    with plt.style.context(STYLE):  # saving included: fonts are looked up only then
        for name, draw in {"false_positive_rate": rate_against_mass, "roc": roc_curves}.items():
            figure = draw(results)
            for suffix in (".png", ".pdf"):
                written.append(directory / f"{name}{suffix}")
                figure.savefig(written[-1], dpi=100)
            plt.close(figure)
    return written


def rate_against_mass(results: dict[str, Performance]) -> Figure:
    """One column per signal efficiency; below, the ratio to the m-agnostic classifier."""
    figure, axes = plt.subplots(2, 3, figsize=(18, 10), sharex=True, height_ratios=(2, 1), layout="constrained")
    for k, efficiency in enumerate(EFFICIENCIES):
        upper, lower = axes[:, k]
        reference = results[AGNOSTIC].selections[k].rate
        for name, result in results.items():
            s = result.selections[k]
            _curve(upper, name, s.rate, s.error)
            with np.errstate(divide="ignore", invalid="ignore"):  # bins where nothing passes are not drawn
                _curve(lower, name, s.rate / reference, s.error / reference)
        upper.set(title=f"signal efficiency {efficiency:.0%}", xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))
        upper.set_ylim(bottom=0)
        lower.set(xlabel="mass", ylim=(0, 2.4))
    axes[0, 0].set_ylabel("false positive rate")
    axes[1, 0].set_ylabel("ratio to m-agnostic")
    figure.align_ylabels(axes[:, 0])

    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize="medium", handlelength=2.2)
    return figure


def _curve(axes: Axes, name: str, rate: np.ndarray, error: np.ndarray) -> None:
    """rate, error : (20,), nan where they are not known"""
    axes.errorbar(
        MASS_CENTRES, rate, error, label=name, lw=1.8, elinewidth=1.8, ms=8, mfc="none", mew=1.8, **CURVES[name],
    )  # fmt: skip


def roc_curves(results: dict[str, Performance]) -> Figure:
    """Background rejection against signal efficiency."""
    figure, axes = plt.subplots(figsize=(10, 9), layout="constrained")
    for name, result in results.items():
        efficiency, rate = result.roc
        seen = rate > 0
        axes.plot(
            efficiency[seen], 1 / rate[seen], color=CURVES[name]["color"], ls=CURVES[name]["ls"], lw=3,
            label=f"{name}, AUC {result.auc:.3f}",
        )  # fmt: skip
    axes.plot(efficiency, 1 / efficiency, color="black", lw=1, ls=":", label="random choice")
    axes.set(xlabel="signal efficiency", ylabel="background rejection", yscale="log", xlim=(0, 1), ylim=(1, 1e3))
    axes.legend(loc="upper right", fontsize="medium", handlelength=2.2)
    return figure
