"""What trainings with hep_ml and with libmode share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..methods import Classifier, one_thread
from .events import Events, decays
from .measure import measured


@dataclass(frozen=True)
class Size:
    """The size of a study.

    train_events, test_events : half of them signal
    trees : of hep_ml's classifiers
    steps, batch : of the networks' training, and events in each step
    """

    train_events: int
    test_events: int
    trees: int
    steps: int
    batch: int
    seeds: tuple[int, ...]


FULL = Size(40_000, 200_000, trees=200, steps=4_000, batch=2_000, seeds=(1, 2))
QUICK = Size(10_000, 40_000, trees=40, steps=400, batch=1_000, seeds=(1,))


@dataclass(frozen=True)
class Task:
    """One training."""

    classifier: Classifier
    seed: int
    size: Size


Scores = Callable[[Task, Events, Events], np.ndarray]  # (n,) of test events, from training and test events


def tasks(classifiers: Iterable[Classifier], size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {f"{c.name}, seed {seed}": Task(c, seed, size) for c in classifiers for seed in size.seeds}


def result(task: Task, scores: Scores) -> dict[str, float]:
    """Trains once and measures on fresh events; "seconds" are for training and evaluation.

    The same seed has the same events for all classifiers.
    """
    one_thread()
    rngs = (np.random.default_rng(s) for s in np.random.SeedSequence(task.seed).spawn(2))
    sizes = task.size.train_events, task.size.test_events
    training, test = (decays(events, rng) for events, rng in zip(sizes, rngs, strict=True))
    start = time.perf_counter()
    score = scores(task, training, test)
    seconds = time.perf_counter() - start
    return measured(score, test) | {"seconds": seconds}
