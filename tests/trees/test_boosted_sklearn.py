"""The classifiers as estimators of scikit-learn."""

import warnings

import libmode
import numpy as np
import pandas as pd
import pytest
import sklearn
from boosted import CLASSIFIERS, SMALL
from libmode import mode_evaluate
from libmode.metrics import auc
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from studies.simple_model.data import simple_model

VALID = simple_model(2_000, np.random.default_rng(21))
LIBRARIES = list(CLASSIFIERS)
FEW = {"n_estimators": 12, "n_jobs": 1}
FOLDS = list(StratifiedKFold(2).split(SMALL.features, SMALL.label))


@pytest.fixture(params=LIBRARIES)
def kind(request):
    """The class of a library."""
    return CLASSIFIERS[request.param]


@pytest.fixture(scope="module", params=LIBRARIES)
def fitted(request):
    return CLASSIFIERS[request.param](**FEW).fit(SMALL.features, SMALL.label, mass=SMALL.mass)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class TestParameters:
    """Those of the constructor, of the loss and of the library alike."""

    def test_are_cloned(self, kind):
        classifier = kind(order=2, monotonic=True, max_bin=63, strength=3.0)
        other = clone(classifier)
        assert other is not classifier
        assert other.get_params() == classifier.get_params()
        assert (other.order, other.parameters) == (2, {"monotonic": True, "max_bin": 63})

    def test_are_set_and_got(self, kind):
        classifier = kind()
        assert classifier.set_params(order=0, max_slope=0.5, learning_rate=0.1) is classifier
        found = classifier.get_params()
        assert (found["order"], found["max_slope"], found["learning_rate"]) == (0, 0.5, 0.1)
        assert found["n_estimators"] == 500
        assert "max_slope" not in kind().get_params()

    def test_go_to_the_loss_and_to_the_library(self, kind):
        """Each changes what is trained."""
        models = [
            kind(**FEW, **more).fit(SMALL.features, SMALL.label, mass=SMALL.mass).predict_proba(VALID.features)[:, 1]
            for more in ({}, {"order": 2}, {"bins": 4}, {"max_bin": 7}, {"max_depth": 2}, {"relative_strength": 2})
        ]
        for k, other in enumerate(models[1:]):
            assert np.abs(models[0] - other).max() > 1e-3, k

    def test_say_which_events_take_part(self, kind):
        """What is in docs/fairness.md, by the classifiers and by the metrics of their evaluation sets."""
        evaluated = {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [VALID.mass]}
        classifier = kind(**FEW, order=0, background_only=False)
        assert clone(classifier).get_params()["background_only"] is False
        classifier.fit(SMALL.features, SMALL.label, mass=SMALL.mass, **evaluated)
        probability = classifier.predict_proba(VALID.features)[:, 1]
        other = kind(**FEW, order=0).fit(SMALL.features, SMALL.label, mass=SMALL.mass)
        assert np.abs(other.predict_proba(VALID.features)[:, 1] - probability).max() > 0.01
        found = mode_evaluate(probability.astype(float), VALID.mass, order=0)
        rho = found.loss * 100_000 / (found.bias * found.events)
        assert classifier.evals_result_["validation_0"]["dependence"][-1] == pytest.approx(rho, rel=1e-3)


def test_it_is_a_classifier(fitted):
    assert is_classifier(fitted)
    proba = fitted.predict_proba(VALID.features)
    assert proba.shape == (len(VALID), 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    margin = fitted.decision_function(VALID.features)
    np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-margin)), rtol=1e-5)
    np.testing.assert_array_equal(fitted.predict(VALID.features), proba[:, 1] > 0.5)
    assert fitted.score(VALID.features, VALID.label) == np.mean(fitted.predict(VALID.features) == VALID.label)
    assert fitted.n_features_in_ == 2 and not hasattr(fitted, "feature_names_in_")
    assert list(fitted.classes_) == [0, 1] and fitted.best_iteration_ is None and fitted.evals_result_ == {}


