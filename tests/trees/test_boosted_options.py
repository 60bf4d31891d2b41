"""An option that is given with its default is the option that is left out; and what bins there are by default."""

import inspect

import numpy as np
import pytest
from boosted import LIBRARIES, XGB
from defaults import DEFAULTS, of_signature
from libmode import BatchError, mode_loss

pytestmark = pytest.mark.filterwarnings("ignore:the push has not settled")  # in so few rounds
# More than 33 x 250 background events, where bins by default are more than those of the loss.
MANY = np.random.default_rng(1)
MASS = MANY.exponential(60, 20_000) + 50
LABEL = MANY.integers(0, 2, 20_000)
FEATURES = np.column_stack([MANY.normal(LABEL), MASS])
OWN = {"objective": ("loss_weight", "tolerance", "score_transform", "background_only", "weight", "label", "category")}
OWN["metric"] = ("of", "events", "background_only", "objective")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", [*DEFAULTS["mode"], *OWN["objective"]])
def test_of_objectives(library, name):
    """bins=None or joint=False once turned 128 bins into 32, and predictions moved by .08."""
    library = LIBRARIES[library]
    default = {**DEFAULTS["mode"], **of_signature(library.objective.func)}[name]
    margin, data = FEATURES[:, 0] - 0.01 * MASS, library.data(FEATURES, LABEL)
    found = [library.objective(MASS, **more)(margin, data) for more in ({}, {name: default})]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", [*DEFAULTS["mode"], *OWN["metric"]])
def test_of_metrics(library, name):
    library = LIBRARIES[library]
    default = {**DEFAULTS["mode"], **of_signature(library.metric.func)}[name]
    margin, data = FEATURES[:, 0] - 0.01 * MASS, library.data(FEATURES, LABEL)
    of = {} if name == "of" else {"of": ("logloss", "dependence", "inverse_sensitivity")}
    found = [library.metric({data: MASS}, **of, **more)(margin, data) for more in ({}, {name: default})]
    assert found[0] == found[1]


CLASSES = [(name, argument) for name in LIBRARIES for argument in of_signature(LIBRARIES[name].Classifier)]
CLASSES += [(name, argument) for name in LIBRARIES for argument in DEFAULTS["mode"]]


@pytest.mark.parametrize("library, name", CLASSES)
def test_of_classifiers(library, name):
    kind = LIBRARIES[library].Classifier
    default = {**DEFAULTS["mode"], **of_signature(kind)}[name]
    usual = {"order": 1, "n_estimators": 2, "n_jobs": 1, "random_state": 1}
    if name in usual:
        usual.pop(name)  # two rounds, or as many as there are by default
    if name == "order":
        return  # it has no default
    found = [
        kind(**usual, **more).fit(FEATURES, LABEL, mass=MASS).predict_proba(FEATURES) for more in ({}, {name: default})
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("library", LIBRARIES)
def test_of_fit(library):
    classifier = LIBRARIES[library].Classifier(order=1, n_estimators=2, n_jobs=1)
    found = [
        classifier.fit(FEATURES, LABEL, mass=MASS, **more).predict_proba(FEATURES)
        for more in ({}, of_signature(classifier.fit))
    ]
    np.testing.assert_array_equal(*found)
    assert set(of_signature(classifier.fit)) == set(inspect.signature(classifier.fit).parameters) - {"X", "y", "mass"}


def test_events_that_the_loss_takes_are_no_error_of_bins_by_default():
    """A few heavy events leave bins with less than one effective event, which the loss merges."""
    weight = np.where(np.arange(20_000) % 1_000 == 0, 1e6, 1.0)
    score = 1 / (1 + np.exp(-FEATURES[:, 0]))
    loss = mode_loss(0.3 * score / (1.3 - score), MASS, label=LABEL, weight=weight, order=1)
    objective = XGB.objective(MASS, weight=weight)
    objective(FEATURES[:, 0], XGB.data(FEATURES, LABEL))
    assert objective.loss == pytest.approx(loss)
    with pytest.raises(BatchError, match="bin"):
        XGB.objective(MASS, weight=weight, bins=40)(FEATURES[:, 0], XGB.data(FEATURES, LABEL))
