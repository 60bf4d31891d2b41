"""libmode.metrics, each measure beside scikit-learn, SciPy, hep_ml or its definition written out."""

import itertools
import subprocess
import sys

import numpy as np
import pandas
import pytest
from hep_ml.metrics import BinBasedCvM
from libmode import metrics
from scipy.spatial.distance import jensenshannon
from scipy.stats import norm
from sklearn.metrics import roc_auc_score, roc_curve

EDGES = np.linspace(-1, 1, 9)
KINDS = ["unit", "positive", "signed"]


def events(seed=0, n=2000, ties=False, kind="unit"):
    """Scores that follow label and mass, labels, masses of which a few lie outside EDGES, weights."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = rng.uniform(-1.1, 1.1, n)
    score = 1 / (1 + np.exp(-rng.normal(label + 0.5 * mass)))
    weight = {
        "unit": None,
        "positive": rng.exponential(1, n),
        "signed": rng.choice([1.0, -1.0], n, p=[0.9, 0.1]),
    }[kind]
    return (score.round(1) if ties else score), label, mass, weight


def test_only_what_is_asked_for_is_imported():
    code = "import sys, libmode; assert 'libmode.metrics' not in sys.modules; import libmode.metrics as metrics; "
    code += "metrics.auc([0.1, 0.2], [0, 1]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "libmode.metrics" in loaded
    assert not {"scipy", "sklearn", "pandas"} & set(loaded)


@pytest.mark.parametrize("name", metrics.__all__)
def test_every_public_name_is_documented(name):
    assert getattr(metrics, name).__doc__


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


def test_r50_of_two_gaussians():
    """Unit Gaussians, the signal's 2 higher: half of the signal is above 2, where the background has norm.sf(2)."""
    rng = np.random.default_rng(1)
    label = np.arange(400_000) % 2
    score = rng.normal(2 * label)
    passing = 200_000 * norm.sf(2)
    assert metrics.rejection(score, label) == pytest.approx(1 / norm.sf(2), rel=5 / np.sqrt(passing))
    assert metrics.auc(score, label) == pytest.approx(norm.cdf(np.sqrt(2)), abs=3e-3)


# ------------------------------------------------------------------ mass