def test_it_is_stopped_early_and_keeps_the_best(kind):
    evaluated = {
        "eval_set": [(SMALL.features, SMALL.label), (VALID.features, VALID.label)],
        "eval_mass": [SMALL.mass, VALID.mass],
    }
    classifier = kind(n_estimators=300, n_jobs=1, early_stopping_rounds=12, events=10_000)
    classifier.fit(SMALL.features, SMALL.label, mass=SMALL.mass, **evaluated)
    history = classifier.evals_result_
    assert set(history) == {"validation_0", "validation_1"}
    values = history["validation_1"]["inverse_sensitivity"]
    best = classifier.best_iteration_
    assert len(values) == best + 13 < 300
    assert values[best] == pytest.approx(min(values), abs=1e-5)
    # A training of so many rounds is the same.
    short = kind(n_estimators=best + 1, n_jobs=1).fit(SMALL.features, SMALL.label, mass=SMALL.mass)
    np.testing.assert_array_equal(short.predict_proba(VALID.features), classifier.predict_proba(VALID.features))


def test_evaluation_sets_have_weights_of_their_own(kind):
    """A factor of all changes nothing, and events that count for nothing are as if there were none."""
    kept = np.random.default_rng(0).random(len(VALID)) < 0.6
    weight = np.random.default_rng(1).normal(1, 0.5, len(VALID))

    def history(of=slice(None), weight=None):
        more = {} if weight is None else {"eval_sample_weight": [weight]}
        evaluated = {"eval_set": [(VALID.features[of], VALID.label[of])], "eval_mass": [VALID.mass[of]]}
        classifier = kind(**FEW).fit(SMALL.features, SMALL.label, mass=SMALL.mass, **evaluated, **more)
        return classifier.evals_result_["validation_0"]

    once, thrice, without = history(weight=weight), history(weight=3 * weight), history()
    for name, values in once.items():
        np.testing.assert_allclose(values, thrice[name], rtol=1e-4)
        assert np.abs(np.subtract(values, without[name])).max() > 3e-4 * np.abs(values).max()
    np.testing.assert_allclose(history(kept)["logloss"], history(weight=kept * 1.0)["logloss"], rtol=1e-4)


@pytest.mark.parametrize("signs", ["of one sign", "of both signs"])
def test_a_factor_of_all_weights_changes_nothing(kind, signs):
    """XGBoost makes no split that gains less than 1e-6: weights of 1e-12 once gave 0.5 everywhere, without a word."""
    rng = np.random.default_rng(8)
    weight = np.ones(len(SMALL)) if signs == "of one sign" else rng.normal(1, 0.6, len(SMALL))

    def trained(weight, of=slice(None), **more):
        classifier = kind(**FEW, **more).fit(
            SMALL.features[of], SMALL.label[of], mass=SMALL.mass[of], sample_weight=weight
        )
        return classifier.predict_proba(VALID.features)[:, 1]

    want = trained(weight)
    assert auc(want, VALID.label) > 0.88
    for factor in (1e-3, 1e-5, 1e-8, 1e-12, 1e-30, 1e7):
        np.testing.assert_allclose(trained(factor * weight), want, rtol=1e-4)
    own = {"min_child_weight": 10.0, "reg_lambda": 5.0}
    np.testing.assert_allclose(trained(1e-8 * weight, **own), trained(weight, **own), rtol=1e-4)
    if signs == "of one sign":
        np.testing.assert_allclose(want, trained(None), rtol=1e-4)
        # Events of weight 0 are no reason for other leaves.
        without = trained(None, slice(0, 1_500), **own)
        zeros = np.where(np.arange(len(SMALL)) < 1_500, 1e-8, 0)
        assert auc(trained(zeros, **own), VALID.label) == pytest.approx(auc(without, VALID.label), abs=0.02)


def test_random_state_is_the_seed(kind):
    def trained(state):
        classifier = kind(**FEW, subsample=0.5, random_state=state)
        return classifier.fit(SMALL.features, SMALL.label, mass=SMALL.mass).predict_proba(VALID.features)

    np.testing.assert_array_equal(trained(3), trained(3))
    np.testing.assert_array_equal(trained(np.random.RandomState(3)), trained(np.random.RandomState(3)))
    assert np.abs(trained(3) - trained(4)).max() > 0.01


