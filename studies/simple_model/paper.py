"""Section 3.1 of arXiv:2010.09745 in full, and other methods: ``python -m studies.simple_model.paper``.

Trains every classifier with three seeds, measures it, and writes results.json; the
tables and figures of docs/zoo.md are made of that by ``python -m studies.simple_model.report``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from libmode import metrics
from numpy.polynomial.legendre import legvander
from scipy.spatial.distance import jensenshannon

from ..command import command
from ..methods import one_thread
from .classifiers import DEMO, MODIFIED, MONOTONIC_TIGHT, OTHERS, SLOPES, SLOPES_TIGHT, Classifier
from .data import Events
from .measure import MASS_EDGES, bias, performance
from .study import Size, Task, scores, seconds
from .table import of_one
from .train import BATCH

RESULTS = Path(__file__).with_name("results.json")
GROUPS: dict[str, tuple[Classifier, ...]] = {
    "simple": DEMO + OTHERS,
    "modified": MODIFIED,
    "slopes": SLOPES,
    "tight": (MONOTONIC_TIGHT, *SLOPES_TIGHT),
}
FULL = Size(5_000, 100_000, 400_000, (1, 2, 3))
QUICK = Size(800, 40_000, 100_000, (1,))


def measured(task: Task) -> dict[str, Any]:
    """Trains once, and returns what results.json holds of it."""
    one_thread()
    score, test = scores(task)
    found = performance(score, test, task.classifier.order)
    efficiency, rate = found.roc
    table = of_one(found)
    for selection in table["selections"]:
        selection.update(_background(score, test, selection["threshold"]))
    return {
        **table,
        "roc": {"signal_efficiency": efficiency[::2].tolist(), "false_positive_rate": rate[::2].tolist()},
    }


def _background(score: np.ndarray, test: Events, threshold: float) -> dict[str, Any]:
    """How a selection shapes the background's mass."""
    selected = (score >= threshold) & (test.label == 0)
    rate = metrics.efficiency(score, test.label, test.mass, threshold=threshold, bins=MASS_EDGES)
    return {
        "jsd": float(jensenshannon(rate.selected, rate.background - rate.selected, base=2) ** 2),
        "bias": bias(test.mass[selected]),
        "moments": _moments(score, test, threshold),
    }


def _moments(score: np.ndarray, test: Events, threshold: float) -> list[float]:
    """c_0, c_1 and c_2 of the background at a score, from a fit to 20 bins."""
    mass, below = test.mass[test.label == 0], score[test.label == 0] <= threshold
    bins = np.clip(((mass + 1) * 10).astype(int), 0, 19)
    in_bin, *columns = (np.bincount(bins, own, 20) for own in (np.ones(len(mass)), below, *legvander(mass, 2).T))
    fraction, *design = (own / in_bin for own in columns)
    return np.linalg.lstsq(np.transpose(design), fraction, rcond=None)[0].tolist()


def tasks(size: Size) -> dict[str, Task]:
    """All trainings of the study by name."""
    return {
        f"{group}, {classifier.name}, seed {seed}": _task(group, classifier, seed, size)
        for group, classifiers in GROUPS.items()
        for classifier in classifiers
        for seed in size.seeds
    }


def _task(group: str, classifier: Classifier, seed: int, size: Size) -> Task:
    if group != "tight":
        return Task(classifier, seed, size)
    # A tight selection keeps 1 % of the background: too few of a small sample to know a slope.
    large = replace(size, steps=size.steps // 2, train_events=10 * size.train_events, test_events=5 * size.test_events)
    return Task(classifier, seed, large, 5 * BATCH)


if __name__ == "__main__":
    command("simple_model.paper", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)
