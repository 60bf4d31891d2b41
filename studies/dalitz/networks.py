"""Networks, free and with MoDe[0] of two masses: ``python -m studies.dalitz.networks``.

The network of arXiv:2010.09745 and its training, with the loss of cells of the Dalitz plane;
the response that is to be flat is that of label 1, the signal. Writes networks.json.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..command import command
from ..methods import Classifier, penalty
from ..simple_model.train import evaluate, train
from .events import FEATURES, Events
from .study import FULL, QUICK, Size, Task, result
from .study import tasks as all_tasks

RESULTS = Path(__file__).with_name("networks.json")
FLAT = {"order": 0, "joint": True, "background_label": 1}
STRENGTHS = (3, 10, 30, 100, 300)
CLASSIFIERS = [Classifier("network"), *(Classifier(f"MoDe[0] {s:,}", "mode", s, FLAT) for s in STRENGTHS)]


def scores(task: Task, training: Events, test: Events) -> np.ndarray:
    """The scores of the test events."""
    columns = list(range(len(FEATURES)))
    classifier, size = task.classifier, task.size
    settings = {"steps": size.steps, "seed": task.seed, "batch": size.batch, "name": None}
    network = train(training, columns, penalty(classifier), classifier.strength, **settings)
    return evaluate(network, test, columns)


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return all_tasks(CLASSIFIERS, size)


def measured(task: Task) -> dict[str, float]:
    return result(task, scores)


def seconds(task: Task) -> float:
    """The approximate time of a training on one core of a Xeon at 2.5 GHz."""
    return 5 + task.size.steps * (2e-3 + 1.7e-6 * task.size.batch)


def main() -> None:
    command("dalitz.networks", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)


if __name__ == "__main__":
    main()
