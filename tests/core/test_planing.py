"""libmode.planing_weights: the planed background has (1 - floor) of signal's spectrum and floor of its own."""

import math

import libmode
import numpy as np
import pytest
from libmode import planing_weights

N, SIGNAL = 100_000, 40_000


def gauss(mass, mean, width):
    return 0.5 * (1 + np.vectorize(math.erf)((mass - mean) / width / 2**0.5))


#: Draws n masses of background and of signal; the cumulative distribution of each.
SPECTRA = {
    "uniform, signal rises": (
        lambda rng, n: rng.random(n),
        lambda rng, n: np.sqrt(rng.random(n)),
        lambda m: m,
        lambda m: m**2,
    ),
    "steep, signal on the tail": (
        lambda rng, n: (1 - rng.random(n) * (1 - 8.0**-4)) ** -0.25,
        lambda rng, n: rng.normal(2, 0.1, n),
        lambda m: (1 - m**-4) / (1 - 8.0**-4),
        lambda m: gauss(m, 2, 0.1),
    ),
    "uniform, two peaks": (
        lambda rng, n: 10 * rng.random(n),
        lambda rng, n: np.where(rng.random(n) < 0.5, rng.uniform(2, 2.3, n), rng.uniform(7, 7.6, n)),
        lambda m: m / 10,
        lambda m: (np.clip((m - 2) / 0.3, 0, 1) + np.clip((m - 7) / 0.6, 0, 1)) / 2,
    ),
}


def drawn(spectrum, seed, background=N, signal=SIGNAL):
    """Masses and labels in random order."""
    rng, (of_background, of_signal, *_) = np.random.default_rng(seed), SPECTRA[spectrum]
    mass = np.concatenate([of_background(rng, background), of_signal(rng, signal)])
    label, order = np.repeat([0, 1], [background, signal]), rng.permutation(background + signal)
    return mass[order], label[order]


def distance(mass, weight, cdf):
    """Kolmogorov's distance of a weighted sample from a distribution, at every tenth event."""
    order = np.argsort(mass)
    sums = np.cumsum(weight[order]) / weight.sum()
    return np.abs(sums[::10] - cdf(mass[order][::10])).max()


@pytest.mark.parametrize("floor", [0, 0.3, 1])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_the_planed_spectrum_is_the_mixture_of_known_spectra(spectrum, floor):
    mass, label = drawn(spectrum, 1)
    b = label == 0
    _, _, of_background, of_signal = SPECTRA[spectrum]
    weight = planing_weights(label, mass, floor=floor)
    # The statistics of both samples, at a level of 1e-4, and half of a cell, of which there are 64.
    allowed = 2.2 * (1 / np.sqrt(N) + 1 / np.sqrt(SIGNAL)) + 1 / 64
    wanted = distance(mass[b], weight[b], lambda m: (1 - floor) * of_signal(m) + floor * of_background(m))
    assert wanted < allowed
    if floor < 1:
        assert distance(mass[b], weight[b], of_background) > 5 * allowed
    assert weight[b].mean() == pytest.approx(1, rel=1e-9)
    assert np.all(weight[~b] == 1)


def test_of_a_few_masses_the_weights_are_ratios_of_counts():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, 20_000)
    mass = np.where(label == 0, rng.integers(0, 12, 20_000), rng.binomial(11, 0.4, 20_000)) * 2.5
    given = rng.choice([1.0, 2.0, -0.5], 20_000, p=[0.5, 0.3, 0.2])
    weight = planing_weights(label, mass, given, floor=0.1)
    b = label == 0
    seen = 0
    for value in np.unique(mass):
        at = mass == value
        share = [given[at & (label == k)].sum() / given[label == k].sum() for k in (0, 1)]
        if (at & (label == 1)).sum() > 60:  # fewer may share a cell with their neighbors
            seen += 1
            assert weight[at & b] == pytest.approx(given[at & b] * (0.9 * share[1] / share[0] + 0.1), rel=1e-9)
    assert seen >= 8
    assert weight[b].sum() == pytest.approx(given[b].sum(), rel=1e-9)
    assert np.array_equal(weight[~b], given[~b])


