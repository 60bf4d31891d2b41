"""Section 3.1 of arXiv:2010.09745 in full, and other methods: ``python -m examples.simple_model.paper``.

Trains every classifier with three seeds, measures it, and writes results.json; the
tables and figures of docs/results.md are made of that by ``python -m examples.simple_model.report``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import libmode
import numpy as np
from libmode import metrics

from ..runner import Piece, run
from .classifiers import DEMO, MODIFIED, OTHERS, SLOPES, Classifier
from .data import SIGNAL_MASS, SIGNAL_WIDTH, Events
from .measure import MASS_EDGES, performance
from .study import Size, one_thread, scores
from .table import of_one
from .train import BATCH

RESULTS = Path(__file__).with_name("results.json")
WORK = Path("build/studies/simple")
GROUPS: dict[str, tuple[Classifier, ...]] = {
    "simple": DEMO + OTHERS,
    "modified": MODIFIED,
    "slopes": SLOPES,
}
SCORES = np.linspace(0, 1, 51)
SPECTRUM = np.linspace(-0.8, 0.8, 33)  # beyond, tight selections leave bins empty


FULL = Size(5_000, 100_000, 400_000, (1, 2, 3))
QUICK = Size(800, 40_000, 100_000, (1,))


@dataclass(frozen=True)
class Task:
    """One training."""

    classifier: Classifier
    seed: int
    size: Size
    batch: int = BATCH


def measured(task: Task) -> dict[str, Any]:
    """Trains and measures: what results.json holds of it."""
    one_thread()
    start = time.perf_counter()
    score, test = _scores(task)
    seconds = time.perf_counter() - start
    found = performance(score, test, task.classifier.order)
    efficiency, rate = found.roc
    table = of_one(found)
    for selection in table["selections"]:
        selection.update(_background(score, test, selection["threshold"]))
    return {
        **table,
        "roc": {"signal_efficiency": efficiency[::2].tolist(), "false_positive_rate": rate[::2].tolist()},
        "moments": _moments(score, test, SCORES),
        "seconds": seconds,
    }


def _scores(task: Task, steps: int | None = None, test_events: int | None = None) -> tuple[np.ndarray, Events]:
    return scores(
        task.classifier,
        task.seed,
        train_events=task.size.train_events,
        test_events=test_events or task.size.test_events,
        steps=steps or task.size.steps,
        batch=task.batch,
    )


def _background(score: np.ndarray, test: Events, threshold: float) -> dict[str, Any]:
    """How a selection shapes the background's mass."""
    background = test.label == 0
    mass, selected = test.mass[background], score[background] >= threshold
    return {
        "jsd": metrics.jsd(mass, selected, MASS_EDGES),
        "bias": _bias(mass[selected]),
        "selected": int(selected.sum()),
        "moments": _moments(score, test, [threshold])[0],
    }


def _bias(mass: np.ndarray) -> float | None:
    """A fitted signal over its error; None where the selection left bins so empty that there is no fit."""
    try:
        return metrics.signal_bias(mass, SPECTRUM, SIGNAL_MASS, SIGNAL_WIDTH, degree=2).significance
    except RuntimeError:
        return None


def _moments(score: np.ndarray, test: Events, at: Iterable[float]) -> list[list[float]]:
    """c_0, c_1 and c_2 of the background at each score, from a fit to 20 bins."""
    background = test.label == 0
    moments = libmode.mode_moments(
        score[background], test.mass[background], at=list(at),
        order=2, binning="uniform", bins=20, mass_range=(-1, 1), moments="projection",
    )  # fmt: skip
    return moments.moments.tolist()


def pieces(tasks: dict[str, Task]) -> list[Piece]:
    """The trainings as the runner takes them."""
    return [Piece(key, asdict(task), task, _seconds(task)) for key, task in tasks.items()]


def tasks(size: Size) -> dict[str, Task]:
    """All trainings of the study by name."""
    return {
        f"{group}, {classifier.name}, seed {seed}": Task(classifier, seed, size)
        for group, classifiers in GROUPS.items()
        for classifier in classifiers
        for seed in size.seeds
    }


def _seconds(task: Task) -> float:
    return 5 + task.size.steps * _seconds_a_step(task.classifier.method, task.batch, task.size)


@lru_cache
def _seconds_a_step(method: str, batch: int, size: Size) -> float:
    """Found by trying."""
    classifier = next(c for group in GROUPS.values() for c in group if c.method == method)
    times = []
    for steps in (2, 22):
        start = time.perf_counter()
        _scores(Task(classifier, 0, size, batch), steps, test_events=1_000)
        times.append(time.perf_counter() - start)
    return max(times[1] - times[0], 1e-3) / 20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.simple_model.paper", description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small: a look in minutes; the committed results stay")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    size, work = (QUICK, WORK.with_name("simple-quick")) if chosen.quick else (FULL, WORK)
    results = run(pieces(tasks(size)), measured, work, chosen.processes)
    path = work.with_suffix(".json") if chosen.quick else RESULTS
    path.write_text(json.dumps({"size": asdict(size), "results": results}, indent=None, separators=(",", ":")) + "\n")
    print("wrote", path)


if __name__ == "__main__":
    main()
