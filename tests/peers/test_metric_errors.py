"""What is wrong with the input of a metric is named, with its value and its place."""

import libmode
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


def bias(mass=UNIFORM, bins=TWENTY, signal_masses=(0.2,), signal_width=0.1, **given):
    return metrics.spurious_signal(mass, bins, signal_masses, signal_width, **given)


def closure(**change):
    return metrics.closure(**{"score": [1, 2, 3, 4], "second": [4, 2, 3, 1], "label": [0, 0, 1, 0], **change})


def dependence(**change):
    return metrics.dependence(**MANY | change)


def summary(**change):
    return metrics.summary(**{**MANY, "label": np.arange(400) % 2, "order": 0} | change)


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
metrics.rejection(1.0 * LABEL, LABEL) | ValueError | signal_efficiency = 0.5 has a false positive rate of 0, at score >= 1
metrics.jsd(MASS, SELECTED, 2.5) | TypeError | bins = 2.5
metrics.jsd(MASS, SELECTED, 0) | ValueError | bins = 0
metrics.jsd(np.ones(10), SELECTED, 20) | ValueError | every mass is 1
metrics.jsd(MASS, SELECTED, [0.0]) | ValueError | bins has one edge
metrics.jsd(MASS, SELECTED, [0, nan]) | ValueError | bins[1] = nan
metrics.jsd(MASS, SELECTED, [2, 3]) | ValueError | mass has no event inside bins, 2 to 3
metrics.jsd(MASS, SELECTED, EDGES, base=1) | ValueError | base = 1
metrics.jsd(MASS, SCORE, EDGES) | ValueError | selected[0] = 0.05
metrics.jsd(MASS, MASS > 2, EDGES, blind=True) | ValueError | selected has 0 of the sum of weights inside bins
metrics.jsd(MASS, SELECTED, EDGES, weight=LAST_NEGATIVE) | ValueError | weight sums to -20 over the events that are selected in bin 7, [0.75, 1]
metrics.jsd(HISTOGRAM, cut=0.4) | ValueError | cut = 0.4 is no edge of the score axis: the nearest edges are 0 and 0.5
metrics.jsd(HISTOGRAM) | TypeError | cut is missing
metrics.jsd(HISTOGRAM, cut=0.5, bins=[0, 1.5]) | ValueError | bins[1] = 1.5 is no edge of the mass axis
metrics.jsd([1, 2], [0, 1], 2, cut=0.5) | TypeError | cut belongs to a histogram
metrics.jsd((np.ones((2, 3)), [0, 1, 2], [0, 0.5, 1]), cut=0.5) | ValueError | score has 3 edges for 3 bins
metrics.jsd((np.ones((2, 2)), [0, 2, 1], [0, 0.5, 1]), cut=0.5) | ValueError | edges of the mass axis do not increase
metrics.jsd((np.full((2, 2), nan), [0, 1, 2], [0, 0.5, 1]), cut=0.5) | ValueError | values that are not finite
metrics.jsd((-np.ones((2, 2)), [0, 1, 2], [0, 0.5, 1]), cut=0.5) | ValueError | negative variances
metrics.flatness(MASS, SELECTED, EDGES, weight=LAST_NEGATIVE * 1e200) | ValueError | weight[0] = 1e+200: expected 0, or a size from
metrics.flatness(MASS, SELECTED, [-1, 0, 1, 2]) | ValueError | bin 2, [1, 2]: no event
metrics.flatness(PLANE, SELECTED, [2]) | ValueError | bins has length 1
metrics.flatness(PLANE, SELECTED, [[-1, 1], [-1, 0, 1]], weight=LAST_NEGATIVE) | ValueError | cell (0, 1), [-1, 1] x [0, 1]: weight sums to -16
metrics.flatness(PLANE, SELECTED, [[-1, 0], [0.5, 1]]) | ValueError | of all its columns at once
metrics.flatness(MASS, MASS > 2, [-1, 0, 1]) | ValueError | selected has a mean efficiency of 0
metrics.flatness(MASS, SELECTED, EDGES, degree=7) | ValueError | degree = 7 has 8 terms, and 8 bins have events
metrics.flatness(MASS, SELECTED, EDGES, degree=1.0) | TypeError | degree = 1.0
metrics.efficiency(put(PLANE, (3, 1), inf), SELECTED, 2) | ValueError | mass[3, 1] = inf
metrics.jsd(HISTOGRAM, cut=0.5, bins=2) | TypeError | bins = 2: expected edges of the mass axis
metrics.jsd((np.ones((2, 2)), [0, 1, 2]), cut=0.5) | ValueError | expected (values, mass edges, score edges)
metrics.jsd([1, 2]) | TypeError | selected and bins are both needed
metrics.roc([0.1, 0.2]) | TypeError | label is missing
metrics.signal_bias(UNIFORM, TWENTY) | TypeError | signal_mass and signal_width are both needed
bias(None) | TypeError | mass is None
bias(PLANE, 3) | ValueError | mass has 2 columns
bias(bins=None) | TypeError | bins is missing
bias(signal_masses=None) | TypeError | signal_masses and signal_width are both needed
bias(signal_masses=[0.2, 3]) | ValueError | signal_masses[1] = 3: expected it inside bins, from -1 to 1
bias(signal_masses=[0.1, 0.2], signal_width=[0.1]) | ValueError | signal_width has length 1, but signal_masses has length 2
bias(signal_width=0) | ValueError | signal_width[0] = 0
bias(signal_width=1e4) | ValueError | can take the shape of the signal
bias(background="bernstein") | ValueError | background = 'bernstein'
bias(background="power") | ValueError | bins[0] = -1: expected more than 0
bias(UNIFORM + 2, TWENTY + 2, [2.2], background="dijet", degree=1, energy=9) | ValueError | degree = 1: expected at least 2
bias(UNIFORM + 2, TWENTY + 2, [2.2], background="dijet", energy=2) | ValueError | energy = 2 with bins up to 3
bias(background=np.arange(20.0)) | ValueError | background[0] = 0: expected a template above 0
bias(background=np.ones(19)) | ValueError | background has length 19, but there are 20 bins
bias(degree="F") | TypeError | degree = 'F'
bias(UNIFORM + 2, TWENTY + 2, [2.2], background="dijet", degree=5, energy=9) | ValueError | degree = 5: expected 2, 3 or 4
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
metrics.dependence((np.array([[1.0, 2], [0, 0]]), [0, 1, 2], [0, 0.5, 1])) | ValueError | weights of bin 1, [1, 2] sum to 0
metrics.dependence((np.array([[1.0, 0], [2, 2]]), [0, 1, 2], [0, 0.5, 1])) | ValueError | bin 0, [0, 1) has 1 effective events
summary(mass=np.repeat([1.0, 2], 200), order=1) | ValueError | expected at least order + 2
summary(efficiencies=[]) | ValueError | efficiencies is empty
summary(score=put(MANY["score"], 6, 1.5)) | ValueError | score[6] = 1.5 lies outside score_range
summary(weight=np.where(MANY["mass"] < 0.1, -0.1, 1.0)) | ValueError | weight sums to -
summary(events=0) | ValueError | events = 0
summary(bins=2, order=1) | ValueError | bins = 2: expected at least 3
summary(slope=1) | TypeError | unknown option 'slope'
"""
ROWS = [row.split(" | ") for row in BAD.strip().splitlines()]


@pytest.mark.parametrize(("call", "kind", "words"), ROWS, ids=[call for call, *_ in ROWS])
def test_bad_input_is_named(call, kind, words):
    with pytest.raises({"ValueError": ValueError, "TypeError": TypeError}[kind]) as caught:
        eval(call)
    assert words in str(caught.value)


def test_too_little_background_is_a_bad_batch():
    with pytest.raises(libmode.BatchError):
        metrics.summary(np.linspace(0, 1, 101), np.arange(101) > 0, np.arange(101.0), order=0)