def test_several_variables_and_categories(kind):
    """They are what the loss has; the push is another than that of the first mass alone."""
    other = np.random.default_rng(5).random(len(SMALL))
    one = kind(**FEW).fit(SMALL.features, SMALL.label, mass=SMALL.mass)
    two = kind(**FEW).fit(SMALL.features, SMALL.label, mass=np.column_stack([SMALL.mass, other]))
    years = kind(**FEW).fit(SMALL.features, SMALL.label, mass=SMALL.mass, category=(other > 0.5).astype(int))
    column = kind(**FEW).fit(SMALL.features, SMALL.label, mass=SMALL.mass[:, None])
    found = [classifier.predict_proba(VALID.features)[:, 1] for classifier in (one, two, years, column)]
    np.testing.assert_array_equal(found[0], found[3])
    for others in found[1:3]:
        assert np.abs(others - found[0]).max() > 1e-3
        assert auc(others, VALID.label) > 0.85


def test_names_of_columns_go_to_the_booster(kind):
    frame = pd.DataFrame(SMALL.features, columns=["pt", "eta"])
    mass = pd.Series(SMALL.mass, index=np.arange(len(SMALL))[::-1])
    booster = kind(**FEW).fit(frame, pd.Series(SMALL.label), mass=mass).booster_
    names = booster.feature_names if "XGB" in kind.__name__ else booster.feature_name()
    assert names == ["pt", "eta"]


def test_cross_validate_gives_each_part_its_masses(kind):
    def of_halves(first, second):
        """AUC of a training with one half of the events on the other."""
        classifier = kind(**FEW).fit(SMALL.features[first], SMALL.label[first], mass=SMALL.mass[first])
        return auc(classifier.predict_proba(SMALL.features[second])[:, 1], SMALL.label[second])

    given = {"cv": FOLDS, "scoring": "roc_auc", "params": {"mass": SMALL.mass}}
    found = cross_validate(kind(**FEW), SMALL.features, SMALL.label, **given)
    np.testing.assert_allclose(found["test_score"], [of_halves(*fold) for fold in FOLDS], rtol=1e-9)


def test_grid_search_in_a_pipeline_routes_masses_and_weights(kind, routing):
    classifier = kind(**FEW).set_fit_request(mass=True, sample_weight=True)
    steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), classifier)
    name = f"{kind.__name__.lower()}__order"
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(SMALL))
    scorer = get_scorer("roc_auc").set_score_request(sample_weight=False)
    found = GridSearchCV(steps, {name: [0, 1]}, cv=FOLDS, scoring=scorer)
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


class OwnMassXGB(OwnMass, CLASSIFIERS["xgboost"]):
    pass


class OwnMassLGBM(OwnMass, CLASSIFIERS["lightgbm"]):
    pass


# Scikit-learn has some ten events: a bin needs some of them, and a leaf one or two.
TINY = {"n_estimators": 5, "n_jobs": 1, "order": 0, "bins": 2, "unbiased": False, "reg_lambda": 1}
TINY_XGB = TINY | {"min_child_weight": 0}
TINY_LGBM = TINY | {"min_child_weight": 1e-3, "min_data_in_leaf": 2, "min_data_in_bin": 1, "feature_pre_filter": False}

NOT_SO = {
    "check_no_attributes_set_in_init": "further parameters are kept in a dictionary, as XGBClassifier keeps its",
    "check_sample_weight_equivalence_on_dense_data": "the background is one event thrice, whose mass has no range",
}


@pytest.mark.parametrize("estimator", [OwnMassXGB(**TINY_XGB), OwnMassLGBM(**TINY_LGBM)], ids=LIBRARIES)
def test_the_checks_of_scikit_learn(estimator):
    found = check_estimator(estimator, expected_failed_checks=NOT_SO, on_fail=None, on_skip=None)
    # That of arrays of other libraries than NumPy is for who has set SCIPY_ARRAY_API.
    others = {result["check_name"]: result["status"] for result in found if result["status"] != "passed"}
    assert others == {"check_array_api_input": "skipped"} | dict.fromkeys(NOT_SO, "xfail")
    assert len(found) > 50


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_few_far_masses_are_said_once(library):
    rng = np.random.default_rng(1)
    x, label, mass = rng.normal(size=(2_000, 2)), rng.integers(0, 2, 2_000), 50 + rng.exponential(60, 2_000)
    mass[::100] = -999
    libmode._options._cached.cache_clear()  # as if nothing had been said yet
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        CLASSIFIERS[library](order=1, bins=9, **FEW).fit(x, label, mass=mass)
    assert [str(warning.message)[:12] for warning in found] == ["mass is -999"]
