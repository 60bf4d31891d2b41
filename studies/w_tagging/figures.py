"""Draws the sample of jets: ``python -m studies.w_tagging.figures``."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ..drawing import OKABE_ITO, style
from ..pages import DOCS
from .sample import FEATURES, MASS, Sample, load

# Labels and ranges. The outermost bins also count values outside.
AXES: dict[str, tuple[str, tuple[float, float]]] = {
    "mass": ("mass [GeV]", MASS),
    "c2": ("$C_2$", (0, 0.4)),
    "d2": ("$D_2$", (0, 5)),
    "tau21": (r"$\tau_{21}$", (0, 1)),
    "r2": ("$R_2$", (0, 1)),
    "planar_flow": ("planar flow", (0, 1)),
    "a3": ("$a_3$", (1e-5, 0.1)),
    "aplanarity": ("aplanarity", (1e-4, 0.5)),
    "zcut": (r"$Z_\mathrm{cut}$", (0, 0.6)),
    "sqrt_d12": ("√d$_{12}$ [GeV]", (0, 160)),
    "kt_dr": (r"Kt$\Delta R$", (0, 1.25)),
}
LOGARITHMIC = ("a3", "aplanarity")
CLASSES = {"W": (1, OKABE_ITO["vermillion"], "-"), "QCD": (0, OKABE_ITO["blue"], "--")}


def draw(sample: Sample, path: Path) -> Path:
    """Draws the mass and the features of each class as fractions of its jets; returns the path."""
    with style():
        figure = Figure(figsize=(24, 17), layout="constrained")
        *panels, last = figure.subplots(3, 4).flat
        for panel, (name, (label, limits)) in zip(panels, AXES.items(), strict=True):
            x = sample.mass if name == "mass" else sample.features[:, FEATURES.index(name)]
            logarithmic = name in LOGARITHMIC
            edges = (np.geomspace if logarithmic else np.linspace)(*limits, 51)
            inside = np.clip(x, *limits)
            for title, (is_w, color, line) in CLASSES.items():
                counts, _ = np.histogram(inside[sample.label == is_w], edges)
                panel.stairs(counts / counts.sum(), edges, label=title, color=color, ls=line, lw=2.5)
            panel.set(xlabel=label, xlim=limits, yticks=[], xscale="log" if logarithmic else "linear")
            panel.set_ylim(bottom=0)
        last.axis("off")
        last.legend(*panels[0].get_legend_handles_labels(), loc="center", fontsize="large")
        figure.supylabel("fraction of jets")
        figure.savefig(path, dpi=50)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m studies.w_tagging.figures", description=__doc__.split(":")[0])
    parser.add_argument("--sample", type=Path, help="a file that generate wrote; by default the small one")
    parser.add_argument("--output", type=Path, default=DOCS / "images" / "w_tagging_features.png")
    chosen = parser.parse_args()
    print("wrote", draw(load(chosen.sample), chosen.output))
