"""QuantileMap: flat, or a polynomial, in events that it has not seen; the rest by other routes."""

import json
import pickle

import correctionlib.schemav2
import numpy as np
import pandas as pd
import pytest
from in_bins import residual as in_bins
from libmode.posthoc import QuantileMap
from scipy import stats
from sklearn.base import clone

EDGES = np.linspace(-1, 1, 21)


def sample(n, seed):
    """Background whose scores peak where a resonance is, on top of a slope."""
    rng = np.random.default_rng(seed)
    mass = rng.uniform(-1, 1, n)
    near = np.exp(-0.5 * ((mass - 0.2) / 0.1) ** 2)
    logit = rng.normal(0, 1.5, n) + 2.5 * near * (rng.random(n) < 0.7) - 1 + 0.5 * mass
    return 1 / (1 + np.exp(-logit)), mass


def residual(z, mass, efficiency, order, edges=EDGES):
    """Over what as many events have by chance."""
    found, by_chance = in_bins(z, mass, np.quantile(z, 1 - efficiency), edges, order)
    return found / by_chance


@pytest.fixture(scope="module")
def training():
    return sample(400_000, 1)


@pytest.mark.parametrize("order", [None, 0, 1, 2])
def test_the_response_is_a_polynomial_of_that_order_at_every_cut(training, order):
    """The mean square of the residual is that of chance, and at most a quarter more from the fit to 400,000 events."""
    fitted = QuantileMap(order).fit(*training)
    samples = [sample(100_000, seed) for seed in range(10, 14)]
    mapped = [fitted.transform(*events) for events in samples]
    if order is None:
        assert stats.kstest(mapped[0], "uniform").statistic < 0.01
    for efficiency in (0.8, 0.5, 0.2, 0.05, 0.01):
        before = [residual(score, mass, efficiency, order or 0) for score, mass in samples]
        after = [residual(z, mass, efficiency, order or 0) for z, (_, mass) in zip(mapped, samples, strict=True)]
        assert min(before) > 6
        assert np.mean(np.square(after)) < 1.25 + 4 * np.sqrt(2 / (4 * 19))


def test_a_linear_dependence_stays_with_order_one():
    """Scores whose distribution is linear in the mass at every cut come back as they were."""
    rng = np.random.default_rng(3)
    mass = rng.uniform(50, 250, 300_000)
    u = (mass - 50) / 200
    score = np.where(rng.random(len(u)) < u, rng.beta(2, 4, len(u)), rng.beta(4, 2, len(u)))
    moved = QuantileMap(1).fit(score, mass).transform(score, mass) - score
    assert np.quantile(np.abs(moved), 0.999) < 0.03 and np.sqrt(np.mean(moved**2)) < 0.006
    far = QuantileMap(0).fit(score, mass).transform(score, mass) - score
    assert np.sqrt(np.mean(far**2)) > 0.05


def test_beyond_the_fit():
    score, mass = sample(20_000, 4)
    fitted = QuantileMap(0).fit(score, mass)
    low, high = score.min(), score.max()
    above = fitted.transform([high, high + 1, high + 2], [0.3, 0.3, 0.3])
    np.testing.assert_allclose(above, [high, high + 1, high + 2])
    below = fitted.transform([low - 3, low - 1], [0.3, 0.3])
    assert below[1] - below[0] == pytest.approx(2)
    outside = fitted.transform([0.4, 0.4], [mass.max() + 5, mass.max()])
    assert outside[0] == outside[1]
    uniform = QuantileMap(None).fit(score, mass).transform([low - 1, high + 1], [0.3, 0.3])
    assert uniform == pytest.approx([0, 1], abs=1e-12)


def test_weights_of_both_signs(training):
    """A weight stands for as many events, and a negative one takes away what was put in."""
    (score, mass), other = training, sample(100_000, 2)
    extra_score, extra_mass = sample(100_000, 5)
    rng = np.random.default_rng(6)
    wrong = rng.random(len(extra_mass)) < 0.5 + 0.4 * extra_mass  # what is added and taken away depends on the mass
    scores = np.concatenate([score, extra_score[wrong], extra_score[wrong]])
    masses = np.concatenate([mass, extra_mass[wrong], extra_mass[wrong]])
    weights = np.concatenate([np.ones(len(score)), np.ones(wrong.sum()), -np.ones(wrong.sum())])
    signed = QuantileMap(0, intervals=20).fit(scores, masses, sample_weight=weights).transform(*other)
    plain = QuantileMap(0, intervals=20).fit(score, mass).transform(*other)
    assert np.quantile(np.abs(signed - plain), 0.999) < 0.02
    half = rng.random(len(score)) < 0.3 + 0.5 * (mass > 0)
    factor = 1 / (0.3 + 0.5 * (mass[half] > 0))
    thinned = QuantileMap(0).fit(score[half], mass[half], sample_weight=factor).transform(*other)
    assert np.sqrt(np.mean((thinned - plain) ** 2)) < 0.01


