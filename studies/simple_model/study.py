"""Trains a classifier and returns its scores of fresh events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from ..baselines import planing
from ..methods import penalty
from .classifiers import Classifier
from .data import Events, simple_model
from .train import BATCH, evaluate, train, train_against_adversary


@dataclass(frozen=True)
class Size:
    """The size of a study."""

    steps: int
    train_events: int
    test_events: int
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """One training."""

    classifier: Classifier
    seed: int
    size: Size
    batch: int = BATCH


def scores(task: Task, name: str | None = None) -> tuple[np.ndarray, Events]:
    """Trains once, and returns scores of fresh events, and the events. A seed has the same events for all.

    name : before a progress bar; None for no bar
    """
    classifier, size = task.classifier, task.size
    rngs = (np.random.default_rng(s) for s in np.random.SeedSequence(task.seed).spawn(2))
    training, test = (
        simple_model(events, rng, classifier.modified)
        for events, rng in zip((size.train_events, size.test_events), rngs, strict=True)
    )
    features = list(classifier.features)
    settings = {"steps": size.steps, "seed": task.seed, "batch": task.batch}
    if classifier.method == "adversary":
        network = train_against_adversary(training, features, classifier.strength, **settings)
    else:
        weight = None
        if classifier.method == "planing":
            weight = torch.from_numpy(planing(training.mass, training.label))
        network = train(
            training, features, penalty(classifier), classifier.strength, weight=weight, name=name, **settings
        )
    return evaluate(network, test, features), test


def seconds(task: Task) -> float:
    """The approximate time of a training on one core of a Xeon at 2.5 GHz."""
    return 5 + task.size.steps * (2e-3 + 1.7e-6 * task.batch)
