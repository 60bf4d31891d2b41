"""The classifiers as estimators of scikit-learn."""

import json
import re

import numpy as np
import pytest
import sklearn
from boosted import IN_FEW_ROUNDS, LGB, SMALL, XGB
from libmode.metrics import auc
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from studies.simple_model.data import simple_model

pytestmark = IN_FEW_ROUNDS
VALID = simple_model(2_000, np.random.default_rng(21))
FEW = {"order": 1, "n_estimators": 12, "n_jobs": 1}
EVALUATED = {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [VALID.mass]}


@pytest.fixture
def kind(library):
    return library.Classifier


def fitted(kind, of=slice(None), mass=SMALL.mass, weight=None, category=None, evaluated=(), **parameters):
    """A classifier of a few rounds, of some of the events."""
    given = {"mass": mass[of], "sample_weight": weight, "category": category} | dict(evaluated)
    return kind(**FEW | parameters).fit(SMALL.features[of], SMALL.label[of], **given)


def probability(classifier, events=VALID):
    return classifier.predict_proba(events.features)[:, 1]


def test_all_events_take_part_where_they_are_asked_to(kind):
    """All of them are background of the check, and the logloss stops the training."""
    classifier = fitted(kind, order=0, background_only=False, evaluated=EVALUATED)
    assert classifier.check_.events == len(VALID.label)
    assert list(classifier.evals_result_["validation_0"]) == ["logloss"]


@pytest.mark.parametrize("names", [(1, 2), (2, 1), ("QCD", "Higgs"), ("b", "s"), (False, True), (True, False)], ids=str)
def test_background_label_is_a_class_of_y(kind, names):
    """The alphabet once made Higgs the background: the residual was .95, not .21."""

    def trained(background, signal, **parameters):
        y, valid = (np.where(events.label == 1, signal, background) for events in (SMALL, VALID))
        given = {"eval_set": [(VALID.features, valid)], "eval_mass": [VALID.mass]}
        classifier = kind(**FEW, **parameters).fit(SMALL.features, y, mass=SMALL.mass, **given)
        place = classifier.classes_.tolist().index(signal)
        margin = classifier.decision_function(VALID.features) * (1 if place == 1 else -1)
        assert np.mean(classifier.predict(VALID.features) == valid) > 0.7
        return classifier.predict_proba(VALID.features)[:, place], margin, classifier.evals_result_

    (found, margin, judged), (want, wanted, judgment) = trained(*names, background_label=names[0]), trained(0, 1)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(margin, wanted)
    assert judged == judgment


@pytest.mark.parametrize("own", [{}, {"min_child_weight": 10.0, "reg_lambda": 5.0}], ids=str)
def test_a_factor_of_all_weights_changes_nothing(kind, own):
    """XGBoost makes no split that gains less than 1e-6: weights of 1e-12 once gave 0.5 everywhere, without a word."""
    weight = np.random.default_rng(8).normal(1, 0.6, len(SMALL))
    want = probability(fitted(kind, weight=weight, **own))
    assert auc(want, VALID.label) > 0.88
    for factor in (1e-30, 1e-8, 1e7):
        np.testing.assert_allclose(probability(fitted(kind, weight=factor * weight, **own)), want, rtol=1e-4)
    # Events of weight 0 are no reason for other leaves.
    without = probability(fitted(kind, slice(0, 1_500), **own))
    zeros = probability(fitted(kind, weight=np.where(np.arange(len(SMALL)) < 1_500, 1e-8, 0), **own))
    assert auc(zeros, VALID.label) == pytest.approx(auc(without, VALID.label), abs=0.02)


def test_a_leaf_has_sixty_effective_events(kind):
    """Weights over two decades once left leaves of a dozen, and trees that knew the heavy events by heart."""
    events = simple_model(20_000, np.random.default_rng(22))
    weight = np.where(np.arange(20_000) < 10_000, 1.0, 1e-9)  # the mean is a half: an event weighs two
    fitted = kind(**FEW, validation_fraction=None).fit(
        events.features, events.label, mass=events.mass, sample_weight=weight
    )
    if kind is XGB.Classifier:
        learner = json.loads(fitted.booster_.save_config())["learner"]["gradient_booster"]
        least = learner["tree_train_param"]["min_child_weight"]
    else:
        least = re.search(r"min_sum_hessian_in_leaf: (.*)]", fitted.booster_.model_to_string())[1]
    assert float(least) == pytest.approx(60 * 2, rel=0.03)


def test_grid_search_in_a_pipeline_routes_masses_and_weights(kind):
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(SMALL))
    with sklearn.config_context(enable_metadata_routing=True):
        classifier = kind(**FEW).set_fit_request(mass=True, sample_weight=True)
        steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), classifier)
        scorer = get_scorer("roc_auc").set_score_request(sample_weight=False)
        name = f"{kind.__name__.lower()}__order"
        found = GridSearchCV(steps, {name: [0, 1]}, cv=2, scoring=scorer)
        found.fit(SMALL.features, SMALL.label, mass=SMALL.mass, sample_weight=weight)
    direct = clone(classifier).set_params(order=found.best_params_[name])
    scaled = StandardScaler().fit_transform(SMALL.features)
    direct.fit(scaled, SMALL.label, mass=SMALL.mass, sample_weight=weight)
    np.testing.assert_allclose(found.predict_proba(SMALL.features), direct.predict_proba(scaled), rtol=1e-6)


class OwnMass:
    """A class whose events have their mass in their first feature, as the checks of scikit-learn know none."""

    def fit(self, X, y, sample_weight=None):
        try:
            mass = np.nan_to_num(np.asarray(X, float)[:, 0])
        except (ValueError, TypeError, IndexError, RuntimeWarning):  # of an X that is wrong, as fit shall say itself
            mass = np.zeros(np.shape(X)[:1])
        return super().fit(X, y, mass=mass, sample_weight=sample_weight)


OwnMassXGB = type("OwnMassXGB", (OwnMass, XGB.Classifier), {})
OwnMassLGBM = type("OwnMassLGBM", (OwnMass, LGB.Classifier), {})

# Scikit-learn has some ten events: a bin needs some of them, and a leaf one or two.
TINY = {"n_estimators": 5, "max_depth": 4, "n_jobs": 1, "order": 0, "bins": 2, "unbiased": False, "reg_lambda": 1}
TINY_LGBM = {"min_child_weight": 1e-3, "min_data_in_leaf": 2, "min_data_in_bin": 1, "feature_pre_filter": False}
NOT_SO = {
    "check_no_attributes_set_in_init": "further parameters are kept in a dictionary, as XGBClassifier keeps its",
    "check_classifiers_classes": "of strings background_label says which is background",
    "check_sample_weight_equivalence_on_dense_data": "the background is one event thrice, whose mass has no range",
}


@pytest.mark.parametrize("estimator", [OwnMassXGB(min_child_weight=0, **TINY), OwnMassLGBM(**TINY, **TINY_LGBM)])
def test_the_checks_of_scikit_learn(estimator):
    found = check_estimator(estimator, expected_failed_checks=NOT_SO, on_fail=None, on_skip=None)
    # That of arrays of other libraries than NumPy is for who has set SCIPY_ARRAY_API.
    others = {result["check_name"]: result["status"] for result in found if result["status"] != "passed"}
    assert others == {"check_array_api_input": "skipped"} | dict.fromkeys(NOT_SO, "xfail")
    assert len(found) > 50