@pytest.mark.parametrize("variables", [1, 2])
def test_a_factor_of_all_weights_changes_nothing(variables):
    """Samples that are normalized to a luminosity are as flat as those that are not."""
    rng = np.random.default_rng(11)
    mass = 50 + rng.exponential(60, (10_000, variables))
    score = rng.random(10_000) ** (mass[:, 0] / 100)
    for weight in (np.ones(10_000), rng.normal(1, 0.8, 10_000), rng.integers(1, 4, 10_000).astype(float)):
        want = QuantileMap(0).fit(score, mass, sample_weight=weight).transform(score, mass)
        for factor in (1e-5, 1e7, 1e-300, 1e300):
            found = QuantileMap(0).fit(score, mass, sample_weight=factor * weight).transform(score, mass)
            np.testing.assert_allclose(found, want, rtol=0, atol=1e-12)


def test_two_and_three_variables():
    rng = np.random.default_rng(7)

    def events(n, rng):
        a, b = rng.uniform(-1, 1, n), rng.exponential(1, n)
        return 1 / (1 + np.exp(-(rng.normal(0, 1, n) + np.sin(3 * a) + np.log(1 + b)))), np.column_stack([a, b])

    score, mass = events(200_000, rng)
    test_score, test_mass = events(50_000, rng)
    fitted = QuantileMap(0).fit(score, mass)
    z = fitted.transform(test_score, test_mass)
    of_b = np.quantile(mass[:, 1], np.linspace(0, 1, 11))
    of_b[[0, -1]] = 0, 100
    for efficiency in (0.8, 0.2):
        for k, edges in enumerate((EDGES, of_b)):
            assert residual(test_score, test_mass[:, k], efficiency, 0, edges=edges) > 4
            assert residual(z, test_mass[:, k], efficiency, 0, edges=edges) < 2
    third = np.column_stack([mass, rng.normal(size=len(mass))])[:50_000]
    mapped = QuantileMap(None).fit(score[:50_000], third).transform(score[:50_000], third)
    assert stats.kstest(mapped, "uniform").statistic < 0.03


@pytest.mark.parametrize(
    "variables, order, mass_range",
    [(1, None, None), (1, 16, (-2, 2)), (2, 0, [(-2, 2), (-1, 1)]), (2, None, [-2, 2, -1, 1]), (3, 0, None)],
)
def test_copies_map_alike(variables, order, mass_range):
    rng = np.random.default_rng(15)
    mass = rng.normal(size=(2000, variables))
    score = rng.normal(size=2000) + mass[:, 0]
    fitted = QuantileMap(order, intervals=np.int64(3), mass_range=mass_range).fit(score, mass)
    copy = pickle.loads(pickle.dumps(fitted))
    assert (copy.transform(score, mass) == fitted.transform(score, mass)).all()
    assert clone(fitted).get_params() == copy.get_params() == fitted.get_params()


def evaluator(fitted):
    """The correction as a file, in the C++ of correctionlib."""
    schema = correctionlib.schemav2.Correction.model_validate(fitted.to_correction("ddt"))  # checks all of its rules
    text = json.dumps({"schema_version": 2, "corrections": [fitted.to_correction("ddt")]})
    assert schema.name == "ddt"
    return correctionlib.CorrectionSet.from_string(text)["ddt"].evaluate


@pytest.mark.parametrize("order", [None, 0, 1, 2])
def test_the_correction_is_as_flat_as_the_map(training, order):
    fitted = QuantileMap(order).fit(*training)
    evaluate = evaluator(fitted)
    samples = [sample(100_000, seed) for seed in (10, 11)]
    for efficiency in (0.8, 0.2, 0.05, 0.01):
        want, found = (
            np.mean([residual(of(*events), events[1], efficiency, order or 0) ** 2 for events in samples])
            for of in (fitted.transform, evaluate)
        )
        assert found == pytest.approx(want, rel=0.1)
    assert np.sqrt(np.mean((fitted.transform(*samples[0]) - evaluate(*samples[0])) ** 2)) < 1e-3


