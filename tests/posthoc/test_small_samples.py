"""QuantileMap beside plain bins of equal numbers of events, whose maps are the distributions in each bin."""

import numpy as np
import pytest
from in_bins import residual
from libmode.posthoc import QuantileMap, _inverse, bernstein


def background(of, n, rng):
    """Scores and masses of a falling spectrum; the scores depend on the mass as ``of`` says."""
    mass = 50 - 60 * np.log(1 - 0.97 * rng.random(n))
    shift = {"nothing": 0 * mass, "a slope": np.log(mass / 100), "waves": 2 * np.sin(mass / 15)}
    shift["a signal"] = 2 * np.exp(-(((mass - 80) / 12) ** 2))
    return 1 / (1 + np.exp(-rng.normal(shift[of], 1))), mass


def in_bins(score, mass, weight, count, at_score, at_mass):
    """The fraction of the events of the same bin with lower scores."""
    edges = np.quantile(mass, np.linspace(0, 1, count + 1)[1:-1])
    place, at = np.searchsorted(edges, mass, "right"), np.searchsorted(edges, at_mass, "right")
    found = np.empty(len(at_score))
    for k in range(count):
        order = np.argsort(score[place == k])
        below = np.maximum.accumulate(np.cumsum(weight[place == k][order]))
        found[at == k] = np.interp(at_score[at == k], score[place == k][order], below / below[-1])
    return found


def square(z, mass, edges, order):
    """The mean square of the residuals at 50 and 20 %, without what statistics of these events alone gives."""
    cuts = np.quantile(z, (0.5, 0.8))
    found = [residual(z, mass, cut, edges, order) for cut in cuts]
    return np.mean([own**2 - by_chance**2 for own, by_chance in found])


FULL = [pytest.param(n, toys, marks=pytest.mark.full) for n, toys in ((200, 8), (1_000, 4), (100_000, 1))]


@pytest.mark.parametrize("n, toys", [(300, 4), (10_000, 2), *FULL])
@pytest.mark.parametrize("weights, order", [("none", 0), ("none", 3), ("signed", 1), ("signed", 2)])
def test_maps_are_as_flat_as_the_best_number_of_bins(n, toys, weights, order):
    """Of 5 to 40 bins the number that turns out best for each dependence; a map once had .7 where bins had .2."""
    sums = np.zeros(2)  # of the map and of bins
    for of in ("nothing", "a slope", "a signal", "waves"):
        test_score, test_mass = background(of, 50_000, np.random.default_rng(99))
        edges = np.quantile(test_mass, np.linspace(0, 1, 17))
        own, others = 0.0, dict.fromkeys([count for count in (5, 10, 20, 40) if n >= 20 * count], 0.0)
        for seed in range(toys):
            rng = np.random.default_rng(seed)
            score, mass = background(of, n, rng)
            weight = np.ones(n) if weights == "none" else rng.choice([1.0, -1.0], n, p=[0.9, 0.1])
            fitted = QuantileMap(order).fit(score, mass, sample_weight=weight)
            own += square(fitted.transform(test_score, test_mass), test_mass, edges, order)
            polynomials = bernstein(test_mass, fitted.ranges_[0], order)
            for count in others:
                fraction = in_bins(score, mass, weight, count, test_score, test_mass)
                z = _inverse(fitted.levels_, fitted.targets_, polynomials, fraction)
                others[count] += square(z, test_mass, edges, order)
        sums += own, min(others.values())
    assert sums[0] < sums[1]
