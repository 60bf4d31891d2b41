"""Labels or scores that are the wrong way round give a warning, and classifiers that do not separate give none."""

import numpy as np
import pytest
from libmode import metrics

RNG = np.random.default_rng(3)
LABEL = RNG.integers(0, 2, 4_000)
MASS = RNG.uniform(50, 250, 4_000)
SCORE = 1 / (1 + np.exp(-RNG.normal(1.5 * LABEL)))
CALLS = {
    "auc": lambda score, label, weight: metrics.auc(score, label, weight=weight),
    "efficiency": lambda score, label, weight: metrics.efficiency(
        score, label, MASS, weight=weight, signal_efficiency=0.5
    ),
    "check": lambda score, label, weight: metrics.check(score, label, MASS, weight=weight, order=0),
}
each = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@each
@pytest.mark.parametrize("weight", [None, RNG.choice([1.0, -0.3], 4_000)], ids=["no weights", "weights"])
def test_labels_the_wrong_way_round_are_said(call, weight):
    with pytest.warns(
        UserWarning, match=r"label or score is the wrong way round: the AUC is 0\.1\d\d, so signal"
    ) as said:
        call(SCORE, 1 - LABEL, weight)
    assert said[0].filename == __file__
    call(SCORE, LABEL, weight)


@each
def test_no_separation_and_ties_are_not_said(call):
    for score in (RNG.random(4_000), np.where(RNG.random(4_000) < 0.5, 0.25, 0.75)):
        call(score, LABEL, None)
        call(score[np.argsort(LABEL)], LABEL, None)
    metrics.auc([0.4, 0.3, 0.2, 0.1], [0, 0, 1, 1])  # too few events to tell
