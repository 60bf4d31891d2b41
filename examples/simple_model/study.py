"""Trains a classifier and measures it on fresh events; and what the commands of the studies share."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import libmode
import numpy as np
import torch
from libmode.torch import MoDeLoss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss, planing

from ..runner import Piece, run
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


@dataclass(frozen=True)
class Task:
    """One training."""

    classifier: Classifier
    seed: int
    size: Size
    batch: int = BATCH


PENALTIES: dict[str, type] = {"mode": MoDeLoss, "disco": DisCoLoss, "flatness": FlatnessLoss}


def scores(task: Task, name: str | None = None) -> tuple[np.ndarray, Events]:
    """Trains one, and returns its scores of fresh events, and these. The same seed has the same events for all.

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
            weight = planing(torch.from_numpy(training.mass), torch.from_numpy(training.label)).weight
        network = train(
            training, features, penalty(classifier), classifier.strength, weight=weight, name=name, **settings
        )
    return evaluate(network, test, features), test


def penalty(classifier: Classifier) -> Loss | None:
    """What is added to the cross entropy."""
    kind = PENALTIES.get(classifier.method)
    return None if kind is None else kind(**classifier.options)


def one_thread() -> None:
    """For processes that run side by side."""
    torch.set_num_threads(1)
    libmode.set_threads(1)


def command(
    name: str,
    title: str,
    tasks: Callable[[Size], dict[str, Task]],
    measured: Callable[[Task], dict[str, Any]],
    sizes: tuple[Size, Size],
    path: Path,
) -> dict[str, dict[str, Any]]:
    """Runs a study from the command line: all its trainings, as ``tasks`` names them, each through ``measured``.

    sizes : in full, and with --quick
    path : of the JSON file of results in full; those of --quick go to build/studies

    Returns the results by the names of the trainings.
    """
    parser = argparse.ArgumentParser(prog=f"python -m examples.simple_model.{name}", description=title)
    parser.add_argument("--quick", action="store_true", help="small: a look in minutes; the committed results stay")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    size, work = sizes[chosen.quick], Path("build/studies", f"{name}-quick" if chosen.quick else name)
    pieces = [Piece(key, asdict(task), task, seconds(task)) for key, task in tasks(size).items()]
    results = run(pieces, measured, work, chosen.processes)
    path = work.with_suffix(".json") if chosen.quick else path
    path.write_text(json.dumps({"size": asdict(size), "results": results}, separators=(",", ":")) + "\n")
    print("wrote", path)
    return results


def seconds(task: Task) -> float:
    """About what a training takes on one core of a Xeon at 2.5 GHz."""
    return 5 + task.size.steps * (2e-3 + 1.7e-6 * task.batch)
