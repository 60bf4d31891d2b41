"""W tagging in small batches, in bins and without: ``python -m studies.w_tagging.unbinned_jets``.

The jets of the tree, MoDe[0] and MoDe[1] at the strength in the middle of their scans.
Writes unbinned_jets.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from libmode import metrics

from .. import pages
from ..command import command
from ..methods import one_thread
from ..simple_model.unbinned import DEGREES, named, options_of, shown
from .classifiers import mode
from .measure import EFFICIENCY, RANGE, mass_edges
from .sample import load
from .study import Size, Task, seconds, trained

PAGE = pages.DOCS / "variables.md"
RESULTS = Path(__file__).with_name("unbinned_jets.json")
STRENGTH = 100
BATCH = 256
FULL = Size(None, 30, BATCH, (1, 2, 3))
QUICK = Size(None, 3, BATCH, (1,))


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{named(order, degree)}, seed {seed}": Task(
            mode(order, (STRENGTH,), named(order, degree), **options_of(degree))[0], seed, size, jets=len(load(None))
        )
        for order in (1, 0)
        for degree in DEGREES
        for seed in size.seeds
    }


def measured(task: Task) -> dict[str, Any]:
    """R50 and how far the selected background is from the allowed dependence on mass."""
    one_thread()
    sample = load(None)
    found = trained(task, sample)
    cut = metrics.threshold(found.score, found.label, signal_efficiency=EFFICIENCY)
    background = found.label == 0
    flatness = metrics.flatness(
        found.mass[background],
        found.score[background] >= cut,
        np.minimum(mass_edges(sample), RANGE[1]),
        degree=task.classifier.order,
    )
    return {
        "r50": metrics.rejection(found.score, found.label, signal_efficiency=EFFICIENCY),
        "residual": flatness.rms / flatness.expected,
    }


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """That of docs/variables.md, by the name of its marks."""
    rows = [["W tagging", "R50, order 1", "residual", "R50, order 0", "residual"]]
    for degree in DEGREES:
        row = [shown(degree)]
        for order in (1, 0):
            runs = [run for key, run in results.items() if key.startswith(named(order, degree) + ",")]
            row += [pages.over_seeds([run[what] for run in runs], 1) for what in ("r50", "residual")]
        rows.append(row)
    return {"W tagging without bins": pages.table(rows)}


def main() -> None:
    title = __doc__.split("\n")[0]
    results = command("w_tagging.unbinned_jets", title, tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
