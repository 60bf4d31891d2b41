"""The table and the figure of the Dalitz plane, from the committed results: ``python -m studies.dalitz.report``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from .. import pages
from ..drawing import OKABE_ITO, style
from . import boosting, networks

REST = Path(__file__).with_name("tables.md")
MEASURES = {  # its column, by how many digits it has
    "auc": ("AUC", 4), "sde": ("SDE of cells", 4), "cvm": ("CvM of cells, 10^-4", 2),
    "sde_knn": ("SDE of neighbors", 4), "cvm_knn": ("CvM of neighbors, 10^-4", 2),
    "rms_pull": ("rms pull at 70 %", 2), "seconds": ("seconds", 0),
}  # fmt: skip
SCANS = {  # of the figure: what the names of their classifiers begin with, and their look
    "boosting": ("D", "#888888"), "uGB+FL, bins": ("s", OKABE_ITO["orange"]),
    "uGB+FL, neighbors": ("^", OKABE_ITO["bluish green"]), "network": ("D", OKABE_ITO["black"]),
    "MoDe[0]": ("o", OKABE_ITO["vermillion"]),
}  # fmt: skip

Found = dict[str, list[Mapping[str, float]]]  # by classifier, one for each seed


def committed() -> Found:
    """The results in the tree, perhaps without the networks."""
    found: Found = {}
    for path in (boosting.RESULTS, networks.RESULTS):
        if path.exists():
            for key, result in json.loads(path.read_text())["results"].items():
                found.setdefault(key.rpartition(", seed ")[0], []).append(result)
    return found


def tables(found: Found) -> dict[str, str]:
    """The tables, by the names of their marks."""
    rows = [["classifier", *(column for column, _ in MEASURES.values())]]
    for name, seeds in found.items():
        row = [name]
        for measure, (column, digits) in MEASURES.items():
            scale = 1e4 if "10^-4" in column else 1
            row.append(pages.over_seeds((scale * result[measure] for result in seeds), digits))
        rows.append(row)
    missing = "" if "network" in found else "\nThe networks have not been trained yet.\n"
    return {"dalitz": pages.table(rows) + missing}


def figure(found: Found) -> Figure:
    """SDE and Cramer-von Mises distance of cells against AUC, as means over seeds with a line for each scan."""
    drawn = Figure(figsize=(16, 7), layout="constrained")
    panels = drawn.subplots(1, 2)
    for panel, measure, name in zip(panels, ("sde", "cvm"), ("SDE", "Cramér-von Mises distance"), strict=True):
        for scan, (marker, color) in SCANS.items():
            seeds = [results for classifier, results in found.items() if classifier.startswith(scan)]
            x, y = (np.array([np.mean([r[key] for r in results]) for results in seeds]) for key in ("auc", measure))
            if len(x):  # as with the networks before they were trained
                panel.plot(x, y, marker=marker, color=color, label=scan)
        floor = np.mean([result[measure] for result in found["independent"]])
        panel.axhline(floor, color="black", ls=":", label="independent score")
        panel.set(xlabel="AUC", ylabel=f"{name} of signal", yscale="log")
        panel.xaxis.set_major_locator(MaxNLocator(5))
        panel.yaxis.set_minor_formatter(NullFormatter())
    panels[0].set_yticks([0.01, 0.02, 0.05, 0.1], ["0.01", "0.02", "0.05", "0.1"])
    panels[0].legend(fontsize="small")
    return drawn


def main() -> None:
    found = committed()
    pages.write(tables(found), REST)
    with style():
        figure(found).savefig(pages.DOCS / "images" / "dalitz.png", dpi=60)


if __name__ == "__main__":
    main()
