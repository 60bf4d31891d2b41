"""xgboost.train with the objective: margins to begin with, saved models, and data sets of earlier trainings."""

import numpy as np
import xgboost
from boosted import SMALL, XGB, Watched, beyond_flat, data, train
from libmode.metrics import auc
from libmode.xgboost import objective
from numpy.testing import assert_allclose

from studies.simple_model.data import simple_model

VALID = simple_model(4_000, np.random.default_rng(9))


def test_a_training_goes_on_from_a_saved_model(tmp_path):
    """In another process what was seen is gone, and it is seen again."""
    half = train(data(SMALL.features, SMALL.label), 12, objective(SMALL.mass, order=1))
    half.save_model(tmp_path / "model.json")
    watched, training = Watched(objective(SMALL.mass, order=1)), data(SMALL.features, SMALL.label)
    whole = xgboost.train(XGB.PARAMETERS, training, 40, obj=watched, xgb_model=tmp_path / "model.json")
    before, after = (booster.predict(data(VALID.features)) for booster in (half, whole))
    assert_allclose(1 / (1 + np.exp(-watched.margins[0])), half.predict(data(SMALL.features)), rtol=1e-5)
    assert beyond_flat(after, 1, VALID) < beyond_flat(before, 1, VALID)
    assert auc(after, VALID.label) > auc(VALID.features[:, 0], VALID.label) - 0.02


def test_margins_to_begin_with_count_and_another_data_set_begins_anew():
    starts = [0.5 * SMALL.features[:, 0], 0.4 * SMALL.features[:, 0]]
    first, other = (data(SMALL.features, SMALL.label, start=start) for start in starts)
    used = Watched(objective(SMALL.mass, order=1))
    train(first, 12, used)
    assert_allclose(used.margins[0], starts[0], rtol=1e-6)
    again, anew = (train(other, 12, one).save_raw() for one in (used, objective(SMALL.mass, order=1)))
    assert again == anew


def test_a_data_set_may_have_the_address_of_one_that_is_gone():
    """It was taken for a part of a cross-validation."""
    mode = objective(SMALL.mass, order=1)
    for scale in (0.5, 0.4, 0.3, 0.2):
        train(data(SMALL.features, SMALL.label, start=scale * SMALL.features[:, 0]), 2, mode)
        assert mode.rounds == 2
