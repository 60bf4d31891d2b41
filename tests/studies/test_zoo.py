"""The study of the zoo: every kind of training runs, and the best strength is one that is as flat."""

import numpy as np
import pytest

from studies.zoo import report
from studies.zoo.problems import PROBLEMS, events_of
from studies.zoo.study import Task, measured

# The couples come from a package of the study's own.
DRAWN = [name for name in PROBLEMS if not name.startswith("husbands")]


@pytest.mark.parametrize("name", DRAWN)
def test_a_problem_has_both_classes_and_no_feature_that_is_not_a_number(name):
    for events in events_of(name, 1):
        assert len(events) == len(events.mass) == len(events.weight) == len(events.features)
        assert set(np.unique(events.label)) == {0, 1}
        assert np.isfinite(events.features).all() and np.isfinite(events.mass).all()


TRAININGS = [
    Task("scan, order 1", "constraint", None, 1, epochs=1 / 16),
    Task("simple, order 1", "constraint", 3, 1, batch=256, epochs=1 / 16),
    Task("Dalitz plane, order 0", "disco", 1, 1, epochs=1 / 16),
    Task("modified, order 2, monotonic", "none", None, 1, epochs=1 / 16),
]


@pytest.mark.parametrize("task", TRAININGS, ids=lambda task: f"{task.problem}, {task.method}")
def test_a_training(task):
    found = measured(task)
    assert 0.5 < found["auc"] < 1 and found["r50"] > 1
    assert len(found["residual"]) == 3 and min(found["residual"]) > 0


def test_the_best_fixed_strength_is_one_that_is_as_flat():
    def one(auc, residual):
        return [{"auc": auc, "r50": 10.0, "residual": [residual] * 3}]

    found = {"default": one(0.88, 1.2), "fixed 1": one(0.9, 3.0), "fixed 3": one(0.87, 1.1), "fixed 10": one(0.86, 1.0)}
    assert report.best(found, "fixed")[0] == "fixed 3" and report.best(found, "DisCo") is None
