"""xgboost.train and lightgbm.train with objective and metric: evaluation sets, weights, margins to begin with, and more."""

import warnings

import libmode
import libmode.lightgbm
import libmode.xgboost
import lightgbm
import numpy as np
import pytest
import xgboost
from boosted import DATA, LGB, METRICS, OBJECTIVES, SMALL, XGB, beyond_flat
from libmode.metrics import auc, dependence, sensitivity
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

from studies.simple_model.data import simple_model

VALID = simple_model(4_000, np.random.default_rng(9))
MIXED = np.random.default_rng(8).normal(1, 0.7, len(VALID))  # weights of both signs
EVENTS = 50_000
OF_X1 = auc(VALID.features[:, 0], VALID.label)


def expected(probability, strength, weight=None):
    """What the metrics are of VALID, by functions that are not theirs."""
    background = VALID.label == 0
    size = np.ones(len(VALID)) if weight is None else weight
    of_background = (probability[background], VALID.mass[background])
    found = dependence(*of_background, weight=size[background], order=1)
    loss = libmode.mode_loss(*of_background, weight=size[background], order=1)
    entropy = log_loss(VALID.label, probability.astype(float), sample_weight=weight)
    return {
        "logloss": entropy,
        "loss": entropy + strength * loss,
        "dependence": (found.value / found.expectation - 1) * EVENTS / found.events,
        "inverse_sensitivity": 1
        / sensitivity(probability, VALID.label, VALID.mass, weight=weight, order=1, events=EVENTS),
    }


NAMES = ("dependence", "logloss", "loss", "inverse_sensitivity")


@pytest.mark.parametrize("weight", [None, MIXED], ids=["without weights", "with weights"])
def test_xgboost_is_stopped_by_the_metric_of_the_evaluation_set(weight):
    train, valid = (DATA["xgboost"](events.features, events.label) for events in (SMALL, VALID))
    of_valid = VALID.mass if weight is None else (VALID.mass, weight)
    metric = libmode.xgboost.metric(
        [(train, SMALL.mass), (valid, of_valid)], of=NAMES, strength=30.0, events=EVENTS, order=1
    )
    history = {}
    booster = xgboost.train(
        XGB,
        train,
        120,
        obj=libmode.xgboost.objective(SMALL.mass),
        custom_metric=metric,
        evals=[(train, "train"), (valid, "valid")],
        early_stopping_rounds=25,
        evals_result=history,
        verbose_eval=False,
    )
    values = history["valid"]["inverse_sensitivity"]
    # XGBoost compares the values as it prints them, with five digits behind the point.
    assert values[booster.best_iteration] == pytest.approx(min(values), abs=1e-5)
    assert len(values) - 1 in (booster.best_iteration + 25, 119)
    for iteration in (0, booster.best_iteration):
        probability = booster.predict(valid, iteration_range=(0, iteration + 1))
        for name, value in expected(probability, 30.0, weight).items():
            assert history["valid"][name][iteration] == pytest.approx(value, rel=1e-4, abs=2e-5), name


@pytest.mark.parametrize("weight", [None, MIXED], ids=["without weights", "with weights"])
def test_lightgbm_is_stopped_by_the_metric_of_the_evaluation_set(weight):
    train = DATA["lightgbm"](SMALL.features, SMALL.label)
    valid = DATA["lightgbm"](VALID.features, VALID.label, reference=train)
    of_valid = VALID.mass if weight is None else (VALID.mass, weight)
    metric = libmode.lightgbm.metric({valid: of_valid}, of=NAMES[::-1], strength=30.0, events=EVENTS, order=1)
    history = {}
    booster = lightgbm.train(
        LGB | {"objective": libmode.lightgbm.objective(SMALL.mass)},
        train,
        120,
        valid_sets=[valid],
        valid_names=["valid"],
        feval=metric,
        callbacks=[
            lightgbm.early_stopping(25, first_metric_only=True, verbose=False),
            lightgbm.record_evaluation(history),
        ],
    )
    values = history["valid"]["inverse_sensitivity"]
    assert values[booster.best_iteration - 1] == min(values)
    final = libmode.lightgbm.finalize(booster)
    assert final.num_trees() == booster.best_iteration
    for name, value in expected(final.predict(VALID.features), 30.0, weight).items():
        assert history["valid"][name][booster.best_iteration - 1] == pytest.approx(value, rel=1e-6), name
    cut = libmode.lightgbm.finalize(booster, num_iteration=3)
    assert_allclose(cut.predict(VALID.features), final.predict(VALID.features, num_iteration=3))


