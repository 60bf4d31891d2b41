"""Splits the sample, trains a classifier and returns its scores of the test jets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..methods import Classifier
from .sample import Sample
from .train import Jets, prepared, scores_of, train, train_against_adversary

TEST, VALIDATION = 0.3, 0.2  # and the rest for training


@dataclass(frozen=True)
class Size:
    """The size of a study.

    sample : a path, or None for the committed one
    batch : jets
    """

    sample: str | None
    epochs: int
    batch: int
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """One training.

    fraction : of the training set in a batch, if not 0; else the batch is that of size
    digest : of the sample's file
    jets : in the sample
    """

    classifier: Classifier
    seed: int
    size: Size
    fraction: float = 0.0
    digest: str = ""
    jets: int = 0


@dataclass(frozen=True)
class Trained:
    """Scores (n,) of the test jets, their masses and labels, and the chosen epoch."""

    score: np.ndarray
    mass: np.ndarray
    label: np.ndarray
    epoch: int


def trained(task: Task, sample: Sample) -> Trained:
    """Trains once on the task's sample."""
    (training, validation, test), places = prepared_split(task, sample)
    batch = round(task.fraction * len(training)) or task.size.batch
    method = train_against_adversary if task.classifier.method == "adversary" else train
    network, epoch = method(training, validation, task.classifier, epochs=task.size.epochs, batch=batch, seed=task.seed)
    return Trained(scores_of(network, test), sample.mass[places[2]], sample.label[places[2]], epoch)


def prepared_split(task: Task, sample: Sample) -> tuple[list[Jets], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Training, validation and test jets, and their indices in the sample."""
    places = split(sample.label, task.seed)
    return prepared(sample, places, task.classifier.method == "planing"), places


def split(label: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The indices of the training, validation and test jets, with the same fractions of each class.

    The jets are in one random order, which is turned by the test set from seed to seed: those of
    seeds 1, 2 and 3 have no jet in common, and so independent errors.
    """
    rng = np.random.default_rng(0)
    parts: list[list[np.ndarray]] = [[], [], []]
    for of_class in (0, 1):
        order = rng.permutation(np.flatnonzero(label == of_class))
        test, validation = round(TEST * len(order)), round(VALIDATION * len(order))
        order = np.roll(order, -(seed - 1) * test)
        for part, places in zip(parts, np.split(order, [test, test + validation])[::-1], strict=True):
            part.append(places)
    training, validating, testing = (np.concatenate(part) for part in parts)
    return training, validating, testing


def seconds(task: Task) -> float:
    """The approximate time of a training on one core of a busy Xeon at 2.5 GHz."""
    epoch = task.jets * 2e-6 * (1.4 if task.classifier.method in ("adversary", "disco") else 1)
    return 3 + task.jets * 2e-5 + task.size.epochs * epoch
