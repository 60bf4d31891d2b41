"""Trees are judged on events that they have not seen: those of an evaluation set, or some that fit keeps."""

import numpy as np
import pytest
from boosted import SMALL, TRAIN
from libmode import TrainingWarning, metrics
from libmode._problems import Said
from libmode._trees import classifier as module

from studies.simple_model.data import simple_model

VALID = simple_model(12_000, np.random.default_rng(41))
BIASED = np.where(VALID.features[:, 0] > 0.5, np.abs(VALID.mass), VALID.mass)  # masses that know the score
pytestmark = [  # in so few rounds
    pytest.mark.filterwarnings(f"ignore:{said}:libmode.TrainingWarning") for said in ("the push has not", "validation_")
]
SIGNAL_WEIGHT = np.where(VALID.label == 1, np.exp(-VALID.features[:, 0]), 1.0)
QUICK = {"order": 1, "n_jobs": 1, "n_estimators": 100}


def fitted(library, mass=None, training=TRAIN, of=slice(None), weight=None, category=None, **parameters):
    """A classifier, with an evaluation set, or with some of it, if its masses are given."""
    sets = {}
    if mass is not None:
        sets = {"eval_set": [(VALID.features[of], VALID.label[of])], "eval_mass": [mass[of]]}
        more = {"eval_sample_weight": weight, "eval_category": category}
        sets |= {name: [array] for name, array in more.items() if array is not None}
    return library.Classifier(**QUICK | parameters).fit(training.features, training.label, mass=training.mass, **sets)


CATEGORY, LOW, MIDDLE, HIGH = np.arange(len(VALID)) % 2, *np.quantile(TRAIN.mass, (0.2, 0.5, 0.8))
#: What fit is given, the masses of the evaluation set, and what else check is given.
CHECKS = {
    "at half of the signal": ({}, VALID.mass, {}),
    "at a share of background": ({"background_efficiency": 0.02}, VALID.mass, {"background_efficiency": 0.02}),
    "at two cuts": ({"signal_efficiency": [0.8, 0.2]}, VALID.mass, {"signal_efficiency": [0.8, 0.2]}),
    "inside the edges": ({"edges": [LOW, MIDDLE, HIGH]}, VALID.mass, {"mass_range": (LOW, HIGH)}),
    "of weights": ({"weight": SIGNAL_WEIGHT}, BIASED, {"weight": SIGNAL_WEIGHT}),
    # The second category sculpts, as its masses know the score.
    "by category": ({"category": CATEGORY}, np.where(CATEGORY == 1, BIASED, VALID.mass), {"category": CATEGORY}),
}


@pytest.mark.filterwarnings("ignore::libmode.TrainingWarning")  # of what it finds
@pytest.mark.parametrize("name", CHECKS)
def test_the_evaluation_set_is_checked_as_the_user_trains(library, name):
    options, mass, of_check = CHECKS[name]
    found = fitted(library, mass, n_estimators=30, **options)
    want = metrics.check(found.decision_function(VALID.features), VALID.label, mass, order=1, **of_check)
    assert found.check_.to_dict() == want.to_dict() and str(found.check_) == str(want)


@pytest.mark.parametrize("patience", [None, 30])
def test_a_background_that_is_not_flat_is_said(library, patience):
    with pytest.warns(
        TrainingWarning, match=r"eval_set\[0\]: not flat at order 1 .*: .* know their training events by"
    ):
        assert fitted(library, BIASED, early_stopping_rounds=patience, n_estimators=250).check_.flat is False


def test_events_are_kept_where_a_tenth_has_a_thousand_of_background(library, monkeypatch):
    """Three of 40 fits above 3 errors were silent, since nothing judged them: a process says so once."""
    assert fitted(library).check_.events == pytest.approx(1_000, rel=0.01)  # of 20,000 events, half of them background
    classifier, category = library.Classifier(**QUICK, validation_fraction=0.2), np.arange(len(TRAIN)) % 3
    classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, category=category)
    assert list(classifier.check_.categories) == [0, 1, 2]
    monkeypatch.setattr(module, "_SAID", Said())
    assert fitted(library, validation_fraction=None).check_ is None
    with pytest.warns(
        TrainingWarning, match="nothing judges .* a tenth with 1,000 of background.*eval_set and eval_mass"
    ):
        found = fitted(library, training=SMALL)
    assert found.check_ is None and found.evals_result_ == {}
    fitted(library, training=SMALL, validation_fraction=0.3)
    monkeypatch.setattr(module, "_SAID", Said())
    with pytest.warns(TrainingWarning, match="nothing judges .*not known at order 1: "):
        assert fitted(library, training=SMALL, validation_fraction=0.1).check_.flat is None


@pytest.mark.filterwarnings("ignore:eval_set:libmode.TrainingWarning")  # of what it finds
@pytest.mark.parametrize(
    "point, weight", [({}, None), ({"background_efficiency": 0.02}, SIGNAL_WEIGHT)], ids=["plain", "weighted"]
)
def test_early_stopping_is_by_the_sensitivity_at_the_cut_of_the_user(library, point, weight):
    found = fitted(library, VALID.mass, weight=weight, early_stopping_rounds=10, n_estimators=300, **point)
    values = found.evals_result_["validation_0"]["inverse_sensitivity"]
    score = found.decision_function(VALID.features)
    want = 1 / metrics.check(score, VALID.label, VALID.mass, weight=weight, order=1, **point).sensitivity
    assert values[found.best_iteration_] == pytest.approx(want, rel=1e-3)
