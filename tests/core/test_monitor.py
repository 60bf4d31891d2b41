"""The monitor warns of what goes wrong without an error, once, and of nothing else."""

import warnings

import libmode
import numpy as np
import pytest
from libmode._problems import PATIENCE, Monitor

RNG = np.random.default_rng(1)
GOOD = np.clip(0.5 + 0.2 * RNG.normal(size=1000), 0.01, 0.99)
NOTHING = "the constraint has done nothing for 100 batches: its push is 0"


def looks(score=GOOD, inactive="", times=3 * PATIENCE):
    """The warnings of some looks."""
    monitor = Monitor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            monitor.look(score, inactive)
    assert all(one.category is libmode.TrainingWarning for one in caught)
    return [str(one.message) for one in caught]


def test_nothing_is_said_of_a_good_training():
    assert looks() == []
    for size in (1e-4, 1e-8):  # the scores of a rare class
        assert looks(size * RNG.uniform(0.5, 1.5, 1000)) == []
    assert looks(5 * GOOD - 3) == []  # outputs without limits


@pytest.mark.parametrize(
    "changes, start",
    [
        ({"score": 0.4 + 1e-4 * GOOD}, "the scores of a batch are nearly equal (mean 0.4, "),
        (
            {"score": np.float32(1) / (1 + np.exp(np.float32(-15 - 20 * GOOD)))},
            "the scores of a batch are nearly equal (mean 1, ",
        ),
        ({"score": np.ones(1000), "inactive": "its push is 0"}, "the scores of a batch are nearly equal (mean 1, "),
        ({"inactive": "its push is 0"}, NOTHING),
    ],
    ids=["collapsed", "saturated", "at the end", "inactive"],
)
def test_what_is_wrong_is_said_once_and_only_if_it_lasts(changes, start):
    (found,) = looks(**changes)
    assert found.startswith(start) and found.endswith("(monitor=False turns such warnings off.)")
    assert looks(times=PATIENCE - 1, **changes) == []
