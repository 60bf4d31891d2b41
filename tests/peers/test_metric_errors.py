"""What is wrong with the input of a metric is named, with its value and its place."""

import numpy as np
import pytest
from libmode import metrics

nan, inf = np.nan, np.inf
SCORE, LABEL, MASS = np.linspace(0.05, 0.95, 10), np.tile([0, 1], 5), np.linspace(-0.9, 0.9, 10)
SELECTED, EDGES, TWENTY = np.arange(10) >= 5, np.linspace(-1, 1, 9), np.linspace(-1, 1, 21)
UNIFORM, PLANE = np.repeat(np.linspace(-0.95, 0.95, 20), 10), np.stack([MASS, MASS], 1)
LAST_NEGATIVE = np.append(np.ones(9), -20.0)
HISTOGRAM = (np.ones((2, 2)), [0, 1, 2], [0, 0.5, 1])
MANY = {"score": np.linspace(0.1, 0.9, 400) ** 2, "mass": np.linspace(0, 1, 400)}


def put(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def bias(**change):
    given = {"mass": UNIFORM, "bins": TWENTY, "signal_masses": (0.2,), "signal_width": 0.1, "order": 0}
    return metrics.spurious_signal(**given | {"background_order": 2} | change)


def cut(metric=metrics.efficiency, **change):
    return metric(**{"mass": MASS, "selected": SELECTED, "bins": EDGES} | change)


def flat(**change):
    return cut(metrics.flatness, **{"order": 0} | change)


def at(*events, **change):
    return metrics.flatness(*events or (SCORE, LABEL, MASS), **{"order": 0} | change)


def closure(**change):
    return metrics.closure(**{"score": [1, 2, 3, 4], "second": [4, 2, 3, 1], "label": [0, 0, 1, 0], **change})


def dependence(**change):
    return metrics.dependence(**MANY | {"order": 0} | change)


BAD = """
metrics.roc([], []) | ValueError | score is empty
metrics.roc(put(SCORE, 3, nan), LABEL) | ValueError | score[3] = nan
metrics.roc(SCORE, LABEL[:9]) | ValueError | label has length 9, but score has length 10
metrics.roc(SCORE, put(LABEL, 2, -1)) | ValueError | label[2] = -1: expected 1 for signal or 0
metrics.roc(SCORE, LABEL, weight=put(LABEL, 7, nan)) | ValueError | weight[7] = nan
metrics.roc(SCORE.reshape(5, 2), LABEL) | ValueError | score has shape (5, 2)
metrics.roc(HISTOGRAM) | ValueError | the histogram has no axis label
metrics.roc((np.ones((2, 2, 3)), [0, 1, 2], [0, 1, 2])) | ValueError | expected 2 labels
metrics.auc(SCORE, np.ones(10)) | ValueError | no background (label 0)
metrics.auc(SCORE, LABEL, weight=LAST_NEGATIVE) | ValueError | sums to -16 over the signal (label 1)
metrics.threshold(SCORE, LABEL, signal_efficiency=0) | ValueError | signal_efficiency = 0
metrics.threshold(SCORE, LABEL, signal_efficiency="half") | TypeError | signal_efficiency = 'half'
metrics.rejection(1.0 * LABEL, LABEL, signal_efficiency=0.5) | ValueError | the false positive rate at score >= 1 is 0
metrics.threshold(SCORE, LABEL) | TypeError | give one of signal_efficiency, background_efficiency
cut(bins=2.5) | TypeError | bins = 2.5
cut(bins=0) | ValueError | bins = 0
cut(mass=np.ones(10), bins=20) | ValueError | but all are 1
cut(bins=[0.0]) | ValueError | bins has one edge
cut(bins=[0, nan]) | ValueError | bins[1] = nan
cut(bins=[2, 3]) | ValueError | mass has no event inside bins, 2 to 3
cut(selected=SCORE) | ValueError | selected[0] = 0.05
metrics.efficiency(HISTOGRAM, threshold=0.4) | ValueError | threshold = 0.4 is no edge of the score axis: the nearest edges are 0 and 0.5
metrics.efficiency(HISTOGRAM) | TypeError | a working point is needed: give one of signal_efficiency, background_efficiency, threshold
metrics.efficiency(HISTOGRAM, threshold=0.5, bins=[0, 1.5]) | ValueError | bins[1] = 1.5 is no edge of the mass axis
metrics.efficiency([1, 2], [0, 1], [1, 2], threshold=0.5, selected=[0, 1]) | TypeError | selected and score both say which events are selected
metrics.efficiency((np.ones((2, 3)), [0, 1, 2], [0, 0.5, 1]), threshold=0.5) | ValueError | score has 3 edges for 3 bins
metrics.efficiency((np.ones((2, 2)), [0, 2, 1], [0, 0.5, 1]), threshold=0.5) | ValueError | edges of the mass axis do not increase
metrics.efficiency((np.full((2, 2), nan), [0, 1, 2], [0, 0.5, 1]), threshold=0.5) | ValueError | values that are not finite
metrics.efficiency((-np.ones((2, 2)), [0, 1, 2], [0, 0.5, 1]), threshold=0.5) | ValueError | negative variances
metrics.efficiency((np.ones((2, 2)), np.eye(2), [0, 1, 2], [0, 0.5, 1]), threshold=0.5) | ValueError | variances, or none of filled cells
metrics.roc((np.zeros((2, 2)), [0, 1, 2], [0, 0.5, 1])) | ValueError | the histogram has no background inside its mass axis
metrics.efficiency((np.ones(2), [0, 1, 2]), threshold=0.5) | ValueError | threshold = 0.5: the histogram has no score axis
metrics.dependence((np.ones(3), [0, 1, 2, 3]), order=0) | ValueError | the histogram has no score axis
bias(bins=[-1, 0, 0.5, 1], background_order=None) | ValueError | bins has 4 edges: a polynomial background and a signal need 5
metrics.check(SCORE, None, MASS, order=0, threshold=0.5, mass_range="all") | TypeError | mass_range has dtype
flat(weight=LAST_NEGATIVE * 1e200) | ValueError | weight[0] = 1e+200: expected 0, or a size from
flat(bins=[-1, 0, 1, 2]) | ValueError | bin 2, [1, 2]: no event
flat(mass=PLANE, bins=[2]) | ValueError | bins has length 1
flat(mass=PLANE, bins=[[-1, 1], [-1, 0, 1]], weight=LAST_NEGATIVE) | ValueError | cell (0, 1), [-1, 1] x [0, 1]: weight sums to -16
flat(mass=PLANE, bins=[[-1, 0], [0.5, 1]]) | ValueError | of all columns at once
flat(selected=MASS > 2, bins=[-1, 0, 1]) | ValueError | the selection has a mean efficiency of 0
flat(order=7) | ValueError | order = 7 has 8 terms, and 8 bins have events
flat(order=1.0) | TypeError | order = 1.0
flat(order=None) | TypeError | order is missing: it says which dependence of the background efficiency
flat(degree=1) | TypeError | flatness: unknown argument 'degree'
flat(signal_eficiency=0.5) | TypeError | did you mean signal_efficiency?
cut(mass=put(PLANE, (3, 1), inf), bins=2) | ValueError | mass[3, 1] = inf
metrics.efficiency(HISTOGRAM, threshold=0.5, bins=2) | TypeError | bins = 2: expected edges of the mass axis
metrics.efficiency((np.ones((2, 2)), [0, 1, 2]), threshold=0.5) | ValueError | expected (values, mass edges, score edges)
metrics.efficiency([1, 2]) | TypeError | mass is None
cut(selected=None) | TypeError | score is missing: a working point needs it
at() | TypeError | a working point is needed
at(signal_efficiency=0.5, threshold=0.1) | TypeError | only one of signal_efficiency and threshold
at(SCORE, None, MASS, signal_efficiency=0.5) | ValueError | label has no signal (label 1)
at(signal_efficiency=50) | ValueError | signal_efficiency = 50
at(threshold=nan) | ValueError | threshold = nan
at(SCORE, MASS, LABEL, threshold=0.5) | ValueError | expected 1 for signal or 0 for background; metrics take (score, label, mass) in this order
at(MASS + 100, LABEL, SCORE, threshold=0.5) | ValueError | score and mass are swapped
at(SCORE, np.ones(10), MASS, threshold=0.5) | ValueError | label is 1 for all events
at(HISTOGRAM, signal_efficiency=0.5) | ValueError | the histogram has no axis label
metrics.roc([0.1, 0.2]) | TypeError | label is missing
metrics.signal_bias(mass=UNIFORM, order=0) | TypeError | signal_mass is missing
metrics.spurious_signal(HISTOGRAM, order=0) | TypeError | signal_masses and signal_width are needed with a histogram
bias(mass=None) | TypeError | mass is None
bias(mass=PLANE) | ValueError | mass has 2 columns
bias(order=None) | TypeError | order is missing
bias(signal_masses=[2], bins=None) | ValueError | the signal mass 2 is outside the background, from -0.95 to 0.95
bias(signal_masses=[0.2, 3]) | ValueError | signal_masses[1] = 3: expected it inside bins, from -1 to 1
bias(signal_masses=[0.1, 0.2, 0.3], signal_width=[0.1, 0.1]) | ValueError | signal_width has length 2, but signal_masses has length 3
bias(signal_width=0) | ValueError | signal_width[0] = 0
bias(signal_width=1e4) | ValueError | can take the shape of the signal
bias(background="bernstein") | ValueError | background = 'bernstein'
bias(background="power") | ValueError | bins[0] = -1: expected more than 0
bias(mass=UNIFORM + 2, bins=TWENTY + 2, signal_masses=[2.2], background="dijet", background_order=1, energy=9) | ValueError | background_order = 1: must be at least 2
bias(mass=UNIFORM + 2, bins=TWENTY + 2, signal_masses=[2.2], background="dijet", energy=2) | ValueError | energy = 2 with bins up to 3
bias(background=np.arange(20.0)) | ValueError | background[0] = 0: expected a template above 0
bias(background=np.ones(19)) | ValueError | background has length 19, but there are 20 bins
bias(background_order="F") | TypeError | background_order = 'F'
bias(background_order=18) | ValueError | background_order + order = 18 with 20 bins
closure(label=[1, 1, 1, 1]) | ValueError | label is 1 for all events
closure(weight=[0, 0, 0, 0]) | ValueError | weight sums to 0 over the background
closure(fractions=[]) | ValueError | fractions = []
dependence(mass=np.ones((400, 2))) | ValueError | mass has shape (400, 2)
dependence(mass=np.ones(400)) | ValueError | mass: all 400 selected events have the same mass 1
dependence(weight=np.where(np.arange(400) < 50, -1, 1), bins=8) | ValueError | bin 0 of 8
dependence(order=2, bins=3) | ValueError | bins = 3: expected 4 to 512 at order = 2
dependence(score=np.arange(6000) / 6000, mass=np.arange(6000.0), bins=600) | ValueError | bins = 600
dependence(score=HISTOGRAM) | TypeError | mass belongs to events
metrics.dependence(HISTOGRAM, order=1) | ValueError | has 2 mass bins: expected 3 to 512
metrics.dependence((np.array([[1.0, 2], [0, 0]]), [0, 1, 2], [0, 0.5, 1]), order=0) | ValueError | weights of bin 1, [1, 2] sum to 0
metrics.dependence((np.array([[1.0, 0], [2, 2]]), [0, 1, 2], [0, 0.5, 1]), order=0) | ValueError | bin 0, [0, 1) has 1 effective events
"""
ROWS = [row.split(" | ") for row in BAD.strip().splitlines()]


@pytest.mark.parametrize(("call", "kind", "words"), ROWS, ids=[call for call, *_ in ROWS])
def test_bad_input_is_named(call, kind, words):
    with pytest.raises({"ValueError": ValueError, "TypeError": TypeError}[kind]) as caught:
        eval(call)
    assert words in str(caught.value)
