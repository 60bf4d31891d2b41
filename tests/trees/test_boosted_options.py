"""An option that is given with its default is the option that is left out; and what bins there are by default."""

import numpy as np
import pytest
from boosted import LIBRARIES, XGB, data
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


def by_objective(library, **options):
    return objective(MASS, **options)(FEATURES[:, 0] - 0.01 * MASS, DATA)


def by_classifier(library, **options):
    fit = {name: options.pop(name) for name in OF_FIT.keys() & options}
    return library.Classifier(**options).fit(FEATURES, LABEL, mass=MASS, **fit).predict_proba(FEATURES)


OF_FIT = of_signature(XGB.Classifier.fit)
#: What is given besides, and the defaults.
CALLS = {
    by_objective: ({"order": 1}, of_signature(objective)),
    by_classifier: (
        {"order": 1, "n_estimators": 2, "n_jobs": 1, "random_state": 1}, of_signature(XGB.Classifier) | OF_FIT
    ),
}  # fmt: skip
EACH = [
    (call, name, library)
    for call, (_, own) in CALLS.items()
    for name in {**own, **DEFAULTS["mode"]}
    for library in (LIBRARIES.values() if call is by_classifier else [XGB])
    if name != "order"
]


@pytest.mark.parametrize("call, name, library", EACH, ids=lambda one: one if isinstance(one, str) else one.__name__)
def test_a_default_that_is_given_is_a_default_left_out(call, name, library):
    """bins=None or joint=False once turned 128 bins into 32, and predictions moved by .08."""
    usual, defaults = CALLS[call]
    others = {one: value for one, value in usual.items() if one != name}
    default = {name: {**DEFAULTS["mode"], **defaults}[name]}
    np.testing.assert_array_equal(call(library, **others), call(library, **others, **default))


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
