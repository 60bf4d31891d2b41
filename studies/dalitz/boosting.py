"""Boosted trees of hep_ml, free and with its flatness losses: ``python -m studies.dalitz.boosting``.

A. Rogozhnikov et al., arXiv:1410.4140: gradient boosting to uniformity (uGB) with the flatness loss
(FL) of bins or of nearest neighbors, times ``fl_coefficient``. Writes boosting.json.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas

from ..command import command
from ..methods import Classifier
from .events import FEATURES, Events
from .study import FULL, QUICK, Size, Task, result
from .study import tasks as all_tasks

RESULTS = Path(__file__).with_name("boosting.json")
PLANE = ["m2_ab", "m2_ac"]
BINS = 15  # of each squared mass in the loss, which takes them twice, half a bin apart
GROUPS = 2_000  # of neighbors in the loss: each step costs as much as there are groups
COEFFICIENTS = {"bins": (1, 3, 10, 30, 60), "neighbors": (3, 10, 30)}
CLASSIFIERS = [
    Classifier("independent", "independent"),
    Classifier("boosting"),
    *(Classifier(f"uGB+FL, {kind} {c}", kind, c) for kind, scan in COEFFICIENTS.items() for c in scan),
]


def scores(task: Task, training: Events, test: Events) -> np.ndarray:
    """The scores of the test events; random ones for the classifier "independent"."""
    # hep_ml is imported here, since the report of committed results does not need it.
    from hep_ml.gradientboosting import UGradientBoostingClassifier
    from hep_ml.losses import AdaLossFunction, BinFlatnessLossFunction, KnnFlatnessLossFunction

    method, strength = task.classifier.method, task.classifier.strength
    if method == "independent":
        return np.random.default_rng(task.seed).random(len(test))
    flat = {"uniform_features": PLANE, "uniform_label": 1, "fl_coefficient": strength}
    losses = {
        "none": lambda: AdaLossFunction(),
        "bins": lambda: BinFlatnessLossFunction(n_bins=BINS, **flat),
        "neighbors": lambda: KnnFlatnessLossFunction(max_groups=GROUPS, random_state=task.seed, **flat),
    }
    # Steps are as long as the coefficient is large: at 30 and 0.1, both AUC and flatness were worse.
    rate = min(0.1, 1 / strength) if strength else 0.1
    trees = UGradientBoostingClassifier(
        losses[method](), n_estimators=task.size.trees, learning_rate=rate, max_depth=4, subsample=0.7,
        train_features=list(FEATURES), random_state=task.seed,
    )  # fmt: skip
    with warnings.catch_warnings():  # hep_ml gives scikit-learn columns now with names, now without
        warnings.filterwarnings("ignore", "X has feature names", UserWarning)
        trees.fit(frame(training), training.label.astype(int))
    return np.asarray(trees.decision_function(frame(test)))


def frame(events: Events) -> pandas.DataFrame:
    """Features and masses as columns, as hep_ml takes them."""
    return pandas.DataFrame(np.column_stack([events.features, events.mass]), columns=[*FEATURES, *PLANE])


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return all_tasks(CLASSIFIERS, size)


def measured(task: Task) -> dict[str, float]:
    return result(task, scores)


def seconds(task: Task) -> float:
    """The approximate time of a training on one core of a Xeon at 2.5 GHz."""
    each = {"independent": 0.0, "none": 1.5e-6, "bins": 3.5e-6, "neighbors": 7e-6}[task.classifier.method]
    return 5 + each * task.size.trees * task.size.train_events


def main() -> None:
    command("dalitz.boosting", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)


if __name__ == "__main__":
    main()
