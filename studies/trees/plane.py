"""Three-body decays with a uniform signal efficiency in the Dalitz plane."""

from __future__ import annotations

from typing import Any

from ..dalitz.events import decays
from ..dalitz.measure import measured as measures
from ..methods import Classifier
from .task import Stopwatch, Task, two_sets

FLAT = {"order": 0, "joint": True, "background_label": 1}
CLASSIFIERS = [
    Classifier("XGBoost", "xgboost"),
    Classifier("uBoost of hep_ml", "uboost"),
    *(Classifier(f"MoDe[0], {library}", library, options=FLAT) for library in ("XGBoost", "LightGBM")),
]


def measured(task: Task) -> dict[str, Any]:
    """The measures of the Dalitz study, and CPU seconds of training."""
    training, test = two_sets(decays, task)
    watch = Stopwatch()
    if task.classifier.method == "uboost":
        from .peers import uboost

        score = uboost(task, training, test, watch)
    else:
        from .boosters import scores

        score = scores(task, training, test, watch)
    return measures(score, test) | {"seconds": watch.seconds}
