"""Metrics of a histogram are those of the events that it was filled with."""

from types import SimpleNamespace

import numpy as np
import pytest
from libmode import metrics
from numpy.testing import assert_allclose

MASS = np.linspace(50, 250, 9)
SCORE = np.linspace(0, 1, 21)


def events(weighted, n=4_000):
    """Scores at the centers of cells, masses in bins, labels, weights of either sign."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, n)
    mass = rng.uniform(50, 250, n)
    score = (np.floor(20 * rng.beta(2 + label, 3 - mass / 200)) + 0.5) / 20
    weight = rng.choice([-0.3, 0.7, 2.0], n, p=[0.1, 0.6, 0.3]) if weighted else np.ones(n)
    return score, mass, label, weight


def filled(score, mass, label, weight, edges=(MASS, SCORE)):
    """(values, variances, mass edges, score edges), with two labels."""
    bins = [*edges, [-0.5, 0.5, 1.5]]
    values, variances = (
        np.histogramdd(np.column_stack([mass, score, label]), bins, weights=power)[0] for power in (weight, weight**2)
    )
    return values, variances, *edges


class Axis(SimpleNamespace):
    def __iter__(self):
        return iter(self.categories)


class Object:
    """As boost_histogram gives its histograms: named axes in any order, with under- and overflow where asked for."""

    def __init__(self, values, variances, axes, flow=()):
        pad = [(int(name in flow),) * 2 for name in axes]
        self._values, self._variances = np.pad(values, pad), np.pad(variances, pad)
        self._inner = tuple(slice(a, -b if b else None) for a, b in pad)
        self.axes = [
            Axis(name=name, edges=edges, traits=SimpleNamespace(underflow=name in flow, overflow=name in flow))
            for name, edges in axes.items()
        ]

    def values(self, flow=False):
        return self._values if flow else self._values[self._inner]

    def variances(self, flow=False):
        return self._variances if flow else self._variances[self._inner]


def as_object(histogram, flow=("mass", "score"), categories=(0, 1)):
    values, variances, mass, score = histogram
    order = (2, 0, 1)
    axes = {"label": np.array([0.0, 1.0, 2.0]), "mass": mass, "score": score}
    made = Object(values.transpose(order), variances.transpose(order), axes, flow)
    made.axes[0].categories = list(categories)
    return made


@pytest.fixture(params=[False, True], ids=["counts", "weights"])
def sample(request):
    return events(request.param)


@pytest.fixture(params=["arrays", "object", "strings"])
def made(request):
    return {
        "arrays": lambda given: given,
        "object": as_object,
        "strings": lambda given: as_object(given, categories=("background", "signal")),
    }[request.param]


def test_selections_of_a_histogram_are_those_of_its_events(sample, made):
    score, mass, label, weight = sample
    histogram = made(filled(*sample))
    for point in ({"threshold": 0.4}, {"signal_efficiency": 0.6}, {"background_efficiency": 0.3}):
        cut = (score, label, mass), {"weight": weight, "bins": MASS} | point
        ours, theirs = metrics.efficiency(histogram, **point), metrics.efficiency(*cut[0], **cut[1])
        assert_allclose([*ours.value, *ours.error], [*theirs.value, *theirs.error], rtol=1e-12, atol=1e-14)
        flat = metrics.flatness(histogram, **point, order=0), metrics.flatness(*cut[0], **cut[1], order=0)
        assert_allclose([flat[0].rms, flat[0].expected], [flat[1].rms, flat[1].expected], rtol=1e-12)


def test_the_roc_curve_of_a_histogram_is_that_of_its_events(sample, made):
    score, mass, label, weight = sample
    histogram = made(filled(*sample))
    ours, theirs = metrics.roc(histogram), metrics.roc(score, label, weight=weight)
    assert_allclose(ours.signal_efficiency, theirs.signal_efficiency, rtol=1e-12)
    assert_allclose(ours.false_positive_rate, theirs.false_positive_rate, rtol=1e-12)
    assert_allclose(ours.threshold[1:], theirs.threshold[1:] - 0.025, atol=1e-12)  # the edges below the centers
    assert_allclose(metrics.auc(histogram), metrics.auc(score, label, weight=weight), rtol=1e-12)
    half = {"signal_efficiency": 0.5}
    want = metrics.rejection(score, label, weight=weight, **half)
    assert_allclose(metrics.rejection(histogram, **half), want, rtol=1e-12)
    threshold = metrics.threshold(score, label, signal_efficiency=0.7, weight=weight)
    assert_allclose(metrics.threshold(histogram, signal_efficiency=0.7), threshold - 0.025, rtol=1e-12)


def test_bins_are_merged_and_the_polynomial_of_fine_cells_is_that_of_the_events():
    rng = np.random.default_rng(1)
    mass = 50 + rng.exponential(60, 200_000)
    mass = mass[mass < 250]
    selected = rng.random(len(mass)) < mass / 500
    score = np.where(selected, 0.9, 0.1)
    histogram = np.histogram2d(mass, score, bins=[np.linspace(50, 250, 401), [0, 0.5, 1]])
    wide = [50.0, 80, 120, 180, 250]
    for order in (0, 1, 2):
        ours = metrics.flatness(histogram, threshold=0.5, bins=wide, order=order)
        theirs = metrics.flatness(mass=mass, selected=selected, bins=wide, order=order)
        assert_allclose(ours.rms, theirs.rms, atol=2e-5)
        assert_allclose(ours.expected, theirs.expected, rtol=1e-3)


def test_under_and_overflow_of_score_count_and_those_of_mass_do_in_the_roc_curve():
    """An event at the upper end of the score axis is in the overflow of boost_histogram."""
    axes = {"mass": np.array([0.0, 1, 2]), "score": np.array([0.0, 0.5, 1]), "label": np.array([0.0, 1, 2])}
    values = np.ones((2, 2, 2))
    histogram = Object(values, values, axes, ("mass", "score"))
    histogram.axes[2].categories = [0, 1]
    histogram._values[1, 3, 0] = histogram._variances[1, 3, 0] = 6  # overflow of score in the first mass bin
    histogram._values[1, 0, 0] = histogram._variances[1, 0, 0] = 2  # underflow
    assert metrics.efficiency(histogram, threshold=0.5).value.tolist() == [0.7, 0.5]
    assert metrics.efficiency(histogram, threshold=1.0).value.tolist() == [0.6, 0.0]
    histogram._values[3, 3, 1] = histogram._variances[3, 3, 1] = 4  # signal above all masses
    curve = metrics.roc(histogram)
    assert curve.threshold.tolist() == [np.inf, 1, 0.5, 0, -np.inf]
    assert_allclose(curve.signal_efficiency, [0, 0.5, 0.75, 1, 1])
    assert_allclose(curve.false_positive_rate, [0, 0.5, 8 / 12, 10 / 12, 1])


def test_weights_without_variances_are_an_error():
    """The values would be taken for numbers of events: with weights of 0.01 no dependence is seen."""
    score, mass, label, _ = events(False)
    for weight in (0.01, 1.5):
        weighted = np.histogram2d(mass, score, [MASS, SCORE], weights=np.full(len(mass), weight))
        with pytest.raises(ValueError, match="the histogram has weights and no variances"):
            metrics.dependence(weighted, order=0)
    values, *edges = np.histogram2d(mass, score, [MASS, SCORE])
    ours = metrics.dependence((values * 0.01, values * 1e-4, *edges), order=0)
    assert ours.p_value == pytest.approx(metrics.dependence((values, *edges), order=0).p_value)


@pytest.mark.parametrize("lowest", [50, 0])
def test_a_score_axis_in_the_place_of_the_mass_is_an_error(lowest):
    score, mass, label, _ = events(False)
    edges = np.linspace(lowest, 250, 11)
    three = np.histogramdd(np.column_stack([score, mass, label]), [SCORE, edges, [0, 1, 2]])
    two = np.histogram2d(score, mass, [SCORE, edges])
    made = Object(two[0], two[0], {"": SCORE, " ": edges}, ("", " "))
    for swapped in (three, two, made):
        with pytest.raises(
            ValueError, match=r"^score and mass are swapped: the mass axis lies in \[0, 1\], and scores"
        ):
            metrics.efficiency(swapped, threshold=150)
    scaled = np.histogram2d((mass - 50) / 200, 5 * score, [SCORE, 5 * SCORE])  # is in order
    assert np.isfinite(metrics.efficiency(scaled, threshold=2.5).value).all()


def test_objects_that_cannot_be_read_say_why():
    values = np.ones((2, 2))
    named = {"mass": np.array([0.0, 1, 2]), "pt": np.array([0.0, 1, 2])}
    with pytest.raises(ValueError, match="axis 'pt': expected mass, score and label"):
        metrics.efficiency(Object(values, values, named), threshold=1)
    without = Object(values, values, {"mass": named["mass"], "score": named["mass"]})
    without.variances = lambda flow: None
    with pytest.raises(ValueError, match="weights and no variances"):
        metrics.efficiency(without, threshold=1)
    with pytest.raises(
        ValueError, match=r"weights and no variances: .* or give \(values, variances, mass edges, score"
    ):
        metrics.efficiency(Object(values / 3, values / 3, {"mass": named["mass"], "score": named["mass"]}), threshold=1)
    labels = as_object((np.ones((2, 2, 2)),) * 2 + (np.array([0, 1, 2]),) * 2, categories=(3, 4))
    with pytest.raises(ValueError, match="no bin for 0, background"):
        metrics.efficiency(labels, threshold=1)
