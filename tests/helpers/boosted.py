"""Events for boosted trees, and what both libraries do alike: lent to tests/trees."""

import libmode.lightgbm
import libmode.xgboost
import lightgbm
import numpy as np
import xgboost
from libmode.metrics import dependence

from studies.simple_model.data import simple_model

TRAIN = simple_model(20_000, np.random.default_rng(1))
TEST = simple_model(100_000, np.random.default_rng(2))
SMALL = simple_model(2_000, np.random.default_rng(3))

# One leaf has some dozens of events, as the classifiers have it.
XGB = {"objective": "binary:logistic", "base_score": 0.5, "eta": 0.3, "max_depth": 4, "min_child_weight": 40}
XGB |= {"lambda": 20, "nthread": 1, "disable_default_eval_metric": True}
LGB = {"metric": "none", "learning_rate": 0.3, "max_depth": 4, "num_leaves": 15, "min_sum_hessian_in_leaf": 40}
LGB |= {"lambda_l2": 20, "num_threads": 1, "verbosity": -1}


def probabilities_of_xgboost(obj, rounds, parameters=(), train=TRAIN, weight=None):
    """Of ``TEST``, by an objective, or by XGBoost's own where it is None."""
    data = xgboost.DMatrix(train.features, train.label, weight=weight)
    booster = xgboost.train(XGB | dict(parameters), data, rounds, obj=obj)
    return booster.predict(xgboost.DMatrix(TEST.features))


def probabilities_of_lightgbm(obj, rounds, parameters=(), train=TRAIN, weight=None):
    """Of ``TEST``, by an objective, or by LightGBM's own where it is None."""
    # The prior is 0.5, so that init_score is 0.
    data = lightgbm.Dataset(train.features, train.label, weight=weight)
    booster = lightgbm.train(LGB | {"objective": obj or "binary"} | translated(parameters), data, rounds)
    return (booster if obj is None else libmode.lightgbm.finalize(booster)).predict(TEST.features)


def translated(parameters):
    """Parameters of XGBoost by LightGBM's names."""
    names = {"eta": "learning_rate", "subsample": "bagging_fraction", "seed": "seed"}
    found = {names[name]: value for name, value in dict(parameters).items()}
    return found | ({"bagging_freq": 1} if "bagging_fraction" in found else {})


PROBABILITIES = {"xgboost": probabilities_of_xgboost, "lightgbm": probabilities_of_lightgbm}
OBJECTIVES = {"xgboost": libmode.xgboost.objective, "lightgbm": libmode.lightgbm.objective}
METRICS = {"xgboost": libmode.xgboost.metric, "lightgbm": libmode.lightgbm.metric}
CLASSIFIERS = {"xgboost": libmode.xgboost.MoDeXGBClassifier, "lightgbm": libmode.lightgbm.MoDeLGBMClassifier}
DATA = {
    "xgboost": lambda features, label, **more: xgboost.DMatrix(features, label, **more),
    "lightgbm": lambda features, label, **more: lightgbm.Dataset(
        features, label, free_raw_data=False, params={"verbosity": -1}, **more
    ).construct(),
}


def beyond_flat(probability, order, events=TEST):
    """By how many times the noise of 50,000 events the response is not a polynomial in mass: 0 in the mean for one."""
    background = events.label == 0
    found = dependence(probability[background], events.mass[background], order=order)
    return found.value / found.expectation - 1
