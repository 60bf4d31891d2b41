"""The study of ABCD: every loss trains, and what the committed results are."""

import json

import pytest
import torch

from studies.abcd import train
from studies.abcd.study import BATCHES, FULL, RESULTS, STRENGTHS, Task, measured, tasks
from studies.abcd.toy import RATIO, events


def test_the_toy():
    features, label = events(3_000, 1)
    assert features.shape == (3_100, 2, 3)
    assert int(label.sum()) == 3_000 // RATIO
    background = features[label == 0]
    assert torch.corrcoef(background[:, :, 1].T)[0, 1] > 0.5  # the common mode
    assert abs(torch.corrcoef(background[:, :, 0].T)[0, 1]) < 0.1


@pytest.mark.parametrize("method", STRENGTHS)
def test_a_training(method, monkeypatch):
    monkeypatch.setattr(train, "TRAINING", 20_000)
    monkeypatch.setattr(train, "TEST", 20_000)
    found = measured(Task(method, STRENGTHS[method][0] / 10, 256, 100, 1))
    assert all(ratio > 0 for ratio in found["ratio"])
    assert 0.3 < found["signal"][0] < 1
    assert 0 < found["seconds of the loss"] < found["seconds"]


def test_the_committed_results_are_those_of_the_study():
    stored = json.loads(RESULTS.read_text())
    assert stored["results"].keys() == tasks(FULL).keys()
    assert len(stored["results"]) == FULL.seeds * len(BATCHES) * sum(map(len, STRENGTHS.values()))
