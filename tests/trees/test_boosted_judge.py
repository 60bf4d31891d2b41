"""Trees are judged on events that they have not seen: those of an evaluation set, or some that fit keeps."""

import warnings

import numpy as np
import pytest
from boosted import LIBRARIES, SMALL, TRAIN
from libmode import TrainingWarning, metrics
from libmode._problems import Said
from libmode._trees import classifier as module

from studies.simple_model.data import simple_model

VALID = simple_model(12_000, np.random.default_rng(41))
BIASED = np.where(VALID.features[:, 0] > 0.5, np.abs(VALID.mass), VALID.mass)  # masses that know the score
pytestmark = [  # in so few rounds
    pytest.mark.filterwarnings(f"ignore:{said}:libmode.TrainingWarning") for said in ("the push has not", "validation_")
]
QUICK = {"order": 1, "n_jobs": 1, "n_estimators": 100}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


def fitted(library, mass=None, features=None, training=TRAIN, **parameters):
    """A classifier, with an evaluation set if its masses are given."""
    given = {}
    if mass is not None:
        features = VALID.features if features is None else features
        given = {"eval_set": [(features, VALID.label)], "eval_mass": [mass]}
    return library.Classifier(**QUICK | parameters).fit(training.features, training.label, mass=training.mass, **given)


@pytest.mark.parametrize("point", [{}, {"background_efficiency": 0.02}, {"signal_efficiency": [0.8, 0.2]}], ids=str)
def test_the_last_evaluation_set_is_checked_at_the_cut_of_the_user(library, point):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)  # of what it finds
        found = fitted(library, VALID.mass, **point)
    want = metrics.check(found.decision_function(VALID.features), VALID.label, VALID.mass, order=1, **point)
    assert found.check_.to_dict() == want.to_dict() and str(found.check_) == str(want)


@pytest.mark.filterwarnings("ignore")  # of what it finds in so few events and rounds
def test_masses_outside_the_edges_are_not_judged(library):
    low, middle, high = np.quantile(TRAIN.mass, (0.2, 0.5, 0.8))
    found = fitted(library, VALID.mass, edges=[low, middle, high], n_estimators=3)
    score = found.decision_function(VALID.features)
    want = metrics.check(score, VALID.label, VALID.mass, order=1, mass_range=(low, high))
    assert found.check_.to_dict() == want.to_dict()


def test_check_judges_each_category(library):
    """Of kept events too; the second category of the evaluation set sculpts, as its masses know the score."""
    category = np.arange(len(VALID)) % 2
    mass = np.where(category == 1, BIASED, VALID.mass)
    events = {"mass": TRAIN.mass, "category": np.arange(len(TRAIN)) % 3}
    kept = library.Classifier(**QUICK | {"n_estimators": 3, "validation_fraction": 0.2}).fit(
        TRAIN.features, TRAIN.label, **events
    )
    assert list(kept.check_.categories) == [0, 1, 2]
    given = {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [mass], "eval_category": [category]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TrainingWarning)
        found = library.Classifier(**QUICK).fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **given)
    score = found.decision_function(VALID.features)
    want = metrics.check(score, VALID.label, mass, category=category, order=1)
    assert found.check_.to_dict() == want.to_dict()
    assert found.check_.categories[1].flat is False


def test_signal_efficiencies_are_of_the_weights_of_the_signal(library):
    """50 % of the events once were 14 % of the weighted signal."""
    weight = np.where(VALID.label == 1, np.exp(-VALID.features[:, 0]), 1.0)
    given = {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [BIASED], "eval_sample_weight": [weight]}
    with pytest.warns(TrainingWarning, match="not flat"):
        found = library.Classifier(**QUICK).fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **given)
    signal = VALID.label == 1
    selected = found.decision_function(VALID.features)[signal] >= found.check_.cuts[0].threshold
    assert np.average(selected, weights=weight[signal]) == pytest.approx(0.5, abs=0.01)
    assert abs(selected.mean() - 0.5) > 0.05


