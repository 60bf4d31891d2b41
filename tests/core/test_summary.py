"""libmode.metrics.summary: each number beside its definition written out, toys, or what it must be."""

import warnings

import libmode
import numpy as np
import pytest
from libmode import metrics

NAMES = {
    "auc", "dependence", "dependence_error", "inverse_jsd_50", "inverse_jsd_50_ceiling", "sensitivity",
    "p_value", "worst_efficiency", "worst_residual",
    *(f"{what}_{e}" for what in ("rejection", "residual") for e in (80, 50, 20)),
}  # fmt: skip


def events(n=20_000, slope=0.0, bump=0.0, seed=0):
    """Scores, labels and falling masses; the scores of background follow the mass by slope and bump."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    mass = np.where(label == 1, rng.normal(120, 10, n), 50 + rng.exponential(60, n))
    followed = slope * (mass - 100) / 100 + bump * np.exp(-0.5 * ((mass - 120) / 10) ** 2)
    logit = rng.normal(np.where(label == 1, 1.5, followed))
    return 1 / (1 + np.exp(-logit)), label, mass


def test_a_label_that_is_missing_is_no_signal():
    score, label, mass = events(200)
    label = np.where(np.arange(200) == 7, np.nan, label)
    for options in ({}, {"background_label": 0}):
        with pytest.raises(ValueError, match=r"label\[7\] = nan: expected a"):
            metrics.summary(score, label, mass, order=0, **options)


def test_the_numbers_by_counting():
    score, label, mass = events(bump=0.5)
    found = metrics.summary(score, label, mass, order=0)
    assert set(found) == NAMES and all(type(value) is float for value in found.values())
    signal, background = np.sort(score[label == 1]), score[label == 0]
    assert found["auc"] == pytest.approx(
        np.mean(np.searchsorted(np.sort(background), signal)) / len(background), rel=1e-12
    )
    by_mass = np.argsort(mass[label == 0])
    for e in (80, 50, 20):
        cut = signal[-int(np.ceil(e / 100 * len(signal)))]
        assert found[f"rejection_{e}"] == pytest.approx(1 / np.mean(background >= cut), rel=1e-12)
        # Twenty bins of equal numbers of events, and the variance of a binomial fraction in each.
        bins = np.array_split((background >= cut)[by_mass], 20)
        rate, size = np.array([[np.mean(b), len(b)] for b in bins]).T
        expected = np.mean(rate * (1 - rate) / size) * 19 / 20
        assert found[f"residual_{e}"] == pytest.approx(np.sqrt(np.var(rate) / expected), rel=0.02)
        if e == 50:
            p, q = (np.array([np.sum(b == kept) for b in bins]) for kept in (True, False))
            p, q = p / p.sum(), q / q.sum()
            jsd = sum(np.sum(x * np.log2(2 * x / (p + q))) / 2 for x in (p, q))
            assert found["inverse_jsd_50"] == pytest.approx(1 / jsd, rel=0.02)


def test_the_order_allows_a_slope():
    rng = np.random.default_rng(1)
    label, mass = np.tile([0, 1], 40_000), rng.random(80_000)
    # At every score the rate is linear in mass: a mixture of two responses in linear shares.
    score = np.where(
        (label == 1) | (rng.random(80_000) < 0.2 + 0.5 * mass), rng.beta(3, 2, 80_000), rng.beta(2, 3, 80_000)
    )
    flat, linear = (metrics.summary(score, label, mass, order=order) for order in (0, 1))
    assert flat["residual_50"] > 4 and linear["residual_50"] < 1.6
    assert flat["dependence"] > 10 * flat["dependence_error"]
    assert abs(linear["dependence"]) < 2 * linear["dependence_error"]
    assert linear["sensitivity"] > 1.5 * flat["sensitivity"]


@pytest.mark.parametrize(("bump", "most"), [(0.0, 2.0), (1.0, 1.25)])
def test_the_error_of_the_dependence_is_its_scatter(bump, most):
    toys = [metrics.summary(*events(4000, bump=bump, seed=seed), order=0) for seed in range(80)]
    scatter = np.std([toy["dependence"] for toy in toys])
    error = np.sqrt(np.mean([toy["dependence_error"] ** 2 for toy in toys]))
    assert 0.8 < error / scatter < most  # the scatter of 80 is known to 8 %


def test_the_error_of_the_dependence_is_that_of_the_jackknife():
    """(g - 1)/g sum (rho_k - mean)^2 over the g = 20 samples without a group (B. Efron, Ann. Statist. 7 (1979) 1)."""
    score, label, mass = events(4000, bump=0.5)
    found = metrics.summary(score, label, mass, order=0, tolerance=1000)
    score, mass = score[label == 0], mass[label == 0]
    group = np.random.default_rng(0).permutation(len(mass)) % 20
    without = []
    for k in range(20):
        one = libmode.mode_evaluate(score[group != k], mass[group != k], edges=libmode.mode_edges(mass), order=0)
        without.append(one.loss * 1000 / (one.bias * one.events))
    squares = np.sum((np.array(without) - np.mean(without)) ** 2)
    assert found["dependence_error"] == pytest.approx(np.sqrt(19 / 20 * squares), rel=1e-9)


def test_the_dependence_of_n_events_that_see_nothing_is_at_most_one():
    toys = [metrics.summary(*events(seed=seed), order=0, tolerance=10_000)["dependence"] for seed in range(30)]
    assert abs(np.mean(toys)) < 4 * np.std(toys) / np.sqrt(30)
    assert np.std(toys) < 0.5
    # It is proportional to N.
    assert metrics.summary(*events(), order=0, tolerance=1000)["dependence"] == pytest.approx(toys[0] / 10, rel=1e-12)


def test_background_outside_the_mass_range_has_no_part_in_what_is_said_of_the_mass():
    score, label, mass = events()
    score = np.where(mass > 200, 0.999, score)
    inside = metrics.summary(score, label, mass, order=0, mass_range=(50, 200))
    assert metrics.summary(score, label, mass, order=0)["residual_20"] > 5
    assert inside["residual_20"] < 2 and inside["dependence"] < 3 * inside["dependence_error"]


def test_what_is_not_known_is_nan_with_a_warning():
    _, label, mass = events(2000)
    with pytest.warns(RuntimeWarning) as said:
        perfect = metrics.summary(np.where(label == 1, 0.7, 0.2), label, mass, order=0)
    assert {name for name, value in perfect.items() if np.isnan(value)} == NAMES - {"auc", "p_value"}
    sentences = [str(warning.message) for warning in said]
    assert "rejection_20 is NaN: the false positive rate at score >= 0.7 is 0" in sentences
    assert "dependence is NaN: all scores of the background are the same" in sentences
    assert said[0].filename == __file__
    # At the tight working point alone: the others say how sensitive it is.
    score = np.random.default_rng(3).random(2000) * np.where(label == 1, 1, 0.7)
    with pytest.warns(RuntimeWarning) as said:
        tight = metrics.summary(score, label, mass, order=0)
    assert {str(warning.message).split()[0] for warning in said} == {"rejection_20", "residual_20"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loose = metrics.summary(score, label, mass, order=0, efficiencies=(0.8, 0.5))
    assert tight["sensitivity"] == loose["sensitivity"]


def test_a_bump_at_tight_cuts_is_named():
    """At 2 % of the background all that is left is in a window of mass, and the loss of all cuts sees nothing."""
    rng = np.random.default_rng(2)
    label = np.tile([0, 1], 20_000)
    mass = np.where(label == 1, rng.normal(120, 5, 40_000), 50 + rng.exponential(60, 40_000))
    score = rng.beta(1 + label, 1) * 0.9
    window = np.flatnonzero((label == 0) & (abs(mass - 120) < 3))[:60]
    sculpted = score.copy()
    sculpted[window] = 0.95
    flat, bump = (metrics.summary(one, label, mass, order=1) for one in (score, sculpted))
    assert flat["p_value"] > 0.01 > 1e-6 > bump["p_value"]
    assert abs(bump["dependence"]) < 3 * bump["dependence_error"]
    assert bump["worst_efficiency"] < 0.01 and bump["worst_residual"] > 2 * flat["worst_residual"]


@pytest.mark.parametrize("order", [0, 1])
def test_a_bump_of_background_at_the_signal_never_ranks_first(order):
    """A tight selection that leaves background under the signal alone, so little that its residual is mostly chance."""
    rng = np.random.default_rng(5)
    label = np.repeat([0, 1], [200_000, 20_000])
    mass = np.where(label == 1, rng.normal(125, 12, len(label)), 50 + rng.exponential(80, len(label)))
    logit = rng.normal(3.0 * label)
    peak = np.exp(-0.5 * ((mass - 125) / 12) ** 2)
    flat, bump = (metrics.sensitivity(one, label, mass, order=order) for one in (logit, logit + 3 * peak - 3))
    assert metrics.auc(logit + 3 * peak - 3, label) > metrics.auc(logit, label) + 0.005
    assert bump < 0.8 * flat


def test_the_sensitivity_by_itself():
    score, label, mass = events(bump=0.5, seed=4)
    weight = np.where(label == 1, 0.5, 2.0)
    arguments = {"weight": weight, "order": 1, "tolerance": 20_000, "efficiencies": (0.7, 0.3), "bins": 12}
    alone = metrics.sensitivity(score, label, mass, **arguments)
    assert alone == metrics.summary(score, label, mass, **arguments)["sensitivity"]
    # The best of both working points, each from rates that are counted, at the masses of the signal.
    significances, edges = [], libmode.mode_edges(mass, label=label, bins=12)
    of_signal = np.histogram(mass[label == 1], edges)[0]
    for wish in (0.7, 0.3):
        cut = metrics.threshold(score, label, signal_efficiency=wish)
        rates = np.histogram(mass[(label == 0) & (score >= cut)], edges)[0] / np.histogram(mass[label == 0], edges)[0]
        rate = np.sum(of_signal * rates) / np.sum(of_signal)
        found = metrics.flatness(score, label, mass, threshold=cut, bins=edges, order=1)
        extra = max(found.rms**2 - found.expected**2, 0)
        significances.append(np.mean(score[label == 1] >= cut) / np.sqrt(rate * (1 + extra * rate * 20_000 / 12)))
    assert alone == pytest.approx(max(significances), rel=1e-3)
    with pytest.raises(ValueError, match="tolerance = 0"):
        metrics.sensitivity(score, label, mass, order=1, tolerance=0)


@pytest.mark.parametrize("background", [1, 3, -1])
def test_another_label_of_background(background):
    score, label, mass = events(6_000, bump=0.5)
    weight = np.random.default_rng(1).random(6_000)
    want = metrics.summary(score, label, mass, weight=weight, order=0)
    others = np.where(label == 0, background, np.arange(6_000) % 3 + background + 1)  # of several kinds of signal
    assert metrics.summary(score, others, mass, weight=weight, order=0, background_label=background) == want
    with pytest.raises(ValueError, match=r"background_label = \(0, 1\): expected one label"):
        metrics.summary(score, label, mass, order=0, background_label=(0, 1))
    with pytest.raises(ValueError, match="label"):
        metrics.summary(score, label, mass, order=0, background_label=7)


@pytest.mark.parametrize("order", [0, 1])
def test_the_error_of_the_dependence_is_that_of_a_jackknife(order):
    """Twenty estimates without a group each, and their variance times 19: for a mean it is the variance of the mean."""
    score, label, mass = events(8_000, slope=0.3, bump=0.5)
    weight = np.random.default_rng(2).random(8_000)
    found = metrics.summary(score, label, mass, weight=weight, order=order, tolerance=50_000)
    score, mass, weight = (values[label == 0] for values in (score, mass, weight))
    edges = libmode.mode_edges(mass, weight=weight, order=order)
    group, rho = np.random.default_rng(0).permutation(len(mass)) % 20, []
    for k in range(20):
        left = group != k
        one = libmode.mode_evaluate(score[left], mass[left], weight=weight[left], order=order, edges=edges, grad=False)
        rho.append(one.loss / (one.bias * one.events / 50_000))
    error = np.sqrt(19 / 20 * np.sum((np.array(rho) - np.mean(rho)) ** 2))
    assert found["dependence_error"] == pytest.approx(error, rel=1e-9)