def histogram(mass, weight, which):
    weight = np.ones(len(mass)) if weight is None else weight
    return np.array(
        [
            weight[which & (mass >= low) & ((mass < high) | ((mass == high) & (high == EDGES[-1])))].sum()
            for low, high in zip(EDGES[:-1], EDGES[1:], strict=True)
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("base", [2, np.e, 10])
def test_jsd_is_the_square_of_scipys_distance(base, kind):
    score, _, mass, weight = events(kind=kind)
    mass[:3] = [-1, 1, 0.25]
    selected = score > 0.6
    want = jensenshannon(histogram(mass, weight, selected), histogram(mass, weight, ~selected), base) ** 2
    assert metrics.jsd(mass, selected, EDGES, base=base, weight=weight) == pytest.approx(want, abs=1e-12, rel=1e-9)


def test_a_number_of_bins_goes_from_the_lowest_to_the_highest_mass():
    rng = np.random.default_rng(3)
    mass, selected = rng.exponential(60, 1000) + 50, rng.random(1000) < 0.3
    edges = np.linspace(mass.min(), mass.max(), 21)
    assert metrics.jsd(mass, selected, 20) == metrics.jsd(mass, selected, edges)


def test_jsd_at_its_ends():
    mass = np.repeat([-0.5, 0.5], 10)
    assert metrics.jsd(mass, mass > 0, EDGES) == pytest.approx(1, rel=1e-15)
    assert metrics.jsd(mass, mass > 0, EDGES, base=np.e) == pytest.approx(np.log(2), rel=1e-15)
    assert metrics.jsd(mass, np.tile([0, 1], 10), EDGES) == 0


@pytest.mark.parametrize("kind", ["unit", "positive"])
@pytest.mark.parametrize(("share", "base"), [(0.1, 2), (0.6, np.e)])
def test_the_jsd_of_a_blind_selection_is_the_mean_over_selections_at_random(kind, share, base):
    _, _, mass, weight = events(n=8000, kind=kind)
    rng = np.random.default_rng(7)
    selected = rng.random(8000) < share
    toys = [metrics.jsd(mass, rng.permutation(selected), EDGES, base=base, weight=weight) for _ in range(600)]
    # 7 degrees of freedom: the mean of 600 is known to 2 %; the next order of the fluctuations adds 2 % or less.
    assert metrics.jsd(mass, selected, EDGES, base=base, blind=True, weight=weight) == pytest.approx(
        np.mean(toys), rel=0.08
    )


@pytest.mark.parametrize("kind", KINDS)
def test_efficiency_and_its_error_by_hand(kind):
    score, _, mass, weight = events(kind=kind)
    selected = score > 0.6
    found = metrics.efficiency(mass, selected, EDGES, weight=weight)
    weight = np.ones(len(mass)) if weight is None else weight
    for b, (low, high) in enumerate(zip(EDGES[:-1], EDGES[1:], strict=True)):
        w, p = (values[(mass >= low) & (mass < high)] for values in (weight, selected))
        value = np.sum(w * p) / np.sum(w)
        assert found.value[b] == pytest.approx(value, rel=1e-12)
        assert found.error[b] == pytest.approx(np.sqrt(np.sum(w**2 * (p - value) ** 2)) / np.sum(w), rel=1e-12)
        if kind == "unit":
            assert found.error[b] == pytest.approx(np.sqrt(value * (1 - value) / len(w)), rel=1e-12)
    np.testing.assert_array_equal(found.edges, EDGES)


def test_the_error_of_a_weighted_efficiency_is_its_spread():
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        weight = rng.choice([1.0, 3.0, -0.5], 500)
        found.append(metrics.efficiency(np.zeros(500), rng.random(500) < 0.3, [-1, 1], weight=weight))
    spread = np.std([f.value[0] for f in found])
    assert np.mean([f.error[0] for f in found]) == pytest.approx(spread, rel=4 / np.sqrt(2 * 400))


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_flatness_by_hand(kind, degree):
    score, _, mass, weight = events(kind=kind)
    selected = score > 0.6
    found = metrics.flatness(mass, selected, EDGES, degree=degree, weight=weight)
    e = metrics.efficiency(mass, selected, EDGES, weight=weight)
    weight = np.ones(len(mass)) if weight is None else weight
    inside = [(mass >= low) & (mass < high) for low, high in itertools.pairwise(EDGES)]
    powers = np.array([[np.average(mass[b] ** k, weights=weight[b]) for k in range(degree + 1)] for b in inside])
    residual = e.value - powers @ np.linalg.lstsq(powers, e.value, rcond=None)[0]
    by_bin = metrics.residual(mass, selected, EDGES, degree=degree, weight=weight)
    np.testing.assert_allclose(by_bin.value, residual / e.value.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_bin.error, e.error / e.value.mean(), rtol=1e-12)
    assert by_bin.flatness == found
    assert found.rms == pytest.approx(np.sqrt(np.mean(residual**2)) / e.value.mean(), rel=1e-9)
    assert found.expected == pytest.approx(np.sqrt(np.mean(e.error**2) * (7 - degree) / 8) / e.value.mean(), rel=1e-12)


@pytest.mark.parametrize("degree", [0, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_expected_flatness_is_that_of_polynomial_efficiencies(weighted, degree):
    rng = np.random.default_rng(3)
    toys = []
    for _ in range(300):
        mass = rng.uniform(-1, 1, 4000)
        selected = rng.random(4000) < 0.3 + (0.2 * mass**2 - 0.1 * mass if degree else 0)
        weight = rng.choice([1.0, 2.0, -0.5], 4000) if weighted else None
        toys.append(metrics.flatness(mass, selected, EDGES, degree=degree, weight=weight))
    rms, expected = (np.sqrt(np.mean([getattr(toy, name) ** 2 for toy in toys])) for name in ("rms", "expected"))
    # rms^2 of k - degree - 1 degrees of freedom has a relative width of sqrt(2 / that).
    assert rms == pytest.approx(expected, rel=4 * np.sqrt(2 / (7 - degree) / 300) / 2 + 0.01)


def test_the_wide_last_bin_of_a_falling_spectrum_is_no_residual():
    rng = np.random.default_rng(6)
    mass = 50 + rng.exponential(60, 400_000)
    selected = rng.random(400_000) < 0.1 + 0.001 * (mass - 50)
    found = metrics.flatness(mass, selected, np.quantile(mass, np.linspace(0, 1, 21)), degree=1)
    assert found.rms < 1.5 * found.expected  # 18 degrees of freedom: 1 +- 0.17


def test_a_bump_is_not_flat():
    rng = np.random.default_rng(4)
    mass = rng.uniform(-1, 1, 200_000)
    selected = rng.random(200_000) < 0.2 + 0.3 * np.exp(-0.5 * ((mass - 0.2) / 0.1) ** 2)
    found = metrics.flatness(mass, selected, np.linspace(-1, 1, 21), degree=2)
    assert found.rms > 10 * found.expected


# ------------------------------------------------------- Cramer-von Mises


@pytest.mark.parametrize("kind", ["unit", "positive"])
@pytest.mark.parametrize("ties", [False, True])
def test_cvm_flatness_is_that_of_hep_ml(ties, kind):
    score, _, mass, weight = events(ties=ties, kind=kind)
    weight = np.ones(len(score)) if weight is None else weight
    background = np.zeros(len(score))
    theirs = BinBasedCvM(uniform_features=["mass"], uniform_label=0, n_bins=7)
    theirs.fit(pandas.DataFrame({"mass": mass}), background, sample_weight=weight)
    want = theirs(background, np.column_stack([1 - score, score]), sample_weight=weight)
    bins = np.linspace(mass.min(), mass.max(), 8)
    assert metrics.cvm_flatness(score, mass, bins, weight=weight) == pytest.approx(want, rel=1e-10)


def test_cvm_flatness_by_hand_with_negative_weights_and_an_empty_bin():
    score, _, mass, weight = events(n=300, ties=True, kind="signed")
    bins = [-1, -0.2, 0.5, 2, 3]
    inside = mass >= -1
    score, mass, weight = score[inside], mass[inside], weight[inside]
    half = np.heaviside(score[:, None] - score, 0.5)
    overall = half @ weight / weight.sum()
    want = 0
    for low, high in ((-1, -0.2), (-0.2, 0.5), (0.5, 2)):
        own = np.where((mass >= low) & (mass < high), weight, 0)
        distance = np.sum(weight * (half @ own / own.sum() - overall) ** 2) / weight.sum()
        want += own.sum() / weight.sum() * distance
    assert metrics.cvm_flatness(score, mass, bins, weight=weight) == pytest.approx(want, rel=1e-10)


# ------------------------------------------------------------ signal bias

MASS_BINS = np.linspace(-1, 1, 31)
SIGNAL = {"signal_mass": 0.2, "signal_width": 0.1}


def spectrum(rng, n=3000, injected=0):
    """Masses of a density that falls linearly to a third, and a Gaussian; all numbers are Poisson's."""
    falling = 1 - 2 * np.sqrt(rng.random(rng.poisson(n / 2)))
    flat = rng.uniform(-1, 1, rng.poisson(n / 2))
    return np.concatenate([falling, flat, rng.normal(0.2, 0.1, rng.poisson(injected))])


@pytest.mark.parametrize("injected", [0, 300])
@pytest.mark.parametrize("kind", KINDS)
def test_pulls_have_mean_0_and_width_1(kind, injected):
    rng = np.random.default_rng(6)
    pulls, chi2 = [], []
    for _ in range(300):
        mass = spectrum(rng, injected=injected)
        weight = {
            "unit": None,
            "positive": rng.uniform(0.5, 1.5, len(mass)),
            "signed": rng.choice([1.25, -1.25], len(mass), p=[0.9, 0.1]),
        }[kind]
        found = metrics.signal_bias(mass, MASS_BINS, **SIGNAL, degree=1, weight=weight)
        pulls.append((found.signal - injected) / found.error)
        chi2.append(found.chi2 / found.ndof)
    assert np.mean(pulls) == pytest.approx(0, abs=4 / np.sqrt(300))
    assert np.std(pulls) == pytest.approx(1, abs=4 / np.sqrt(600))
    assert np.mean(chi2) == pytest.approx(1, abs=0.1)


def test_the_fit_is_the_best_and_its_error_the_curvature():
    """Of independent functions: densities integrated numerically, Poisson probabilities, a scan of the signal."""
    from scipy.integrate import quad
    from scipy.optimize import minimize
    from scipy.stats import poisson

    mass = spectrum(np.random.default_rng(7), injected=100)
    bins = np.linspace(-1, 1, 13)
    count = np.histogram(mass, bins)[0]
    ranges = list(zip(bins[:-1], bins[1:], strict=True))
    shape = np.array([quad(norm(0.2, 0.1).pdf, *r)[0] for r in ranges])
    powers = np.array([[quad(lambda m, k=k: m**k, *r)[0] for k in range(3)] for r in ranges])

    def deviance(parameters, signal):
        mu = powers @ parameters + signal * shape
        return np.inf if mu.min() <= 0 else -2 * np.sum(poisson.logpmf(count, mu) - poisson.logpmf(count, count))

    def profile(signal):
        start = np.linalg.lstsq(powers, count - signal * shape, rcond=None)[0]
        options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 10_000, "maxfev": 10_000}
        return minimize(deviance, start, args=(signal,), method="Nelder-Mead", options=options).fun

    found = metrics.signal_bias(mass, bins, **SIGNAL, degree=2)
    at = found.signal + found.error * np.array([-0.1, 0, 0.1])
    low, best, high = map(profile, at)
    assert found.chi2 == pytest.approx(best, abs=1e-4)
    assert low - best == pytest.approx(0.01, rel=0.05)
    assert high - best == pytest.approx(0.01, rel=0.05)
    assert found.selected == count.sum()
    assert found.ndof == 12 - 4


def test_a_template_is_a_signal_shape():
    mass = spectrum(np.random.default_rng(8), injected=200)
    shape = np.diff(norm(0.2, 0.1).cdf(MASS_BINS))
    gaussian, template = (
        metrics.signal_bias(mass, MASS_BINS, **signal) for signal in (SIGNAL, {"template": 40 * shape})
    )
    assert template.signal == pytest.approx(gaussian.signal * shape.sum(), rel=1e-6)
    assert template.error == pytest.approx(gaussian.error * shape.sum(), rel=1e-4)


def test_scaled_weights_scale_the_signal_and_its_error():
    mass = spectrum(np.random.default_rng(9))
    one = metrics.signal_bias(mass, MASS_BINS, **SIGNAL)
    scaled = metrics.signal_bias(mass, MASS_BINS, **SIGNAL, weight=np.full(len(mass), 0.02))
    assert scaled.signal == pytest.approx(0.02 * one.signal, rel=1e-4)
    assert scaled.error == pytest.approx(0.02 * one.error, rel=1e-4)
    assert scaled.chi2 == pytest.approx(one.chi2, rel=1e-6)
    assert one.significance == one.signal / one.error


def test_a_carved_bump_is_found_where_it_is():
    rng = np.random.default_rng(10)
    mass = rng.uniform(-1, 1, 40_000)
    carved = rng.random(40_000) < 0.1 + 0.1 * np.exp(-0.5 * ((mass - 0.2) / 0.1) ** 2)
    scanned = np.linspace(-0.8, 0.8, 17)
    found = metrics.spurious_signal(mass[carved], MASS_BINS, scanned, 0.1)
    assert found.signal_mass[np.argmax(found.significance)] == pytest.approx(0.2)
    bump = 40_000 * 0.1 * np.sqrt(2 * np.pi) * 0.1 / 2
    assert found.signal[10] == pytest.approx(bump, abs=4 * found.error[10])
    assert found.significance[10] > 10
    smooth = rng.random(40_000) < 0.1 + 0.05 * mass**2
    assert np.abs(metrics.spurious_signal(mass[smooth], MASS_BINS, scanned, 0.1).significance).max() < 4

    alone = metrics.signal_bias(mass[carved], MASS_BINS, signal_mass=scanned[3], signal_width=0.07)
    one = metrics.spurious_signal(mass[carved], MASS_BINS, scanned[[2, 3]], [0.1, 0.07])
    assert (one.signal[1], one.error[1]) == (alone.signal, alone.error)


# -------------------------------------------------------------- bad input

SCORE, LABEL, MASS = np.linspace(0.05, 0.95, 10), np.tile([0, 1], 5), np.linspace(-0.9, 0.9, 10)
SELECTED = np.arange(10) >= 5
UNIFORM = np.repeat(np.linspace(-0.95, 0.95, 20), 10)
TWENTY = np.linspace(-1, 1, 21)
LAST_NEGATIVE = np.append(np.ones(9), -20.0)


def put(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def bias(mass=UNIFORM, bins=TWENTY, signal_mass=0.2, signal_width=0.1, **given):
    return metrics.signal_bias(mass, bins, signal_mass=signal_mass, signal_width=signal_width, **given)


BAD = [
    # arguments of one call, the type raised, parts of the message
    (lambda: metrics.roc([], []), ValueError, "score is empty"),
    (lambda: metrics.roc(put(SCORE, 3, np.nan), LABEL), ValueError, r"score\[3\] = nan: expected a finite"),
    (lambda: metrics.roc(put(SCORE, 4, np.inf), LABEL), ValueError, r"score\[4\] = inf"),
    (lambda: metrics.roc(SCORE, LABEL[:9]), ValueError, "label has length 9, but score has length 10"),
    (lambda: metrics.roc(SCORE, put(LABEL, 2, -1)), ValueError, r"label\[2\] = -1: expected 1 for signal or 0"),
    (lambda: metrics.roc(SCORE, LABEL, weight=put(LABEL, 7, np.nan)), ValueError, r"weight\[7\] = nan"),
    (lambda: metrics.roc(SCORE.reshape(5, 2), LABEL), ValueError, r"score has shape \(5, 2\)"),
    (lambda: metrics.auc(SCORE, np.ones(10)), ValueError, r"no background \(label 0\)"),
    (lambda: metrics.auc(SCORE, np.zeros(10)), ValueError, r"no signal \(label 1\)"),
    (lambda: metrics.auc(SCORE, LABEL, weight=1.0 * LABEL), ValueError, r"sums to 0 over the background \(label 0\)"),
    (lambda: metrics.auc(SCORE, LABEL, weight=LAST_NEGATIVE), ValueError, r"sums to -16 over the signal \(label 1\)"),
    (
        lambda: metrics.threshold(SCORE, LABEL, signal_efficiency=0),
        ValueError,
        "signal_efficiency = 0: .* above 0 and at most 1",
    ),
    (
        lambda: metrics.threshold(SCORE, LABEL, signal_efficiency=1.5),
        ValueError,
        "signal_efficiency = 1.5: .* above 0 and at most 1",
    ),
    (lambda: metrics.threshold(SCORE, LABEL, signal_efficiency="half"), TypeError, "signal_efficiency = 'half'"),
    (lambda: metrics.rejection(1.0 * LABEL, LABEL), ValueError, "signal_efficiency = 0.5 .* rate of 0, at score >= 1"),
    (
        lambda: metrics.rejection([0, 1, 2, 3], [0, 0, 1, 0], signal_efficiency=1, weight=[2, 1, 1, -1]),
        ValueError,
        "signal_efficiency = 1 has a false positive rate of -0.5, at score >= 2",
    ),
    (lambda: metrics.jsd(MASS, SELECTED, 2.5), TypeError, "bins = 2.5: expected an integer"),
    (lambda: metrics.jsd(MASS, SELECTED, 0), ValueError, "bins = 0: expected at least 1"),
    (lambda: metrics.jsd(np.ones(len(MASS)), SELECTED, 20), ValueError, "every mass is 1"),
    (lambda: metrics.jsd(MASS, SELECTED, [0.0]), ValueError, "bins has one edge"),
    (lambda: metrics.jsd(MASS, SELECTED, [0, 1, 1]), ValueError, r"bins\[2\] = 1 after 1: expected edges that incr"),
    (lambda: metrics.jsd(MASS, SELECTED, [0, np.nan]), ValueError, r"bins\[1\] = nan"),
    (lambda: metrics.jsd(MASS, SELECTED, [2, 3]), ValueError, "mass has no event inside bins, 2 to 3: .* -0.9 to 0.9"),
    (lambda: metrics.jsd(MASS, SELECTED, EDGES, base=1), ValueError, "base = 1: expected a finite number above 1"),
    (lambda: metrics.jsd(MASS, SCORE, EDGES), ValueError, r"selected\[0\] = 0.05: expected True or False"),
    (lambda: metrics.jsd(MASS, MASS > 2, EDGES), ValueError, "selected leaves no weight selected inside bins"),
    (lambda: metrics.jsd(MASS, MASS < 2, EDGES), ValueError, "selected leaves no weight not selected inside bins"),
    (
        lambda: metrics.jsd(MASS, MASS > 2, EDGES, blind=True),
        ValueError,
        "selected has 0 of the sum of weights inside bins",
    ),
    (
        lambda: metrics.jsd(MASS, MASS < 2, EDGES, blind=True),
        ValueError,
        "selected has 1 of the sum of weights inside bins",
    ),
    (
        lambda: metrics.jsd(MASS, SELECTED, EDGES, weight=LAST_NEGATIVE),
        ValueError,
        r"weight sums to -20 over the events that are selected in bin 7, \[0.75, 1\]",
    ),
    (lambda: metrics.flatness(MASS, SELECTED, [-1, 0, 1, 2]), ValueError, r"bin 2, \[1, 2\]: no event"),
    (
        lambda: metrics.flatness(MASS, SELECTED, EDGES, weight=LAST_NEGATIVE),
        ValueError,
        r"bin 7, \[0.75, 1\]: weight sums to -20",
    ),
    (lambda: metrics.flatness(MASS, MASS > 2, [-1, 0, 1]), ValueError, "selected has a mean efficiency of 0"),
    (
        lambda: metrics.flatness(MASS, SELECTED, EDGES, degree=7),
        ValueError,
        "degree = 7 with 8 bins: expected less than 7",
    ),
    (lambda: metrics.flatness(MASS, SELECTED, EDGES, degree=-1), ValueError, "degree = -1: expected at least 0"),
    (lambda: metrics.flatness(MASS, SELECTED, EDGES, degree=1.0), TypeError, "degree = 1.0: expected an integer"),
    (
        lambda: metrics.cvm_flatness(SCORE, MASS, EDGES, weight=LAST_NEGATIVE),
        ValueError,
        r"weight sums to -20 over the events in bin 7, \[0.75, 1\]",
    ),
    (lambda: metrics.cvm_flatness(SCORE, MASS, [2, 3]), ValueError, "mass has no event inside bins"),
    (lambda: bias(bins=TWENTY + 5), ValueError, "mass has no event inside bins, 4 to 6"),
    (lambda: bias(signal_mass=2), ValueError, "signal_mass = 2: expected it inside bins, from -1 to 1"),
    (lambda: bias(signal_width=0), ValueError, "signal_width = 0: expected a finite number above 0"),
    (lambda: bias(signal_width=None), TypeError, "signal_mass and signal_width are both needed"),
    (lambda: bias(template=np.ones(20)), TypeError, "template is the signal"),
    (lambda: bias(degree=18), ValueError, "degree = 18 with 20 bins"),
    (lambda: bias(signal_width=100), ValueError, "of degree = 2 can take the shape of the signal"),
    (lambda: bias(None, template=[1]), TypeError, "mass is None"),
    (
        lambda: metrics.signal_bias(UNIFORM, TWENTY, template=np.ones(19)),
        ValueError,
        "template has length 19: expected 20",
    ),
    (
        lambda: metrics.signal_bias(UNIFORM, TWENTY, template=put(np.ones(20), 4, -1)),
        ValueError,
        r"template\[4\] = -1: expected no negative",
    ),
    (lambda: metrics.signal_bias(UNIFORM, TWENTY, template=np.zeros(20)), ValueError, "template is 0 in all bins"),
    (
        lambda: metrics.spurious_signal(UNIFORM, TWENTY, [0.1, 0.2], [0.1]),
        ValueError,
        "signal_width has length 1, but signal_masses has length 2",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD, ids=[message for _, _, message in BAD])
def test_bad_input_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_an_efficiency_that_is_not_known_is_nan_with_a_warning():
    weight = np.append(np.ones(9), -1.0)
    with pytest.warns(RuntimeWarning) as caught:
        found = metrics.efficiency(MASS, SELECTED, [-1, -0.5, 0.5, 0.8, 1, 2, 3], weight=weight)
    said = "efficiency is NaN in bin 3, [0.8, 1): weight sums to -1; bin 4, [1, 2): no event; bin 5, [2, 3]: no event"
    assert [str(warning.message) for warning in caught] == [said]
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(np.isnan(found.value), [False, False, False, True, True, True])
    np.testing.assert_array_equal(np.isnan(found.error), [False, False, False, True, True, True])


def test_many_such_bins_are_counted():
    with pytest.warns(RuntimeWarning, match="bin 5, .*; and 14 more"):
        metrics.efficiency([-0.95], [1], TWENTY)
