"""The simple model with MoDe of orders 0 to 2, and trees without MoDe."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..methods import Classifier
from ..simple_model.data import simple_model
from ..simple_model.measure import EFFICIENCIES, select
from .task import Stopwatch, Task, two_sets

ORDERS = (0, 1, 2)
AGNOSTIC = Classifier("XGBoost of x1 alone", "xgboost")
PLAIN = (
    Classifier("XGBoost", "xgboost"),
    AGNOSTIC,
    Classifier("XGBoost, planing", "planing"),
    *(Classifier("XGBoost, DisCo", "disco", strength) for strength in (30, 100)),
)
CLASSIFIERS = [
    *PLAIN,
    *(
        Classifier(f"MoDe[{order}], {library}", library, options={"order": order})
        for order in ORDERS
        for library in ("XGBoost", "LightGBM")
    ),
]


def measured(task: Task) -> dict[str, Any]:
    """AUC, CPU seconds of training, and residuals over expected by the order of the polynomial.

    MoDe is measured by its own order, plain XGBoost by each order, and all others by order 0. Residuals are at 80, 50
    and 20 %, NaN if all events pass.
    """
    from libmode import metrics

    from .boosters import scores

    training, test = two_sets(simple_model, task)
    watch, classifier = Stopwatch(), task.classifier
    score = scores(task, training, test, watch, [0] if classifier.name == AGNOSTIC.name else slice(None))
    orders = ORDERS if classifier.method == "xgboost" else (classifier.order,)
    return {
        "auc": metrics.auc(score, test.label),
        "residual": {str(order): [_residual(score, test, e, order) for e in EFFICIENCIES] for order in orders},
        "seconds": watch.seconds,
    }


def _residual(score: np.ndarray, test: Any, efficiency: float, order: int) -> float:
    found = select(score, test, efficiency, order)
    return found.residual / found.expected if found.expected > 0 else np.nan
