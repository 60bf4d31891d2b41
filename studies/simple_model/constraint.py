"""What MoDeConstraint reaches, beside fixed strengths: ``python -m studies.simple_model.constraint``.

One setting for all: orders 0, 1 and 2, batches of 256, 1,000 and 5,000, with reference events where batches
are smaller than these; with a tolerance; and MoDeLoss of some strengths. Writes constraint.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import pages
from ..command import command
from ..methods import one_thread
from .classifiers import Classifier, mode
from .measure import performance
from .study import Size, Task, scores, seconds

PAGE = pages.DOCS / "training.md"
RESULTS = Path(__file__).with_name("constraint.json")
ORDERS, BATCHES = (0, 1, 2), (256, 1_000, 5_000)
TOLERANCE = 100_000
SCANNED = {0: (1_000, 3_000), 1: (300, 1_000), 2: (300, 1_000)}  # strengths of MoDeLoss, by order
SCAN_BATCH = 1_000


@dataclass(frozen=True)
class Sizes:
    """Of the study: that of each training, how many seeds the constraint has, and what it is compared with.

    More seeds later leave the trainings that are there as they are.
    """

    each: Size
    seeds: int
    others: int


FULL = Sizes(Size(2_000, 100_000, 200_000, ()), 20, 3)
QUICK = Sizes(Size(300, 60_000, 100_000, ()), 1, 1)


def measured(task: Task) -> dict[str, Any]:
    """The AUC, and the residuals over what is expected."""
    one_thread()
    score, test = scores(task)
    found = performance(score, test, task.classifier.order)
    ratios = [s.residual / s.expected if s.expected > 0 else np.nan for s in found.selections]
    return {"auc": found.auc, "residual": ratios}


def tasks(sizes: Sizes) -> dict[str, Task]:
    """All trainings by name."""
    found = {}
    for order in ORDERS:
        constraint = Classifier("constraint", "constraint", options={"order": order})
        for batch in BATCHES:
            for seed in range(1, sizes.seeds + 1):
                found[_key(order, "constraint", batch, seed)] = Task(constraint, seed, sizes.each, batch)
        tolerant = Classifier("tolerance", "constraint", options={"order": order, "tolerance": TOLERANCE})
        others = {"tolerance": tolerant} | {f"strength {s:,}": mode(order, s) for s in SCANNED[order]}
        for name, classifier in others.items():
            for seed in range(1, sizes.others + 1):
                found[_key(order, name, SCAN_BATCH, seed)] = Task(classifier, seed, sizes.each, SCAN_BATCH)
    return found


def _key(order: int, name: str, batch: int, seed: int) -> str:
    return f"order {order}, {name}, batch {batch}, seed {seed}"


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """That of docs/training.md, by the name of its marks."""
    rows = [["order", "", "batch", "seeds", "AUC: median; lowest", "residual at 80, 50, 20 %: median", "highest"]]
    names: dict[tuple[str, str, str], None] = {}
    for key in results:
        order, rest = key.split(", ", 1)
        name, batch, _ = rest.rsplit(", ", 2)  # a strength has a comma
        names[order, name, batch] = None
    for order, name, batch in sorted(names, key=_place):
        found = [r for key, r in results.items() if key.startswith(f"{order}, {name}, {batch}, ")]
        auc, residual = np.array([r["auc"] for r in found]), np.array([r["residual"] for r in found])
        shown = {
            "constraint": "`MoDeConstraint()`",
            "tolerance": f"`tolerance={TOLERANCE:_}`",
        }.get(name, f"`MoDeLoss`, {name}")
        rows.append(
            [
                order.removeprefix("order "),
                shown,
                f"{int(batch.removeprefix('batch ')):,}",
                str(len(found)),
                f"{np.median(auc):.3f}; {auc.min():.3f}",
                _three(np.median(residual, axis=0)),
                _three(residual.max(axis=0)),
            ]
        )
    return {"constraint": pages.table(rows)}


def _place(row: tuple[str, str, str]) -> tuple[Any, ...]:
    order, name, batch = row
    return (
        order,
        ["constraint", "tolerance"].index(name) if name in ("constraint", "tolerance") else 2,
        len(batch),
        batch,
    )


def _three(values: Any) -> str:
    return " ".join("-" if np.isnan(value) else f"{value:.1f}" for value in values)


def of_one(task: Task) -> float:
    """About what a training takes, reference events included."""
    return seconds(task) + (8 if task.batch < 5_000 else 0)


def main() -> None:
    """Runs the study and prints its table."""
    results = command(
        "simple_model.constraint", __doc__.split("\n")[0], tasks, measured, of_one, (FULL, QUICK), RESULTS
    )
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
