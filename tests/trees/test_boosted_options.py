"""Options of the loss in trees: their defaults, and bins by default."""

import numpy as np
import pytest
from boosted import data
from defaults import DEFAULTS, of_signature
from libmode import BatchError, mode_loss
from libmode.xgboost import objective

pytestmark = pytest.mark.filterwarnings("ignore:the push has not settled")  # in so few rounds
# More than 33 x 250 background events, where bins by default are more than those of the loss.
MANY = np.random.default_rng(1)
MASS = MANY.exponential(60, 20_000) + 50
LABEL = MANY.integers(0, 2, 20_000)
FEATURES = np.column_stack([MANY.normal(LABEL), MASS])
DATA = data(FEATURES, LABEL)


def test_defaults_that_are_given_are_defaults_left_out(library):
    """bins=None or joint=False once turned 128 bins into 32, and predictions moved by .08."""
    own = {"order": 1, "n_estimators": 2, "n_jobs": 1, "random_state": 1}
    found = [
        library.Classifier(**more | own).fit(FEATURES, LABEL, mass=MASS).predict_proba(FEATURES)
        for more in ({}, DEFAULTS["mode"] | of_signature(library.Classifier))
    ]
    np.testing.assert_array_equal(*found)


def test_events_that_the_loss_takes_are_no_error_of_bins_by_default():
    """A few heavy events leave bins with less than one effective event, which the loss merges."""
    weight = np.where(np.arange(20_000) % 1_000 == 0, 1e6, 1.0)
    score = 1 / (1 + np.exp(-FEATURES[:, 0]))
    loss = mode_loss(0.3 * score / (1.3 - score), MASS, label=LABEL, weight=weight, order=1)
    mode = objective(MASS, weight=weight, order=1)
    mode(FEATURES[:, 0], DATA)
    assert mode.loss == pytest.approx(loss)
    with pytest.raises(BatchError, match="bin"):
        objective(MASS, weight=weight, bins=40, order=1)(FEATURES[:, 0], DATA)
