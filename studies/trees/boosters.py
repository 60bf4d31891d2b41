"""XGBoost and LightGBM with libmode's classifiers, and XGBoost alone, planed, or with DisCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from libmode import mode_loss_and_grad
from libmode.lightgbm import MoDeLGBMClassifier
from libmode.xgboost import MoDeXGBClassifier

from ..baselines import planing
from ..methods import Classifier
from .task import Stopwatch, Task

MODE = {"XGBoost": MoDeXGBClassifier, "LightGBM": MoDeLGBMClassifier}
DISCO_RATE = 0.1  # at 0.3 it was less flat at the same AUC, 0.857, of the simple model


def scores(task: Task, training: Any, test: Any, watch: Stopwatch, seen: Any = slice(None)) -> np.ndarray:
    """Trains, takes the time, and returns the scores (n,) of the test events.

    All use the default trees of libmode's classifiers, and one thread.

    training, test : with ``features`` (n, f), ``mass`` (n,) or (n, d) and ``label`` (n,), 1 for signal
    seen : columns of the features
    """
    classifier = task.classifier
    x, fresh = training.features[:, seen], test.features[:, seen]
    if classifier.method in MODE:
        options = {"n_estimators": task.size.rounds, "n_jobs": 1, **classifier.options}
        trees = MODE[classifier.method](**options)
        with watch.running():
            trees.fit(x, training.label, mass=training.mass)
        return np.asarray(trees.predict_proba(fresh)[:, 1])
    with watch.running():
        booster = _others(classifier, x, training, task.size.rounds)
    return np.asarray(booster.predict(xgboost.DMatrix(fresh)))


def _others(classifier: Classifier, features: np.ndarray, training: Any, rounds: int) -> xgboost.Booster:
    defaults, count = MoDeXGBClassifier(order=1), len(features)
    weight = None
    if classifier.method == "planing":
        weight = planing(training.mass, training.label)
    disco = classifier.method == "disco"
    settings = {
        "objective": "binary:logistic",
        "base_score": float(training.label.mean()),
        "learning_rate": DISCO_RATE if disco else defaults.learning_rate,
        "max_depth": 4,
        "min_child_weight": 0.002 * count,
        "reg_lambda": 0.001 * count,
        "nthread": 1,
    }
    objective = DisCo(training.label, training.mass, classifier.strength) if disco else None
    return xgboost.train(settings, xgboost.DMatrix(features, training.label, weight=weight), rounds, obj=objective)


class DisCo:
    """Cross entropy + strength * DisCo of all background, unbiased, as a sum over events.

    DisCo's gradient is exact; its curvature has no bound as simple as MoDe's. With the cross entropy's Hessian
    alone the training on the simple model came to a stop in its first half, at a strength of 100 with an AUC
    of 0.67. To that of background events the size of DisCo's gradient is added, so that by it no leaf moves
    margins by more than the learning rate.
    """

    def __init__(self, label: np.ndarray, mass: np.ndarray, strength: float) -> None:
        self.label, self.background = label, np.flatnonzero(label == 0)
        self.mass, self.scale = mass[self.background], strength * len(label)

    def __call__(self, margin: np.ndarray, _: xgboost.DMatrix) -> tuple[np.ndarray, np.ndarray]:
        score = 0.5 + 0.5 * np.tanh(0.5 * margin.astype(float))
        slope = score * (1 - score)
        grad, hess = score - self.label, slope.copy()
        at = self.background
        if np.ptp(score[at]) > 0:  # not before the first round
            by_score = mode_loss_and_grad(score[at], self.mass, loss="disco", unbiased=True)[1]
            added = self.scale * by_score * slope[at]
            grad[at] += added
            hess[at] += np.abs(added)
        return grad, hess
