"""Boosted trees with MoDe and their defaults on three samples: ``python -m studies.trees.study``.

The simple model, W tagging with the small sample of the tree, and decays in a Dalitz plane, beside
other ways to keep trees flat and the networks of these studies. Writes results.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..command import command
from ..methods import one_thread
from . import jets, plane, simple
from .report import RESULTS, tables
from .task import Size, Task, key

SAMPLES = {"simple": simple, "jets": jets, "plane": plane}
SECONDS = {  # about what a training takes on one core of a Xeon at 2.5 GHz, with its events and measures
    "xgboost": 4, "planing": 4, "disco": 14, "XGBoost": 8, "LightGBM": 8, "flatness": 30, "uboost": 50, "mode": 10,
}  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """The size of each sample, and the number of seeds, at most two for the plane."""

    simple: Size
    jets: Size
    plane: Size
    seeds: int


FULL = Sizes(Size(100_000, 200_000), Size(0, 0), Size(40_000, 200_000), 3)
QUICK = Sizes(Size(20_000, 60_000, 60), Size(0, 0, 60, 20, 10), Size(10_000, 40_000, 60, 20), 1)


def tasks(sizes: Sizes) -> dict[str, Task]:
    """All trainings by name."""
    found = (
        Task(sample, classifier, seed, getattr(sizes, sample))
        for sample, module in SAMPLES.items()
        for classifier in module.CLASSIFIERS
        for seed in range(1, (min(sizes.seeds, 2) if sample == "plane" else sizes.seeds) + 1)
    )
    return {key(task): task for task in found}


def measured(task: Task) -> dict[str, Any]:
    """Trains once, and returns what results.json holds of it."""
    one_thread()
    return SAMPLES[task.sample].measured(task)


def seconds(task: Task) -> float:
    """The approximate time of a training."""
    return SECONDS[task.classifier.method] * task.size.rounds / 500


def main() -> None:
    """Runs the study and prints its tables."""
    results = command("trees.study", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)
    print(*tables(results).values(), sep="\n")


if __name__ == "__main__":
    main()