def probabilities(booster, events=VALID):
    return booster.predict(xgboost.DMatrix(events.features))


def test_training_goes_on_where_it_was(tmp_path):
    data = DATA["xgboost"](SMALL.features, SMALL.label)
    objective = libmode.xgboost.objective(SMALL.mass)
    at_once = xgboost.train(XGB, data, 24, obj=libmode.xgboost.objective(SMALL.mass))
    half = xgboost.train(XGB, data, 12, obj=objective)
    whole = xgboost.train(XGB, data, 12, obj=objective, xgb_model=half)
    assert whole.num_boosted_rounds() == 24
    assert_allclose(probabilities(whole), probabilities(at_once), atol=2e-3)
    # In another process what was seen is gone, and it is seen again.
    half.save_model(tmp_path / "half.json")
    later = xgboost.train(
        XGB, data, 40, obj=libmode.xgboost.objective(SMALL.mass), xgb_model=str(tmp_path / "half.json")
    )
    assert beyond_flat(probabilities(later), 1, VALID) < beyond_flat(probabilities(half), 1, VALID)
    assert auc(probabilities(later), VALID.label) > OF_X1 - 0.02


def test_lightgbm_goes_on_from_a_final_model():
    data = lightgbm.Dataset(SMALL.features, SMALL.label, free_raw_data=False)
    half = libmode.lightgbm.finalize(
        lightgbm.train(LGB | {"objective": libmode.lightgbm.objective(SMALL.mass)}, data, 12)
    )
    began = []

    class Watched:
        objective = libmode.lightgbm.objective(SMALL.mass)

        def __call__(self, margin, data):
            began.append(margin.copy())
            return self.objective(margin, data)

    data = lightgbm.Dataset(SMALL.features, SMALL.label, free_raw_data=False)
    trained = lightgbm.train(LGB | {"objective": Watched()}, data, 30, init_model=half)
    assert_allclose(began[0], half.predict(SMALL.features, raw_score=True), rtol=1e-6, atol=1e-6)
    whole = libmode.lightgbm.finalize(trained)
    assert whole.num_trees() == 42
    margin = whole.predict(VALID.features, raw_score=True)
    assert_allclose(whole.predict(VALID.features), 1 / (1 + np.exp(-margin)), rtol=1e-12)
    assert beyond_flat(whole.predict(VALID.features), 1, VALID) < beyond_flat(half.predict(VALID.features), 1, VALID)
    assert auc(margin, VALID.label) > OF_X1 - 0.02


def test_margins_to_begin_with_count_and_a_second_training_begins_anew():
    start = 0.5 * SMALL.features[:, 0]
    data = DATA["xgboost"](SMALL.features, SMALL.label, base_margin=start)
    seen = []
    objective = libmode.xgboost.objective(SMALL.mass)

    def watched(margin, data):
        seen.append(margin.copy())
        return objective(margin, data)

    first, second = (xgboost.train(XGB, data, 12, obj=watched) for _ in range(2))
    assert_allclose(seen[0], start, rtol=1e-6)
    assert first.save_raw() == second.save_raw()


def test_another_data_set_begins_anew():
    starts = [0.5 * SMALL.features[:, 0], 0.4 * SMALL.features[:, 0]]
    used = libmode.xgboost.objective(SMALL.mass)
    models = []
    for start, objective in zip([*starts, starts[1]], [used, used, libmode.xgboost.objective(SMALL.mass)], strict=True):
        data = DATA["xgboost"](SMALL.features, SMALL.label, base_margin=start)
        models.append(xgboost.train(XGB, data, 12, obj=objective).save_raw())
    assert models[0] != models[1] == models[2]


@pytest.mark.parametrize("library", METRICS)
def test_small_weights_are_warned_of(library):
    """Native trainings may stop splitting: what is in units of the weights is theirs to choose."""
    for size, warned in ((1e-8, True), (0.9e-3, True), (1.1e-3, False)):
        for sign in (1, np.random.default_rng(6).choice([-1, 1], len(SMALL), p=[0.1, 0.9])):
            data = DATA[library](SMALL.features, SMALL.label)
            objective = OBJECTIVES[library](SMALL.mass, weight=size * sign * np.ones(len(SMALL)))
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                objective(np.zeros(len(SMALL)), data)
            said = [str(one.message) for one in seen]
            assert any(f"have a mean of {size:.3g}, and trees may stop splitting" in one for one in said) == warned
