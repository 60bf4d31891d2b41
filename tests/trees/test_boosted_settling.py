"""When a push has settled: early stopping waits for it, and a training without it is an error or a warning."""

import numpy as np
import pytest
from boosted import LGB, TEST, TRAIN
from libmode import TrainingWarning, metrics
from libmode._trees import multipliers

from studies.simple_model.data import simple_model

VALID = simple_model(10_000, np.random.default_rng(31))
EVALUATED = {"eval_set": [(VALID.features, VALID.label)], "eval_mass": [VALID.mass]}

pytestmark = pytest.mark.filterwarnings("ignore:eval_set:libmode.TrainingWarning")  # of what it finds


def fitted(library, evaluated=None, **parameters):
    classifier = library.Classifier(**({"order": 1, "n_jobs": 1} | parameters))
    return classifier.fit(TRAIN.features, TRAIN.label, mass=TRAIN.mass, **(evaluated or {}))


def residual(score, events=TEST):
    """The root mean square over 80, 50 and 20 %, over its value by chance."""
    found, options = [], {"bins": np.linspace(-1, 1, 11), "order": 1}
    for efficiency in (0.8, 0.5, 0.2):
        one = metrics.check(score, events.label, events.mass, signal_efficiency=efficiency, **options).cuts[0]
        found.append(one.residual / one.expected)
    return np.sqrt(np.mean(np.square(found)))


def test_the_best_round_is_one_after_the_push_has_settled(library):
    """With a patience of five the best round was once the thirteenth, as bumpy as without MoDe."""
    few, valid = (simple_model(events, np.random.default_rng(33)) for events in (10_000, 3_000))
    classifier = library.Classifier(order=1, n_jobs=1, early_stopping_rounds=5)
    sets = [VALID, valid]  # the last one counts
    evaluated = {"eval_set": [(each.features, each.label) for each in sets], "eval_mass": [each.mass for each in sets]}
    classifier.fit(few.features, few.label, mass=few.mass, **evaluated)
    values = classifier.evals_result_["validation_1"]["inverse_sensitivity"]
    settled, best, booster = classifier.settled_round_, classifier.best_iteration_, classifier.booster_
    assert 40 <= settled <= best + 1 <= len(values) == best + 6
    assert best + 1 == (booster.num_trees() if library is LGB else booster.num_boosted_rounds())
    score = classifier.predict_proba(valid.features)[:, 1]
    assert residual(score, valid) < 1.5  # of the rounds that are flat, the best


def test_too_few_rounds_are_an_error_with_early_stopping_and_a_warning_without(library):
    with pytest.raises(RuntimeError, match=r"early_stopping_rounds = 5: no round .* settled in 20 rounds.* Give about"):
        fitted(library, EVALUATED, early_stopping_rounds=5, n_estimators=20)
    with pytest.warns(
        TrainingWarning, match=r"has not settled in 20 rounds: .* times as much as by chance. Give about"
    ):
        assert fitted(library, n_estimators=20, validation_fraction=None).settled_round_ is None


@pytest.mark.parametrize("patience", [None, 500])
@pytest.mark.parametrize("since, settled", [(5, 60), (30, 75), (75, None)])
def test_a_push_settles_by_one_rule_with_and_without_early_stopping(library, monkeypatch, patience, since, settled):
    """A training with weights of both signs stayed at 0.8 of chance: settled in silence, or an error for 0.8 of it.

    Ten looks at most at chance settle a push. A push that settles too late for the rule is flat, and no error.
    """
    monkeypatch.setattr(multipliers.Boosting, "_dependence", lambda self, events: 0.8 if self.rounds >= since else 1.2)
    given = {"early_stopping_rounds": patience, "n_estimators": 100}
    found = fitted(library, EVALUATED, **given)
    assert found.settled_round_ == settled and (
        patience is None or (found.best_iteration_ is None) == (settled is None)
    )
