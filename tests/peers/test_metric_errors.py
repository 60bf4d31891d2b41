"""What is wrong with the input of a metric is named, with its value and its place."""

import numpy as np
import pytest
from libmode import metrics

nan, inf = np.nan, np.inf
SCORE, LABEL, MASS = np.linspace(0.05, 0.95, 10), np.tile([0, 1], 5), np.linspace(-0.9, 0.9, 10)
SELECTED, EDGES = np.arange(10) >= 5, np.linspace(-1, 1, 9)
PLANE = np.stack([MASS, MASS], 1)
LAST_NEGATIVE = np.append(np.ones(9), -20.0)


def put(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def cut(metric=metrics.efficiency, **change):
    return metric(**{"score": SELECTED, "mass": MASS, "bins": EDGES, "threshold": 1} | change)


def at(*events, **change):
    return metrics.efficiency(*events or (SCORE, LABEL, MASS), **change)


BAD = """
metrics.roc(put(SCORE, 3, nan), LABEL) | ValueError | score[3] = nan
metrics.roc(SCORE, LABEL[:9]) | ValueError | label has length 9, but score has length 10
metrics.roc(SCORE, LABEL, weight=put(LABEL, 7, nan)) | ValueError | weight[7] = nan
metrics.auc(SCORE, LABEL, weight=LAST_NEGATIVE) | ValueError | sums to -16 over the signal (label 1)
metrics.threshold(SCORE, LABEL, signal_efficiency=0) | ValueError | signal_efficiency = 0
metrics.rejection(1.0 * LABEL, LABEL, signal_efficiency=0.5) | ValueError | the false positive rate at score >= 1 is 0
metrics.threshold(SCORE, LABEL) | TypeError | give one of signal_efficiency, background_efficiency
cut(bins=0) | ValueError | bins = 0
cut(mass=np.ones(10), bins=20) | ValueError | but all are 1
cut(bins=[2, 3]) | ValueError | mass has no event inside bins, [2, 3]
metrics.check(SCORE, None, MASS, order=0, threshold=0.5, mass_range="all") | TypeError | mass_range = 'all' must be two increasing numbers
cut(weight=LAST_NEGATIVE * 1e200) | ValueError | weight[0] = 1e+200: expected 0, or a size from
cut(mass=PLANE, bins=[[-1, 0], [0.5, 1]]) | ValueError | mass has no event inside bins, [-1, 0] x [0.5, 1]
metrics.check(SCORE, None, MASS, threshold=0.5) | TypeError | order is missing: it says which dependence of the background efficiency
cut(mass=put(PLANE, (3, 1), inf), bins=2) | ValueError | mass[3, 1] = inf
at() | TypeError | a working point is needed
at(signal_efficiency=0.5, threshold=0.1) | TypeError | only one of signal_efficiency and threshold
at(SCORE, None, MASS, signal_efficiency=0.5) | ValueError | label has no signal (label 1)
at(signal_efficiency=50) | ValueError | signal_efficiency = 50
at(MASS + 100, LABEL, SCORE, threshold=0.5) | ValueError | score and mass are swapped
cut(degree=1) | TypeError | unexpected keyword argument 'degree'
cut(signal_eficiency=0.5) | TypeError | unexpected keyword argument 'signal_eficiency'
metrics.roc(np.arange(40.0), np.arange(40)) | ValueError | label has more than 20 different values: are these masses? metrics take (score, label, mass) in this order
metrics.check(SCORE, None, MASS, category=np.ma.masked_equal(LABEL, 1), order=0, threshold=0.5) | TypeError | category[1] is masked
metrics.auc(SCORE, LABEL, background_label=7) | ValueError | background_label = 7: expected one of label's 0, 1
"""
ROWS = [row.split(" | ") for row in BAD.strip().splitlines()]


@pytest.mark.parametrize(("call", "kind", "words"), ROWS, ids=[call for call, *_ in ROWS])
def test_bad_input_is_named(call, kind, words):
    with pytest.raises({"ValueError": ValueError, "TypeError": TypeError}[kind]) as caught:
        eval(call)
    assert words in str(caught.value)
