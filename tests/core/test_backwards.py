"""Labels or scores that are the wrong way round give a warning, and classifiers that do not separate give none."""

from functools import partial

import numpy as np
import pytest
from libmode import metrics

RNG = np.random.default_rng(3)
LABEL = RNG.integers(0, 2, 4_000)
MASS = RNG.uniform(50, 250, 4_000)
SCORE = 1 / (1 + np.exp(-RNG.normal(1.5 * LABEL)))
CALLS = {
    "auc": metrics.auc,
    "efficiency": partial(metrics.efficiency, mass=MASS, signal_efficiency=0.5),
    "check": partial(metrics.check, mass=MASS, order=0),
}
each = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@each
@pytest.mark.parametrize("weight", [None, RNG.choice([1.0, -0.3], 4_000)], ids=["no weights", "weights"])
def test_labels_the_wrong_way_round_are_said(call, weight):
    with pytest.warns(
        UserWarning, match=r"label or score is the wrong way round: the AUC is 0\.1\d\d, so signal"
    ) as said:
        call(SCORE, 1 - LABEL, weight=weight)
    assert said[0].filename == __file__
    call(SCORE, LABEL, weight=weight)


@each
def test_no_separation_and_ties_are_not_said(call):
    for score in (RNG.random(4_000), np.where(RNG.random(4_000) < 0.5, 0.25, 0.75)):
        call(score, LABEL)
        call(score[np.argsort(LABEL)], LABEL)
    metrics.auc([0.4, 0.3, 0.2, 0.1], [0, 0, 1, 1])  # too few events to tell