@pytest.mark.parametrize("order", [None, 0, 1])
def test_the_correction_at_nodes_and_beyond(order):
    """At few levels and far masses it is the map itself."""
    rng = np.random.default_rng(17)
    mass = 50 + rng.exponential(60, 5000)
    score = rng.normal(mass / 100)
    fitted = QuantileMap(order, intervals=3, mass_range=(60, 300)).fit(score, mass)
    levels, knots = fitted.levels_[[0, 1, 15, -9, -1]], fitted.knots_[0]
    far = np.r_[-20, levels, 20]
    for at in (0, 59, *knots, 400):
        got, want = (of(far, np.full(len(far), float(at))) for of in (evaluator(fitted), fitted.transform))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("options, changes, message", [
    ({"order": -1}, {}, "order = -1 must be between 0 and 16"),
    ({"mass_range": (1, 0)}, {}, r"mass_range = \(1, 0\): must be two finite numbers"),
    ({"mass_range": (5, 6)}, {}, "0 events inside mass_range count as 0 by their weights, .*: at least 100 are needed"),
    ({"order": 1}, {"mass": np.ones((1000, 2))}, "need order 0 or None"),
    ({}, {"mass": np.where(np.arange(1000) == 7, np.inf, 0.5)}, r"mass\[7\] = inf: expected a finite number"),
    ({}, {"score": np.full(1000, 0.5)}, "all scores are 0.5"),
])  # fmt: skip
def test_bad_input(options, changes, message):
    score, mass = sample(1000, 8)
    with pytest.raises(ValueError, match=message):
        QuantileMap(**{"order": 0} | options).fit(**{"score": score, "mass": mass} | changes)


@pytest.mark.parametrize("other", ["mass", "sample_weight"])
def test_series_of_another_index_are_an_error(other):
    """Rows are matched by position: a map of shuffled masses would sculpt without a word."""
    score, mass = sample(1000, 9)
    given = {"score": score, "mass": mass, "sample_weight": np.ones(1000)}
    series = {name: pd.Series(values, np.arange(1000)[::-1]) for name, values in given.items()}
    fitted = QuantileMap(0).fit(**series)
    assert (fitted.coefficients_ == QuantileMap(0).fit(**given).coefficients_).all()
    mixed = series | {other: series[other].sort_index()}
    for call in (QuantileMap(0).fit, QuantileMap(0).fit_transform):
        with pytest.raises(ValueError, match=f"{other} and score have different indexes"):
            call(**mixed)
    if other == "mass":
        with pytest.raises(ValueError, match="mass and score have different indexes"):
            fitted.transform(series["score"], pd.DataFrame(mixed["mass"]))


@pytest.mark.parametrize("variables, order", [(1, 0), (1, 12), (1, 16), (2, 0)])
def test_the_order_of_rows_changes_nothing(variables, order):
    """At order 12 sums in another order once made another map; here are ties too."""
    rng = np.random.default_rng(16)
    mass, weight = 50 + rng.exponential(60, (3000, variables)).round(1), rng.choice([1.0, 2.0, -0.3], 3000)
    score = rng.normal(mass[:, 0] / 50).round(2)
    rows = rng.permutation(3000)
    maps = [QuantileMap(order).fit(score[at], mass[at], sample_weight=weight[at]) for at in (slice(None), rows)]
    for name in ("levels_", "coefficients_", "targets_"):
        assert (getattr(maps[0], name) == getattr(maps[1], name)).all()
    # Nor does rounding by other means: the map has no digits that depend on it.
    near = QuantileMap(order).fit(score, mass * (1 + 1e-15), sample_weight=weight).transform(score, mass)
    np.testing.assert_allclose(near, maps[0].transform(score, mass), rtol=0, atol=1e-8)


def test_equal_scores_and_few_events():
    """A classifier with four values: no crash and no NaN."""
    rng = np.random.default_rng(10)
    score, mass = rng.integers(0, 4, 5000) / 4, rng.exponential(1, 5000)
    fitted = QuantileMap(0).fit(score, mass)
    assert np.isfinite(fitted.transform(score, mass)).all()
    few = QuantileMap(2).fit(score[:100] + 0.01 * mass[:100], mass[:100])
    assert np.isfinite(few.transform(score, mass)).all()
