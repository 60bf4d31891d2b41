"""W tagging with the jets of the tree. Networks choose an epoch by part of the jets that trees train on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..methods import Classifier
from ..w_tagging.classifiers import RANGE, mode
from ..w_tagging.measure import fit_of, mass_edges, performance
from ..w_tagging.sample import Sample, load
from ..w_tagging.study import Size as NetworkSize
from ..w_tagging.study import Task as NetworkTask
from ..w_tagging.study import split, trained
from .task import Stopwatch, Task

ORDERS = (0, 1, 2)
NETWORK_STRENGTHS = (10, 20, 50, 100, 200)
BATCH = 1_000  # of networks: that of the quick study of this sample
FLAT = "uGB+FL of hep_ml"
CLASSIFIERS = [
    Classifier("XGBoost", "xgboost"),
    *(Classifier(FLAT, "flatness", strength) for strength in (3, 10, 30, 60, 100)),
    *(
        Classifier(f"MoDe[{order}], {library}", library, options={"order": order, "mass_range": RANGE})
        for order in ORDERS
        for library in ("XGBoost", "LightGBM")
    ),
    *(classifier for order in ORDERS for classifier in mode(order, NETWORK_STRENGTHS, f"MoDe[{order}], network")),
]
SHOWN = ("auc", "r50", "r50_error", "jsd", "blind_jsd", "flatness", "flatness_expected")


def measured(task: Task) -> dict[str, Any]:
    """The measures of the W tagging study on the test jets, and CPU seconds of training."""
    sample, watch, classifier = load(), Stopwatch(), task.classifier
    if classifier.method == "mode":
        size = NetworkSize(None, task.size.epochs, BATCH, ())
        with watch.running():
            found = trained(NetworkTask(classifier, task.seed, size), sample)
        score, test = found.score, (found.mass, found.label)
    else:
        training, validation, testing = split(sample.label, task.seed)
        parts = _part(sample, np.concatenate([training, validation])), _part(sample, testing)
        score, test = _of_trees(task, *parts, watch), (parts[1].mass, parts[1].label)
    result = performance(score, *test, classifier.order, mass_edges(sample), fit_of(sample))
    return {name: result[name] for name in SHOWN} | {"seconds": watch.seconds}


def _of_trees(task: Task, training: Sample, test: Sample, watch: Stopwatch) -> np.ndarray:
    if task.classifier.method == "flatness":
        from .peers import flat_in_mass

        return flat_in_mass(task, training, test, watch)
    from .boosters import scores

    return scores(task, training, test, watch)


def _part(sample: Sample, places: np.ndarray) -> Sample:
    arrays = {name: getattr(sample, name)[places] for name in ("features", "mass", "pt", "label")}
    return replace(sample, **arrays)
