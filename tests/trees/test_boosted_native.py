"""xgboost.train and lightgbm.train with objective and metric: evaluation sets, weights, margins to begin with, and more."""

import libmode
import libmode.lightgbm
import numpy as np
import pytest
from boosted import SMALL, XGB, Watched, beyond_flat
from libmode.metrics import auc, check, dependence
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.metrics import log_loss

from studies.simple_model.data import simple_model

VALID = simple_model(4_000, np.random.default_rng(9))
MIXED = np.random.default_rng(8).normal(1, 0.7, len(VALID))  # weights of both signs
EVENTS = 50_000
NAMES = ("dependence", "logloss", "inverse_sensitivity")


def expected(probability, weight=None):
    """What the metrics are of VALID, by functions that are not theirs."""
    size = np.ones(len(VALID)) if weight is None else weight
    found = dependence(probability, VALID.label, VALID.mass, weight=size, order=1)
    entropy = log_loss(VALID.label, probability.astype(float), sample_weight=weight)
    seen = check(probability, VALID.label, VALID.mass, weight=weight, order=1).sensitivity
    rho = (found.value / found.expectation - 1) * EVENTS / found.events
    return dict(zip(NAMES, (rho, entropy, 1 / seen), strict=True))


@pytest.mark.parametrize("weight", [None, MIXED], ids=["without weights", "with weights"])
def test_a_training_is_stopped_by_the_metric_of_the_evaluation_set(library, weight):
    train, valid = (library.data(events.features, events.label) for events in (SMALL, VALID))
    if library is not XGB:
        valid = library.data(VALID.features, VALID.label, reference=train)
    masses = [(train, SMALL.mass), (valid, VALID.mass if weight is None else (VALID.mass, weight))]
    of = NAMES if library is XGB else NAMES[::-1]  # which they stop by is the last, or the first
    metric = library.metric(masses, of=of, events=EVENTS, order=1)
    booster, history, best = library.judged(train, 120, library.objective(SMALL.mass), valid, metric, 25)
    values = history["inverse_sensitivity"]
    # XGBoost compares the values as it prints them, with five digits behind the point.
    assert values[best] == pytest.approx(min(values), abs=1e-5)
    assert len(values) - 1 in (best + 25, 119)
    for name, value in expected(library.predict(booster, VALID.features), weight).items():
        assert history[name][best] == pytest.approx(value, rel=1e-4, abs=2e-5), name
    if library is not XGB:
        final, cut = libmode.lightgbm.finalize(booster, 0.0), libmode.lightgbm.finalize(booster, 0.0, num_iteration=3)
        assert final.num_trees() == best + 1
        assert_allclose(cut.predict(VALID.features), final.predict(VALID.features, num_iteration=3))


def values(metric, data):
    """By name, where the first feature is the margin."""
    return {name: value for name, value, *_ in metric(VALID.features[:, 0], data)}


def test_a_metric_takes_the_weights_that_the_data_set_has_now(library):
    data = library.data(VALID.features, VALID.label)
    metric = library.metric({data: (VALID.mass, None)}, of=NAMES, events=EVENTS)
    for weight in (abs(MIXED), 1 / (0.1 + abs(MIXED))):
        data.set_weight(weight)
        want = expected(expit(VALID.features[:, 0]), weight.astype(np.float32))
        assert values(metric, data) == pytest.approx(want, rel=1e-4)


def test_the_sensitivity_is_for_signal_also_where_all_events_take_part(library):
    """It was 1 for all margins, and early stopping took the first round."""
    data, want = library.data(VALID.features, VALID.label), expected(expit(VALID.features[:, 0]))
    metric = library.metric({data: VALID.mass}, background_only=False)
    assert values(metric, data) == pytest.approx({NAMES[-1]: want[NAMES[-1]]}, rel=1e-4)


def test_a_callback_judges_the_trees_by_other_events(library):
    """The check is that of the scores of the final trees."""
    mode, train = library.objective(SMALL.mass), library.data(SMALL.features, SMALL.label)
    features = library.data(VALID.features) if library is XGB else VALID.features
    judge = mode.judge(features, VALID.label, VALID.mass, weight=abs(MIXED), background_efficiency=0.1)
    with pytest.warns(libmode.TrainingWarning) as said:
        booster = library.train(train, 10, mode, callbacks=[judge])
        final = booster if library is XGB else libmode.lightgbm.finalize(booster, 0.0)
    probability = library.predict(final, VALID.features) if library is XGB else final.predict(VALID.features)
    own = check(probability, VALID.label, VALID.mass, weight=abs(MIXED), order=1, background_efficiency=0.1)
    assert own.flat is mode.check_.flat is False
    assert mode.check_.p_value == pytest.approx(own.p_value, rel=1e-3)
    assert own.why in str(said[0].message)
    assert "know their training events by heart" in str(said[0].message)


def test_early_stopping_by_another_metric_is_said(library):
    """The logloss stops while the push still grows."""
    mode, train = library.objective(SMALL.mass), library.data(SMALL.features, SMALL.label)
    valid = library.data(VALID.features, VALID.label, **({} if library is XGB else {"reference": train}))
    features = valid if library is XGB else VALID.features
    metric = library.metric({valid: VALID.mass}, of="logloss", order=1)
    with pytest.warns(libmode.TrainingWarning, match="early stopping took round .*, and the push has not settled"):
        booster, _, best = library.judged(
            train, 60, mode, valid, metric, 1, callbacks=[mode.judge(features, VALID.label, VALID.mass)]
        )
        if library is not XGB:
            libmode.lightgbm.finalize(booster, 0.0)
    assert best < 59


def test_a_training_goes_on_from_a_saved_model(library, tmp_path):
    """In another process what was seen is gone, and it is seen again."""
    half = library.train(library.data(SMALL.features, SMALL.label), 12, library.objective(SMALL.mass))
    file = str(tmp_path / library.files[0])
    (half if library is XGB else libmode.lightgbm.finalize(half, 0.0)).save_model(file)
    objective = Watched(library.objective(SMALL.mass))
    whole = library.train_on(library.data(SMALL.features, SMALL.label), 40, objective, file)
    before, after = (library.predict(booster, VALID.features) for booster in (half, whole))
    assert_allclose(1 / (1 + np.exp(-objective.margins[0])), library.predict(half, SMALL.features), rtol=1e-5)
    assert beyond_flat(after, 1, VALID) < beyond_flat(before, 1, VALID)
    assert auc(after, VALID.label) > auc(VALID.features[:, 0], VALID.label) - 0.02


def test_margins_to_begin_with_count_and_another_data_set_begins_anew():
    starts = [0.5 * SMALL.features[:, 0], 0.4 * SMALL.features[:, 0]]
    first, other = (XGB.data(SMALL.features, SMALL.label, start=start) for start in starts)
    used = Watched(XGB.objective(SMALL.mass))
    XGB.train(first, 12, used)
    assert_allclose(used.margins[0], starts[0], rtol=1e-6)
    again, anew = (XGB.train(other, 12, objective).save_raw() for objective in (used, XGB.objective(SMALL.mass)))
    assert again == anew


def test_a_data_set_may_have_the_address_of_one_that_is_gone(library):
    """It was taken for a part of a cross-validation."""
    mode = library.objective(SMALL.mass)
    for scale in (0.5, 0.4, 0.3, 0.2):
        library.train(library.data(SMALL.features, SMALL.label, start=scale * SMALL.features[:, 0]), 2, mode)
        assert mode.rounds == 2