@pytest.mark.parametrize("patience", [None, 30])
def test_a_background_that_is_not_flat_is_said(library, patience):
    with pytest.warns(
        TrainingWarning, match=r"eval_set\[0\]: not flat at order 1 .*: .* know their training events by"
    ):
        assert fitted(library, BIASED, early_stopping_rounds=patience, n_estimators=250).check_.flat is False


def test_a_set_that_cannot_tell_says_so(library):
    few = slice(300)
    given = {"eval_set": [(VALID.features[few], VALID.label[few])], "eval_mass": [VALID.mass[few]]}
    classifier = library.Classifier(**QUICK, early_stopping_rounds=30)
    with pytest.warns(TrainingWarning, match=r"eval_set\[0\]: not known"):
        classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **given)
    assert classifier.check_.flat is None


def test_a_set_of_rows_of_the_training_judges_nothing(library):
    given = {"eval_set": [(TRAIN.features[::9], TRAIN.label[::9])], "eval_mass": [TRAIN.mass[::9]]}
    classifier = library.Classifier(**QUICK)
    with pytest.warns(TrainingWarning, match=r"eval_set\[0\] has rows of the training, mass included"):
        classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **given)
    assert classifier.check_ is None
    # Of values with few digits, equal rows are other events.
    rng = np.random.default_rng(1)
    features, mass, label = rng.integers(0, 3, (8_000, 2)), rng.integers(50, 99, 8_000), rng.integers(0, 2, 8_000)
    given = {"eval_set": [(features[4_000:], label[4_000:])], "eval_mass": [mass[4_000:]]}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* rows of the training")
        classifier.fit(features[:4_000], label[:4_000], mass=mass[:4_000], **given)
    assert classifier.check_ is not None


def test_events_are_kept_where_a_tenth_has_a_thousand_of_background(library, monkeypatch):
    """Three of 40 fits above 3 errors were silent, since nothing judged them: a process says so once."""
    found = fitted(library)  # 20,000 events, half of them background
    assert found.check_.events == pytest.approx(1_000, rel=0.01)
    monkeypatch.setattr(module, "_SAID", Said())
    assert fitted(library, validation_fraction=None).check_ is None
    with pytest.warns(
        TrainingWarning, match="nothing judges .* a tenth with 1,000 of background.*eval_set and eval_mass"
    ):
        found = fitted(library, training=SMALL)
    assert found.check_ is None and found.evals_result_ == {}
    fitted(library, training=SMALL, validation_fraction=0.3)
    monkeypatch.setattr(module, "_SAID", Said())
    with pytest.warns(TrainingWarning, match="nothing judges .*not known: "):
        assert fitted(library, training=SMALL, validation_fraction=0.1).check_.flat is None


def test_kept_events_stop_a_training(library):
    found = fitted(library, early_stopping_rounds=8, n_estimators=300)
    values = found.evals_result_["validation_0"]["inverse_sensitivity"]
    assert found.settled_round_ - 1 <= found.best_iteration_ == len(values) - 9
    few = {"early_stopping_rounds": 8, "training": SMALL, "validation_fraction": 0.3}
    assert fitted(library, **few).check_ is not None


@pytest.mark.filterwarnings("ignore:eval_set:libmode.TrainingWarning")  # of what it finds
@pytest.mark.parametrize("point", [{}, {"background_efficiency": 0.02}], ids=str)
@pytest.mark.parametrize("weight", [None, np.where(VALID.label == 1, np.exp(-VALID.features[:, 0]), 1.0)], ids=type)
def test_early_stopping_is_by_the_sensitivity_at_the_cut_of_the_user(library, point, weight):
    classifier = library.Classifier(**QUICK | {"early_stopping_rounds": 10, "n_estimators": 300} | point)
    given = {} if weight is None else {"eval_sample_weight": [weight]}
    given |= {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [VALID.mass]}
    found = classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **given)
    values = found.evals_result_["validation_0"]["inverse_sensitivity"]
    score = found.decision_function(VALID.features)
    want = 1 / metrics.check(score, VALID.label, VALID.mass, weight=weight, order=1, **point).sensitivity
    assert values[found.best_iteration_] == pytest.approx(want, rel=1e-3)
