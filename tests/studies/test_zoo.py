"""The study of the zoo: its plan of trainings, and the judge's scale."""

import numpy as np
import pytest

from studies.zoo import judge
from studies.zoo.events import Events
from studies.zoo.problems import PROBLEMS, Problem
from studies.zoo.study import FULL, due, tasks

LINE = Problem(lambda seed: None, {"order": 1})


def test_a_scan_ends_where_a_rival_is_flat_and_the_best_trains_as_often_as_the_layer():
    ratios = {"DisCo 1": 5.0, "DisCo 3": 1.2, "DisCo 10, planed": 0.5}

    def next_of(found):
        return [key.removeprefix("scan, order 1; ") for key in due(named, found) if "DisCo" in key]

    named = {key: task for key, task in tasks(FULL).items() if key.startswith("scan, order 1; ")}
    assert next_of({}) == ["DisCo 1; 1", "DisCo 10, planed; 1"]
    found = {
        f"scan, order 1; {name}; 1": {"auc": 0.9, "r50": 50, "cuts": {"80 %": {"ratio": ratio}}}
        for name, ratio in ratios.items()
    }
    assert next_of(found) == []  # while MoDeLoss has no result
    for key in named:
        if "MoDeLoss" in key:
            found[key] = {"auc": 0.5, "r50": 2, "cuts": {"80 %": {"ratio": 9.0}}}
    assert next_of(found) == ["DisCo 3; 2", "DisCo 3; 3"]
    del found["scan, order 1; DisCo 3; 1"]
    assert next_of(found) == ["DisCo 3; 1"]


def test_a_bump_is_found_and_a_smooth_response_has_none():
    problem = PROBLEMS["dijet, order 2, monotonic"]
    (_, test), beside = problem.draw(1), problem.beside()
    rng = np.random.default_rng(1)

    def score(events, excess):
        """A rejection of 40, which rises with the mass, and of fewer around 2.5 TeV."""
        rate = 0.02 * np.log(events.mass + 1) * (1 + excess * (abs(events.mass - 2.5) < 0.25))
        kept = np.where(events.label == 1, 0.2, rate)
        return (rng.random(len(events)) < kept) + 0.1 * rng.random(len(events))

    for excess in (0, 0.5):
        found = judge.bump(problem, test, score(test, excess), beside, score(beside, excess))
        assert found["bump"] == pytest.approx(excess, abs=0.05)
        assert 30 < found["r20"] < 80


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