def test_several_masses_are_planed_jointly():
    """Background is uniform in a square; signal has the density 1 + (1 - 2x)(1 - 2y), whose projections are uniform."""
    rng = np.random.default_rng(4)
    b, s = rng.random((N, 2)), rng.random((3 * SIGNAL, 2))
    x, y = s.T
    s = s[2 * rng.random(len(s)) < 1 + (1 - 2 * x) * (1 - 2 * y)]
    mass, label = np.concatenate([b, s]), np.repeat([0, 1], [N, len(s)])
    weight = planing_weights(label, mass, floor=0)[:N]
    x, y = b.T - 0.5
    for of_mass, wanted in ((x, 0), (y, 0), (x * y, 1 / 36)):  # integrals with the density
        assert np.mean(weight * of_mass) == pytest.approx(wanted, abs=0.003)
    assert abs(np.mean(x * y)) < 0.001  # before


def test_each_label_of_background_is_planed_by_itself():
    rng = np.random.default_rng(5)
    label = rng.integers(0, 3, 60_000)
    mass = np.select([label == 0, label == 1], [rng.exponential(1, 60_000), rng.uniform(0, 3, 60_000)], 2.0)
    mass[label == 2] += 0.2 * rng.normal(size=(label == 2).sum())
    weight = planing_weights(label, mass, background_label=(0, 1))
    for k in (0, 1):
        of_pair = np.isin(label, (k, 2))
        alone = planing_weights(label[of_pair], mass[of_pair], background_label=k)
        assert np.array_equal(weight[label == k], alone[label[of_pair] == k])
    assert np.all(weight[label == 2] == 1)


def test_regions_with_a_negative_sum_join_their_neighbors():
    rng = np.random.default_rng(7)
    mass, label = rng.random(50_000), rng.integers(0, 2, 50_000)
    given = np.ones(50_000)
    given[(mass > 0.4) & (mass < 0.43)] = -1  # of both classes
    given[(mass > 0.7) & (mass < 0.72) & (label == 0)] = 0
    given[(mass > 0.9) & (mass < 0.92) & (label == 1)] = -3
    weight, b = planing_weights(label, mass, given, floor=0), label == 0
    assert np.array_equal(np.sign(weight[b]), np.sign(given[b]))  # a ratio below 0 would turn the loss round
    assert weight[b].sum() == pytest.approx(given[b].sum(), rel=1e-9)
    assert np.abs(weight).max() < 10


def test_too_few_events_and_a_bare_tail_are_said():
    mass = np.arange(19.0)
    with pytest.warns(libmode.TrainingWarning, match="the 4 effective events of signal and 15 of background"):
        weight = planing_weights(mass >= 15, mass)
    assert weight == pytest.approx(np.ones(19), rel=1e-12)
    rng = np.random.default_rng(8)
    mass = np.concatenate([rng.exponential(size=20_000), rng.normal(9, 0.1, 5_000)])
    with pytest.warns(libmode.TrainingWarning, match=r"planing leaves \d+\.?\d* of 2e\+04 effective events"):
        planing_weights(np.repeat([0, 1], [20_000, 5_000]), mass)


@pytest.mark.parametrize(
    "changes, error, words",
    [
        ({"floor": 1.2}, ValueError, "floor = 1.2: must be from 0 to 1"),
        ({"floor": "0.3"}, TypeError, "floor = '0.3': must be a number"),
        ({"label": None}, TypeError, "label is None"),
        ({"label": np.zeros(40)}, libmode.BatchError, "no signal: each of the 40 events"),
        ({"background_label": (0, 7)}, libmode.BatchError, "background_label = 7"),
        ({"mass": np.r_[math.nan, np.arange(39)]}, ValueError, "mass[0] = nan"),
        ({"mass": np.c_[np.arange(40), np.r_[0, 0, math.inf, np.arange(37)]]}, ValueError, "mass[2, 1] = inf"),
        ({"weight": np.r_[np.ones(39), math.inf]}, ValueError, "weight[39] = inf"),
        ({"weight": np.where(np.arange(40) % 2, 1.0, -1.0)}, libmode.BatchError, "the sum over background of label 0"),
    ],
)
def test_errors_name_the_argument_the_value_and_the_place(changes, error, words):
    arguments = {"mass": np.arange(40.0), "label": np.arange(40) % 2} | changes
    with pytest.raises(error) as caught:
        planing_weights(**arguments)
    assert words in str(caught.value)
