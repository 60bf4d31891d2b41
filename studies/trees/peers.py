"""hep_ml's boosting to uniformity, A. Rogozhnikov et al., arXiv:1410.4140, and uBoost, arXiv:1305.7248."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pandas
from hep_ml.gradientboosting import UGradientBoostingClassifier
from hep_ml.losses import BinFlatnessLossFunction
from hep_ml.uboost import uBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from ..dalitz.boosting import PLANE, frame
from ..dalitz.events import FEATURES, Events
from ..w_tagging.sample import Sample
from .task import Stopwatch, Task

BINS = 32  # of mass, as MoDe has; hep_ml takes them twice, half a bin apart
EFFICIENCIES = 10  # of uBoost, which has a classifier for each
UBOOST_TREES = 40  # of each of these, hep_ml's default


def flat_in_mass(task: Task, training: Sample, test: Sample, watch: Stopwatch) -> np.ndarray:
    """The scores (n,) of the test jets from uGB+FL, which is flat for QCD jets in bins of equal numbers of jets.

    Trees, rate and subsample are as in the Dalitz study.
    """
    strength = task.classifier.strength
    loss = BinFlatnessLossFunction(["rank"], uniform_label=0, n_bins=BINS, fl_coefficient=strength)
    trees = UGradientBoostingClassifier(
        loss, n_estimators=task.size.trees, learning_rate=min(0.1, 1 / strength), max_depth=4, subsample=0.7,
        train_features=list(training.names), random_state=task.seed,
    )  # fmt: skip
    sorted_mass = np.sort(training.mass[training.label == 0])
    events = pandas.DataFrame(training.features, columns=list(training.names))
    # hep_ml's bins are of equal width: of the share of background jets that are lighter
    events["rank"] = np.searchsorted(sorted_mass, training.mass) / len(sorted_mass)
    fresh = pandas.DataFrame(test.features, columns=list(test.names)).assign(rank=0.0)
    with warnings.catch_warnings():  # hep_ml gives scikit-learn columns now with names, now without
        warnings.filterwarnings("ignore", "X has feature names", UserWarning)
        with watch.running():
            trees.fit(events, training.label.astype(int))
    return np.asarray(trees.decision_function(fresh))


def uboost(task: Task, training: Events, test: Events, watch: Stopwatch) -> np.ndarray:
    """The scores (n,) of the test events from uBoost, flat for signal in the Dalitz plane."""
    trees = uBoostClassifier(
        PLANE, 1, list(FEATURES), efficiency_steps=EFFICIENCIES, n_estimators=min(UBOOST_TREES, task.size.trees),
        base_estimator=DecisionTreeClassifier(max_depth=4), random_state=task.seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X has feature names", UserWarning)
        warnings.filterwarnings("ignore", "unclosed running multiprocessing pool", ResourceWarning)
        with watch.running():
            trees.fit(frame(training), training.label.astype(int))
        gc.collect()  # the pool of threads that hep_ml leaves open
    return np.asarray(trees.predict_proba(frame(test))[:, 1])
