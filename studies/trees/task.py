"""What trainings on the three samples share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..methods import Classifier


@dataclass(frozen=True)
class Size:
    """The size of a training on one sample.

    train_events, test_events : fresh ones; 0 where the sample is a file that is split
    rounds : of XGBoost and LightGBM
    trees : of hep_ml's classifiers
    epochs : of networks
    """

    train_events: int
    test_events: int
    rounds: int = 500
    trees: int = 200
    epochs: int = 50


@dataclass(frozen=True)
class Task:
    """One training on one of the samples: "simple", "jets" or "plane"."""

    sample: str
    classifier: Classifier
    seed: int
    size: Size


def key(task: Task) -> str:
    """The name of a training in results.json."""
    return f"{row(task.sample, task.classifier)}, seed {task.seed}"


def row(sample: str, classifier: Classifier) -> str:
    """The results of all seeds."""
    return f"{sample}, {classifier.name}, strength {classifier.strength:g}"


def two_sets(draw: Callable[[int, np.random.Generator], Any], task: Task) -> Iterator[Any]:
    """Training and test events from a function of their number. A seed has the same events for all classifiers."""
    rngs = (np.random.default_rng(s) for s in np.random.SeedSequence(task.seed).spawn(2))
    sizes = task.size.train_events, task.size.test_events
    return (draw(events, rng) for events, rng in zip(sizes, rngs, strict=True))


class Stopwatch:
    """CPU seconds of this process, which other programs on the machine change little."""

    seconds = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds += time.process_time() - start
