"""The study of ABCD: every method trains."""

import pytest
import torch

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


def test_a_multiplier_grows_while_its_limit_is_exceeded():
    multiplied = train.Multiplied(lambda first, second: (first * second).mean(), limit=0.1, scale=1)
    score, y = torch.full((10,), 0.5), torch.zeros(10)
    values = [multiplied(score, score, y, 0.5)[2].item() for _ in range(3)]
    assert values[0] < values[1] < values[2]
    assert multiplied(0 * score, score, y, 0.5)[2].item() == 0
