"""The study of the zoo: every kind of training runs."""

import pytest

from studies.zoo.study import Task, measured

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
