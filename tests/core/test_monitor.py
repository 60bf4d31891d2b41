"""The monitor warns of scores that collapse to a constant, once, and of nothing else."""

import warnings

import libmode
import numpy as np
import pytest
from libmode._problems import PATIENCE, Monitor

RNG = np.random.default_rng(1)
GOOD = np.clip(0.5 + 0.2 * RNG.normal(size=1000), 0.01, 0.99)


def looks(score=GOOD, times=3 * PATIENCE):
    """The warnings of some looks."""
    monitor = Monitor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            monitor.look(score)
    assert all(one.category is libmode.TrainingWarning for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("size", [1, 1e-4, 1e-8])  # as the scores of a rare class
def test_nothing_is_said_of_a_good_training(size):
    assert looks(size * GOOD) == [] == looks(5 * GOOD - 3)


SATURATED = np.float32(1) / (1 + np.exp(np.float32(-15 - 20 * GOOD)))


@pytest.mark.parametrize("score, mean", [(0.4 + 1e-4 * GOOD, 0.4), (SATURATED, 1), (np.ones(1000), 1)])
def test_scores_that_are_nearly_equal_are_said_once_and_only_if_they_last(score, mean):
    (found,) = looks(score)
    assert found.startswith(f"the scores of a batch are nearly equal (mean {mean}, ")
    assert found.endswith("(monitor=False turns such warnings off.)")
    assert looks(score, PATIENCE - 1) == []
