"""Trains a classifier and measures it on fresh events."""

from __future__ import annotations

from dataclasses import dataclass

import libmode
import numpy as np
import torch
from libmode.torch import MoDeLoss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss, planing

from .classifiers import Classifier
from .data import Events, simple_model
from .train import BATCH, Loss, evaluate, train, train_against_adversary

TRAIN_EVENTS = 100_000
EPOCHS = 100


@dataclass(frozen=True)
class Size:
    """Of a study."""

    steps: int
    train_events: int
    test_events: int
    seeds: tuple[int, ...]


PENALTIES: dict[str, type] = {"mode": MoDeLoss, "disco": DisCoLoss, "flatness": FlatnessLoss}


def scores(
    classifier: Classifier,
    seed: int,
    *,
    train_events: int = TRAIN_EVENTS,
    test_events: int,
    steps: int,
    batch: int = BATCH,
    name: str | None = None,
) -> tuple[np.ndarray, Events]:
    """Trains one, and returns its scores of fresh events, and these. The same seed has the same events for all.

    name : before a progress bar; None for no bar
    """
    rngs = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    training, test = (
        simple_model(events, rng, classifier.modified)
        for events, rng in zip((train_events, test_events), rngs, strict=True)
    )
    features = list(classifier.features)
    if classifier.method == "adversary":
        network = train_against_adversary(training, features, classifier.strength, steps=steps, seed=seed, batch=batch)
    else:
        weight = None
        if classifier.method == "planing":
            weight = planing(torch.from_numpy(training.mass), torch.from_numpy(training.label)).weight
        network = train(
            training, features, penalty(classifier), classifier.strength,
            steps=steps, seed=seed, batch=batch, weight=weight, name=name,
        )  # fmt: skip
    return evaluate(network, test, features), test


def one_thread() -> None:
    """For processes that run side by side."""
    torch.set_num_threads(1)
    libmode.set_threads(1)


def penalty(classifier: Classifier) -> Loss | None:
    """What is added to the cross entropy."""
    kind = PENALTIES.get(classifier.method)
    return None if kind is None else kind(**classifier.options)
