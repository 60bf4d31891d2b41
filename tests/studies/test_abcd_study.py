"""The study of ABCD: every method trains."""

import pytest

from studies.abcd import train
from studies.abcd.study import Task, measured


@pytest.mark.filterwarnings("ignore:label or score is the wrong way round")  # a moment teaches a network little
@pytest.mark.parametrize("method", train.METHODS)
def test_a_training(method, monkeypatch):
    monkeypatch.setattr(train, "TRAINING", 20_000)
    monkeypatch.setattr(train, "TEST", 20_000)
    found = measured(Task(method, 512, 100, 1))
    assert all(ratio > 0 for ratio in found["ratio"])
    assert 0 < found["signal"][0] < 1
