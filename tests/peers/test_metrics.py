"""libmode.metrics, each measure beside scikit-learn, SciPy or its definition written out."""

import itertools

import numpy as np
import pytest
from libmode import metrics, mode_edges, plots
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score, roc_curve

EDGES = np.linspace(-1, 1, 9)
KINDS = ["unit", "positive", "signed"]


def events(seed=0, n=2000, ties=False, kind="unit"):
    """Scores that follow label and mass, labels, masses of which a few lie outside EDGES, weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = rng.uniform(-1.1, 1.1, n)
    score = 1 / (1 + np.exp(-rng.normal(label + 0.5 * mass)))
    weight = {"unit": None, "positive": rng.exponential(1, n), "signed": rng.choice([1.0, -1.0], n, p=[0.9, 0.1])}[kind]
    return (score.round(1) if ties else score), label, mass, weight


# ------------------------------------------------------------------- ROC


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", ["unit", "positive"])
def test_roc_and_auc_are_those_of_scikit_learn(kind, ties):
    score, label, _, weight = events(ties=ties, kind=kind)
    curve = metrics.roc(score, label, weight=weight)
    rate, efficiency, threshold = roc_curve(label, score, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positive_rate, rate, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curve.signal_efficiency, efficiency, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(curve.threshold, threshold)
    assert metrics.auc(score, label, weight=weight) == pytest.approx(
        roc_auc_score(label, score, sample_weight=weight), abs=1e-12
    )


@pytest.mark.parametrize("ties", [False, True])
def test_with_negative_weights_auc_is_still_the_sum_over_pairs(ties):
    score, label, _, weight = events(n=300, ties=ties, kind="signed")
    signal, background = label == 1, label == 0
    higher = np.heaviside(score[signal][:, None] - score[background], 0.5)
    pairs = weight[signal][:, None] * weight[background]
    want = np.sum(pairs * higher) / np.sum(pairs)
    assert metrics.auc(score, label, weight=weight) == pytest.approx(want, rel=1e-12)
    assert ties or np.diff(metrics.roc(score, label, weight=weight).signal_efficiency).min() < 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("signal_efficiency", [1e-9, 0.2, 0.5, 0.55, 0.8, 1])
def test_threshold_is_the_largest_that_keeps_enough_signal(signal_efficiency, kind):
    score, label, _, weight = events(ties=True, kind=kind)
    weight = np.ones(len(score)) if weight is None else weight
    signal = label == 1

    def kept(cut):
        return weight[signal & (score >= cut)].sum() / weight[signal].sum()

    cut = metrics.threshold(score, label, signal_efficiency=signal_efficiency, weight=weight)
    assert cut == max(c for c in np.unique(score) if kept(c) >= signal_efficiency)
    if cut <= score[label == 0].max():
        passed = weight[(label == 0) & (score >= cut)].sum() / weight[label == 0].sum()
        assert metrics.rejection(score, label, signal_efficiency=signal_efficiency, weight=weight) == pytest.approx(
            1 / passed, rel=1e-12
        )


def test_a_threshold_is_not_lost_in_rounding():
    score, label = np.repeat(np.arange(100.0), 2), np.tile([0, 1], 100)
    for percent in range(1, 101):
        for weight in (None, np.full(200, 0.1)):
            assert metrics.threshold(score, label, signal_efficiency=percent / 100, weight=weight) == 100 - percent


def test_the_curve_that_is_drawn():
    axes = Figure().subplots()
    axes.set_xlabel("kept")
    assert plots.roc(axes, ([0, 0.5, 1], [0, 0.1, 1]), label="drawn", color="red", lw=5) is axes
    np.testing.assert_array_equal(axes.lines[0].get_xydata(), [[0, np.nan], [0.5, 10], [1, 1]])
    assert axes.lines[0].get_linewidth() == 5 and axes.get_legend_handles_labels()[1] == ["drawn"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("kept", "background rejection", "log")
    curve = metrics.roc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    assert len(plots.roc(axes, curve).lines[1].get_xdata()) == len(curve.threshold)


# ------------------------------------------------------------------ mass


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_residual_by_hand(kind, order):
    score, _, mass, weight = events(kind=kind)
    passed = (score > 0.6).astype(float)
    cut = metrics.check(passed, None, mass, weight=weight, order=order, threshold=0.5, bins=EDGES).cuts[0]
    e = metrics.efficiency(score > 0.6, None, mass, threshold=1, bins=EDGES, weight=weight)
    weight = np.ones(len(mass)) if weight is None else weight
    assert e.background == pytest.approx(np.histogram(mass, EDGES, weights=weight)[0])
    assert e.selected == pytest.approx(np.histogram(mass[score > 0.6], EDGES, weights=weight[score > 0.6])[0])
    inside = [(mass >= low) & (mass < high) for low, high in itertools.pairwise(EDGES)]
    powers = np.array([[np.average(mass[b] ** k, weights=weight[b]) for k in range(order + 1)] for b in inside])
    residual = e.value - powers @ np.linalg.lstsq(powers, e.value, rcond=None)[0]
    assert cut.residual == pytest.approx(np.sqrt(np.mean(residual**2)) / e.value.mean(), rel=1e-9)
    assert cut.expected == pytest.approx(np.sqrt(np.mean(e.error**2) * (7 - order) / 8) / e.value.mean(), rel=1e-12)


# ------------------------------------------------------- working points


@pytest.mark.parametrize("kind", KINDS)
def test_a_working_point_is_the_mask_that_it_means(kind):
    """Of signal, of background or a threshold; twenty bins of equal numbers of background events by default."""
    score, label, mass, weight = events(ties=True, kind=kind)
    background = label == 0
    cut = metrics.threshold(score, label, weight=weight, signal_efficiency=0.4)
    other = metrics.threshold(score, label, weight=weight, background_efficiency=0.3)
    own = np.ones(len(score)) if weight is None else weight
    kept = own[background & (score >= other)].sum() / own[background].sum()
    assert kept >= 0.3 > own[background & (score > other)].sum() / own[background].sum()
    for point, threshold in (
        ({"signal_efficiency": 0.4}, cut),
        ({"background_efficiency": 0.3}, other),
        ({"threshold": cut}, cut),
    ):
        edges = mode_edges(mass[background], bins=20)
        mask = {"score": score[background] >= threshold, "threshold": 1, "mass": mass[background], "bins": edges}
        mask["weight"] = None if weight is None else weight[background]
        found, want = metrics.efficiency(score, label, mass, weight=weight, **point), metrics.efficiency(**mask)
        np.testing.assert_array_equal([found.value, found.error], [want.value, want.error])
        np.testing.assert_array_equal(found.edges, edges)
        assert metrics.check(score, label, mass, weight=weight, order=1, **point).cuts[0].threshold == threshold
    everything = metrics.efficiency(score, label, mass, weight=weight, threshold=-np.inf, bins=4)
    np.testing.assert_array_equal(everything.value, np.ones(4))


# ------------------------------------------------------- several masses

PLANE = [np.array([-1, -0.4, 0.1, 1]), np.array([0, 1, 3, 4, 5.0])]


def in_the_plane(kind, n=3000):
    """Masses of which some lie outside PLANE and none in one corner, what is selected, and weights."""
    rng = np.random.default_rng(0)
    mass = np.column_stack([rng.uniform(-1.1, 1.1, n), rng.uniform(-0.3, 5.3, n)])
    mass = mass[(mass[:, 0] < 0.1) | (mass[:, 1] < 4)]
    selected = rng.random(len(mass)) < 0.4 + 0.1 * mass[:, 0]
    return mass, selected, None if kind == "unit" else rng.choice([1.0, -1.0], len(mass), p=[0.9, 0.1])


@pytest.mark.parametrize("kind", ["unit", "signed"])
def test_cells_of_two_masses_by_hand(kind):
    mass, selected, weight = in_the_plane(kind)
    given = {"score": selected, "threshold": 1, "mass": mass, "bins": PLANE, "weight": weight}
    found = metrics.efficiency(**given)  # no warning of the empty corner
    weight = np.ones(len(mass)) if weight is None else weight
    assert [edges.tolist() for edges in found.edges] == [edges.tolist() for edges in PLANE]
    for i, j in np.ndindex(3, 4):
        here = (PLANE[0][i] <= mass[:, 0]) & (mass[:, 0] < PLANE[0][i + 1])
        here &= (PLANE[1][j] <= mass[:, 1]) & (mass[:, 1] < PLANE[1][j + 1])
        if (i, j) == (2, 3):
            assert np.isnan([found.value[i, j], found.error[i, j]]).all()
            continue
        w, p = weight[here], selected[here]
        value = np.sum(w * p) / np.sum(w)
        error = np.sqrt(np.sum(w**2 * (p - value) ** 2)) / np.sum(w)
        assert (found.value[i, j], found.error[i, j]) == (pytest.approx(value), pytest.approx(error))


# ------------------------------------------------------------ not known

MASS, SELECTED = np.linspace(-0.9, 0.9, 10), np.arange(10) >= 5


def test_an_efficiency_that_is_not_known_is_nan_with_a_warning():
    weight = np.append(np.ones(9), -1.0)
    with pytest.warns(RuntimeWarning) as caught:
        found = metrics.efficiency(SELECTED, None, MASS, threshold=1, bins=[-1, -0.5, 0.5, 0.8, 1, 2, 3], weight=weight)
    said = "efficiency is NaN in bins [3, 4, 5]: no positive sum of weights"
    assert [str(warning.message) for warning in caught] == [said]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(np.isnan(found.value), [False, False, False, True, True, True])
    np.testing.assert_array_equal(np.isnan(found.error), [False, False, False, True, True, True])
