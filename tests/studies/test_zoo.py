"""The study of the zoo: every kind of training runs, the judge is right, and what is interrupted goes on."""

from dataclasses import replace

import numpy as np
import pytest

from studies.zoo import judge, problems, train
from studies.zoo.events import Events
from studies.zoo.problems import Problem
from studies.zoo.study import Task, measured

TRAININGS = [
    Task("scan, order 1", "MoDeConstraint", None, 1, epochs=1 / 16),
    Task("simple, order 1", "MoDeConstraint", None, 1, batch=256, epochs=1 / 16),
    Task("simple, order 1", "MoDeLoss", 30, 1, epochs=1 / 16),
    Task("Dalitz plane, order 0", "DisCo", 1, 1, epochs=1 / 16),
    Task("modified, order 2, monotonic", "none", None, 1, epochs=1 / 16),
    Task("slices, order 0", "MoDeConstraint", None, 1, epochs=1 / 16),
    Task("slices, order 0", "MoDeLoss", 30, 1, epochs=1 / 16, planed=True),
    Task("steep, order 1", "none", None, 1, epochs=1 / 16, mapped=True),
]
LINE = Problem(lambda seed: None, {"order": 1})


@pytest.mark.parametrize("task", TRAININGS, ids=lambda task: f"{task.problem}, {task.method}")
def test_a_training(task):
    found = measured(task)
    assert 0.5 < found["auc"] < 1 and found["r50"] > 1
    assert task.method == "MoDeConstraint" or found["says"] == []  # a layer may say that so few batches are not enough
    assert {"80 %", "50 %", "20 %", "1e-2"} <= set(found["cuts"])
    for one in found["cuts"].values():
        assert one["ratio"] == pytest.approx(one["residual"] / np.hypot(one["test"], one["train"]), rel=1e-3)


def test_a_window_hides_the_labels_outside(monkeypatch):
    usual, seen = problems.events_of("tagger, order 0", 1), []
    for change in (lambda label, inside: label, lambda label, inside: np.where(inside, label, 1 - label)):
        training = usual[0]
        inside = (training.mass > 95) & (training.mass < 155)
        changed = replace(training, label=change(training.label, inside).astype(np.float32))
        monkeypatch.setattr(train, "events_of", lambda *_, changed=changed: (changed, usual[1]))
        settings = {"seed": 1, "batch": 1_024, "epochs": 1 / 16, "rate": 1, "signal": 1, "rival": "window"}
        network, _ = train.trained("tagger, order 0", "none", None, **settings)
        seen.append(train.scores(network, usual[1].features[:1_000]))
    assert np.array_equal(*seen) and np.ptp(seen[0]) > 1


def drawn(rng, background, signal=2_000, weighted=False):
    """Events and a score that knows nothing of the mass."""
    label = np.repeat([0, 1], [background, signal])
    weight = rng.choice([-0.5, 1, 2], background + signal, p=[0.1, 0.6, 0.3]) if weighted else np.ones(len(label))
    mass, score = rng.random(len(label)), rng.normal(2.0 * label)
    return Events(np.zeros((len(label), 1)), mass, label, weight), score


@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_is_the_statistics_of_both_samples(weighted):
    rng, squares = np.random.default_rng(1), []
    training, _ = drawn(rng, 30_000)
    for _ in range(30):
        test, score = drawn(rng, 60_000, weighted=weighted)
        found = judge.judged(LINE, training, test, score)["cuts"]
        assert found["50 %"]["train"] == pytest.approx(2**0.5 * found["50 %"]["test"], rel=1e-3)
        squares.append([found[cut]["residual"] ** 2 / found[cut]["test"] ** 2 for cut in ("80 %", "50 %", "1e-2")])
    assert np.mean(squares, axis=0) == pytest.approx(np.ones(3), abs=0.25)


def test_a_dependence_at_a_tight_cut_is_seen_there_alone():
    test, score = drawn(np.random.default_rng(3), 60_000)
    bump = (test.label == 0) & (abs(test.mass - 0.5) < 0.05) & (score > np.quantile(score[test.label == 0], 0.99))
    score[bump] += 3
    score[test.label == 1] = np.linspace(0, 6, 2_000)
    cuts = judge.judged(LINE, test, test, score)["cuts"]
    assert cuts["80 %"]["ratio"] < 1.5 and cuts["20 %"]["ratio"] > 3
    # A fit with errors stays with the bins beside the peak.
    assert cuts["20 %"]["fitted"] > 1.05 * cuts["20 %"]["ratio"]
    assert cuts["80 %"]["fitted"] == pytest.approx(cuts["80 %"]["ratio"], rel=0.1)
