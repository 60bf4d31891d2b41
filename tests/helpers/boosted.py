"""Events for boosted trees, and what both libraries do, each by its own names: lent to tests/trees."""

from functools import partial

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


class XGB:
    """XGBoost; one leaf has some dozens of events, as the classifiers have it."""

    objective, metric = (partial(each, order=1) for each in (libmode.xgboost.objective, libmode.xgboost.metric))
    Classifier, Estimator = libmode.xgboost.MoDeXGBClassifier, xgboost.XGBClassifier
    stop, dart = xgboost.callback.EarlyStopping(rounds=5, save_best=True), {"booster": "dart"}
    PARAMETERS = {"objective": "binary:logistic", "base_score": 0.5, "eta": 0.3, "max_depth": 4, "min_child_weight": 40}
    PARAMETERS |= {"lambda": 20, "nthread": 1, "disable_default_eval_metric": True}
    files = ("model.json", "model.ubj")

    @staticmethod
    def data(features, label=None, start=None, **more):
        return xgboost.DMatrix(features, label, base_margin=start, **more)

    @classmethod
    def train(cls, data, rounds, objective=None, callbacks=(), **parameters):
        """A booster, by XGBoost's own objective where there is none."""
        return xgboost.train(cls.PARAMETERS | parameters, data, rounds, obj=objective, callbacks=list(callbacks))

    @classmethod
    def train_on(cls, data, rounds, objective, model):
        """From a model, or its file."""
        return xgboost.train(cls.PARAMETERS, data, rounds, obj=objective, xgb_model=model)

    @classmethod
    def judged(cls, data, rounds, objective, valid, metric, patience, callbacks=()):
        """A booster, the values of a metric by name, and the best round, by the last of its values."""
        given = {"evals": [(valid, "valid")], "early_stopping_rounds": patience, "evals_result": (found := {})}
        given |= {"obj": objective, "custom_metric": metric, "verbose_eval": False, "callbacks": list(callbacks)}
        booster = xgboost.train(cls.PARAMETERS, data, rounds, **given)
        return booster[: booster.best_iteration + 1], found["valid"], booster.best_iteration

    @staticmethod
    def predict(booster, features):
        """Probabilities."""
        return booster.predict(xgboost.DMatrix(features))


class LGB:
    """LightGBM, with parameters by XGBoost's names."""

    objective, metric = (partial(each, order=1) for each in (libmode.lightgbm.objective, libmode.lightgbm.metric))
    Classifier, Estimator = libmode.lightgbm.MoDeLGBMClassifier, lightgbm.LGBMClassifier
    stop, dart = lightgbm.early_stopping(5, verbose=False), {"boosting_type": "dart"}
    PARAMETERS = {"metric": "none", "learning_rate": 0.3, "max_depth": 4, "num_leaves": 15, "verbosity": -1}
    PARAMETERS |= {"lambda_l2": 20, "num_threads": 1, "min_sum_hessian_in_leaf": 40, "bagging_freq": 1}
    NAMES = {"eta": "learning_rate", "subsample": "bagging_fraction"}
    files = ("model.txt",)

    @staticmethod
    def data(features, label, start=None, **more):
        given = {"init_score": start, "free_raw_data": False, "params": {"verbosity": -1}} | more
        return lightgbm.Dataset(features, label, **given).construct()

    @classmethod
    def train(cls, data, rounds, objective=None, callbacks=(), **parameters):
        """A booster, by LightGBM's own objective where there is none."""
        own = {cls.NAMES.get(name, name): value for name, value in parameters.items()}
        own = cls.PARAMETERS | {"objective": objective or "binary"} | own
        return lightgbm.train(own, data, rounds, callbacks=list(callbacks))

    @classmethod
    def train_on(cls, data, rounds, objective, model):
        """From a model, or its file."""
        trained = lightgbm.train(cls.PARAMETERS | {"objective": objective}, data, rounds, init_model=model)
        return libmode.lightgbm.finalize(trained, 0.0)

    @classmethod
    def judged(cls, data, rounds, objective, valid, metric, patience, callbacks=()):
        """A booster, the values of a metric by name, and the best round, by the first of its values."""
        stop = lightgbm.early_stopping(patience, first_metric_only=True, verbose=False)
        given = {"valid_sets": [valid], "valid_names": ["valid"], "feval": metric}
        given["callbacks"] = [stop, lightgbm.record_evaluation(found := {}), *callbacks]
        booster = lightgbm.train(cls.PARAMETERS | {"objective": objective}, data, rounds, **given)
        return booster, found["valid"], booster.best_iteration - 1

    @staticmethod
    def predict(booster, features):
        """Probabilities."""
        is_final = "\nobjective=" in booster.model_to_string()
        return (booster if is_final else libmode.lightgbm.finalize(booster, 0.0)).predict(features)


LIBRARIES = {"xgboost": XGB, "lightgbm": LGB}


class Watched:
    """An objective whose margins and losses are kept."""

    def __init__(self, objective):
        self.objective, self.margins, self.losses = objective, [], []

    def __call__(self, margin, data):
        self.margins.append(np.array(margin, float))
        found = self.objective(margin, data)
        self.losses.append(self.objective.loss)
        return found

    def __deepcopy__(self, memo):
        return self  # LightGBM copies its parameters


def probabilities(library, rounds, objective=None, train=TRAIN, **parameters):
    """Of ``TEST``, by an objective, or by the library's own where there is none."""
    booster = library.train(library.data(train.features, train.label), rounds, objective, **parameters)
    return library.predict(booster, TEST.features)


def beyond_flat(probability, order, events=TEST):
    """By how many times the noise of 50,000 events the response is not a polynomial in mass: 0 in the mean for one."""
    found = dependence(probability, events.label, events.mass, order=order)
    return found.value / found.expectation - 1
