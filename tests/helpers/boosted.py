"""Events for boosted trees, and what both libraries do, each by its own names: lent to tests/trees."""

import libmode.lightgbm
import libmode.xgboost
import lightgbm
import numpy as np
import pytest
import xgboost
from libmode import mode_evaluate

from studies.simple_model.data import simple_model

#: Of trainings of few rounds, and with the training as evaluation set.
IN_FEW_ROUNDS = [
    pytest.mark.filterwarnings(f"ignore:{said}:libmode.TrainingWarning") for said in ("the push has not", "eval_set")
]
TRAIN = simple_model(20_000, np.random.default_rng(1))
TEST = simple_model(100_000, np.random.default_rng(2))
SMALL = simple_model(2_000, np.random.default_rng(3))


class XGB:
    """XGBoost; one leaf has some dozens of events, as the classifiers have it."""

    Classifier, Estimator = libmode.xgboost.MoDeXGBClassifier, xgboost.XGBClassifier
    stop, dart = xgboost.callback.EarlyStopping(rounds=5, save_best=True), {"booster": "dart"}
    PARAMETERS = {"objective": "binary:logistic", "base_score": 0.5, "eta": 0.3, "max_depth": 4, "min_child_weight": 40}
    PARAMETERS |= {"lambda": 20, "nthread": 1, "disable_default_eval_metric": True}
    files = ("model.json", "model.ubj")


class LGB:
    """LightGBM."""

    Classifier, Estimator = libmode.lightgbm.MoDeLGBMClassifier, lightgbm.LGBMClassifier
    stop, dart = lightgbm.early_stopping(5, verbose=False), {"boosting_type": "dart"}
    files = ("model.txt",)


LIBRARIES = {"xgboost": XGB, "lightgbm": LGB}


def data(features, label=None, start=None, **more):
    """A DMatrix."""
    return xgboost.DMatrix(features, label, base_margin=start, **more)


def train(data, rounds, objective=None, **parameters):
    """A booster of XGBoost, by its own objective where there is none."""
    return xgboost.train(XGB.PARAMETERS | parameters, data, rounds, obj=objective)


class Watched:
    """An objective whose margins and losses are kept."""

    def __init__(self, objective):
        self.objective, self.margins = objective, []

    def __call__(self, margin, data):
        self.margins.append(np.array(margin, float))
        return self.objective(margin, data)


def probabilities(rounds, objective=None, **parameters):
    """Of ``TEST``, by an objective, or by XGBoost's own where there is none."""
    booster = train(data(TRAIN.features, TRAIN.label), rounds, objective, **parameters)
    return booster.predict(data(TEST.features))


def beyond_flat(probability, order, events=TEST):
    """By how many times the noise of 50,000 events the response is not a polynomial in mass: 0 in the mean for one."""
    found = mode_evaluate(probability, events.mass, label=events.label, order=order)
    return found.loss / found.bias
