"""The study of the zoo: every kind of training runs, and the judge's scale is right."""

import numpy as np
import pytest

from studies.zoo import judge
from studies.zoo.events import Events
from studies.zoo.problems import PROBLEMS, Problem

LINE = Problem(lambda seed: None, {"order": 1})


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
