"""The monitor warns of what goes wrong without an error, once, and of nothing else."""

import warnings

import libmode
import numpy as np
import pytest
from libmode._problems import EVERY, PATIENCE, Monitor

RNG = np.random.default_rng(1)
LABEL = RNG.random(1000) < 0.5  # of background
GOOD = np.clip(0.5 + 0.2 * RNG.normal(size=1000) - 0.2 * LABEL, 0.01, 0.99)
ALIKE = RNG.random(1000)  # 400 of each class have the same scores
ALIKE[np.flatnonzero(LABEL)[:400]] = ALIKE[np.flatnonzero(~LABEL)[:400]]
FINE = {"loss": 1e-5, "bias": 1e-4, "events": 500.0, "bins": 20, "unbiased": True}


def looks(score=GOOD, background=LABEL, times=3 * PATIENCE, **changes):
    """The warnings of so many looks."""
    monitor = Monitor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(times):
            monitor.look(score, background, **{**FINE, **changes})
    assert all(one.category is libmode.TrainingWarning for one in caught)
    return [str(one.message) for one in caught]


def test_nothing_is_said_of_a_good_training():
    assert looks() == []
    assert looks(bins=None, events=40) == []
    assert looks(unbiased=False, loss=2e-4, bias=1e-4) == []
    rare = np.where(LABEL, 1e-4, 3e-4) * RNG.uniform(0.5, 1.5, 1000)  # the scores of a class of one in thousands
    assert looks(rare) == []
    assert looks(5 * GOOD - 3) == []  # outputs without limits


@pytest.mark.parametrize(
    "changes, start",
    [
        ({"score": 0.4 + 1e-4 * GOOD}, "the scores of a batch are nearly equal (mean 0.4, "),
        ({"score": ALIKE}, "signal and background have the same scores"),
        ({"events": 90.0}, "20 bins have 4.5 background events each"),
        ({"unbiased": False, "loss": 1e-5, "bias": 1e-4}, "the plain loss of a batch is 1.10e-04, of which 1.00e-04"),
    ],
    ids=["collapsed", "given up", "few events", "bias"],
)
def test_what_is_wrong_is_said_once_and_only_if_it_lasts(changes, start):
    (found,) = looks(**changes)
    assert found.startswith(start) and found.endswith("(monitor=False turns such warnings off.)")
    assert looks(times=PATIENCE - 1, **changes) == []


def test_it_looks_at_every_twentieth_batch():
    monitor = Monitor()
    assert [k for k in range(1, 3 * EVERY) if monitor.due()] == [EVERY, 2 * EVERY]


def watched(separations, n=1000, signal=0.5, times=15):
    """The warnings of so many looks at each separation of signal and background."""
    rng, monitor = np.random.default_rng(3), Monitor()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for separation in separations:
            for _ in range(times):
                background = rng.random(n) > signal
                score = 1 / (1 + np.exp(separation * background - rng.normal(size=n)))
                monitor.look(score, background, **FINE)
    return [found for one in caught if "AUC" in (found := str(one.message))]


def test_an_auc_that_falls_by_half_is_said_once():
    (found,) = watched([2, 0.5, 0.4])
    assert found.startswith("the AUC of the batches has fallen from 0.9") and " to 0.6" in found
    (found,) = watched([-2, -0.5, -0.4])  # signal has the lower scores
    assert found.startswith("the AUC of the batches has fallen from 0.9")


@pytest.mark.parametrize(
    "separations, n, signal",
    [([0, 1, 2, 1.4], 1000, 0.5), ([0.6] * 8, 64, 0.5), ([0.5] * 8, 1024, 0.03), ([0] * 20, 1000, 0.5)],
    ids=["a price for flatness", "small batches", "rare signal", "nothing learned"],
)
def test_of_an_auc_that_only_moves_nothing_is_said(separations, n, signal):
    assert watched(separations, n, signal) == []


def test_a_constraint_that_does_nothing_is_said_once():
    (found,) = looks(inactive="its push is 0")
    assert found.startswith("the constraint has done nothing for 100 batches: its push is 0")
    assert looks(inactive="its push is 0", times=PATIENCE - 1) == []
