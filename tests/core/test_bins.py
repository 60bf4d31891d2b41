"""The number of bins where none is asked for: enough events in each, whatever the weights."""

import libmode
import numpy as np
import pytest
from cells import default_edges
from reference import bin_of, quantile_edges

OPTIONS = dict(order=1, moments="projection", unbiased=True)


@pytest.mark.parametrize(
    "n, order, bins",
    [(100_000, 0, 32), (256, 0, 32), (255, 2, 31), (128, 0, 16), (20, 0, 2), (20, 3, 5), (7, 5, 7), (2, 0, 2)],
)
def test_the_number_of_bins_fits_the_number_of_events(n, order, bins):
    mass = np.random.default_rng(n).exponential(size=n)
    assert libmode.mode_edges(mass, order=order).tolist() == quantile_edges(mass, bins).tolist()


WEIGHTS = {
    "exponential": lambda rng, score, mass: rng.exponential(size=len(score)),
    "signed": lambda rng, score, mass: np.where(rng.random(len(score)) < 0.2, -1.0, 1.0),
    "decades": lambda rng, score, mass: rng.lognormal(sigma=1.2, size=len(score)),
    "of the score": lambda rng, score, mass: np.where(score > 0.97, 100.0, 1.0),
    "of the mass": lambda rng, score, mass: np.exp(-3 * mass),
    "a few, most are 0": lambda rng, score, mass: np.where(rng.random(len(score)) < 0.1, 1.0, 0.0),
}


@pytest.mark.parametrize("binning", ["quantile", "uniform"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_bins_are_those_of_the_definition(binning, weights):
    rng = np.random.default_rng(5)
    fewer = 0
    for n in (40, 100, 200, 270, 512, 2000):
        mass, score = rng.exponential(size=n), rng.random(n)
        weight = WEIGHTS[weights](rng, score, mass)
        want = default_edges(mass, weight, (mass.min(), mass.max()), {"binning": binning, **OPTIONS})
        if len(want) < OPTIONS["order"] + 3:
            with pytest.raises(libmode.BatchError, match="too few events"):
                libmode.mode_edges(mass, weight=weight, binning=binning, **OPTIONS)
            continue
        edges = libmode.mode_edges(mass, weight=weight, binning=binning, **OPTIONS)
        assert edges.tolist() == want.tolist()
        fewer += len(edges) < min(33, n // 8 + 1)

        bins = bin_of(mass, edges)
        if min(weight[bins == b].sum() ** 2 / (weight[bins == b] ** 2).sum() for b in range(len(edges) - 1)) < 1.05:
            with pytest.raises(libmode.BatchError, match="1 effective events"):
                libmode.mode_loss(score, mass, weight=weight, binning=binning, **OPTIONS)
            continue

        # The loss is that of these bins, given as edges, but that every batch may have others.
        chosen = libmode.mode_loss_and_grad(score, mass, weight=weight, binning=binning, **OPTIONS)
        given = libmode.mode_loss_and_grad(score, mass, weight=weight, edges=edges, **OPTIONS)
        assert chosen[0] == pytest.approx(given[0], rel=1e-12)
        np.testing.assert_allclose(chosen[1], given[1], rtol=1e-9, atol=1e-14)
    assert fewer > 0


def test_a_factor_in_each_bin_leaves_the_bins():
    rng = np.random.default_rng(7)
    mass = rng.exponential(size=300)
    for equal in (np.ones(300), rng.choice([0.9, 1.1], 300)):
        edges = libmode.mode_edges(mass, weight=equal, order=1)
        factor = rng.lognormal(sigma=3, size=len(edges) - 1)[bin_of(mass, edges)]
        assert libmode.mode_edges(mass, weight=factor * equal, order=1).tolist() == edges.tolist()


@pytest.mark.parametrize("n", [512, 3000])
def test_weights_that_rise_with_the_score_leave_the_loss_of_a_flat_response_near_0(n):
    """Weights of 100 above a score of 0.97: .2 of the bias is left, and 4.7 (n = 512) were while merging chose the bins."""
    rng = np.random.default_rng(n)
    found = []
    for _ in range(200):
        score, mass = rng.random(n), rng.exponential(size=n)
        found.append(libmode.mode_evaluate(score, mass, weight=np.where(score > 0.97, 100.0, 1.0), order=1)[:2])
    loss, bias = np.mean(found, axis=0)
    assert abs(loss) < 0.4 * bias


@pytest.mark.parametrize("binning", ["quantile", "uniform"])
@pytest.mark.parametrize("n, order", [(203, 1), (203, 8), (5, 0), (7, 1), (3, 0)])
def test_equal_weights_or_none_or_nearly_equal_ones_make_the_same_bins(binning, n, order):
    rng = np.random.default_rng(8)
    mass = np.r_[0.0, np.ones(60), 2 + rng.random(142)] if n == 203 else np.arange(1.0, n + 1)
    options = dict(order=order, binning=binning)
    edges = libmode.mode_edges(mass, **options)
    assert len(edges) > order + 2
    for weight in (np.ones(len(mass)), np.full(len(mass), 0.1), 1 - 1e-3 * rng.random(len(mass))):
        assert libmode.mode_edges(mass, weight=weight, **options).tolist() == edges.tolist()
    if n == 203:
        assert np.bincount(bin_of(mass, edges)).min() >= 2
        assert np.isfinite(libmode.mode_loss(rng.random(len(mass)), mass, **({"order": 0} | options)))


def test_the_bias_of_bins_of_one_event_is_not_known():
    score, mass = np.array([0.2, 0.9, 0.4]), np.array([1.0, 2.0, 3.0])
    for options in ({"bins": 3}, {"bins": 3, "order": 1}, {"edges": [0.0, 1.5, 2.5, 3.0]}):
        found = libmode.mode_evaluate(score, mass, hess=True, unbiased=False, **({"order": 0} | options))
        loss, grad = libmode.mode_loss_and_grad(score, mass, unbiased=False, **({"order": 0} | options))
        assert found.loss == loss and found.grad.tobytes() == grad.tobytes()
        assert np.isnan(found.bias) and found.events == 3 and np.isfinite(found.hess).all()
        with pytest.raises(libmode.BatchError, match=r"bin 0 of 3.* = 1 effective events"):
            libmode.mode_evaluate(score, mass, **({"order": 0} | options))


def test_edges_of_more_than_the_usual_bins():
    mass = np.random.default_rng(9).random(4000)
    assert len(libmode.mode_edges(mass, bins=100)) == 101
    assert len(libmode.mode_edges(np.round(mass, 2), binning="values")) == len(np.unique(np.round(mass, 2))) + 1


def test_bins_and_edges_that_are_given_are_used_exactly():
    rng = np.random.default_rng(6)
    mass, score, weight = np.arange(64.0), rng.random(64), np.ones(64)
    weight[:4] = 1, 1, -1, -1  # of one bin of 16
    assert len(libmode.mode_edges(mass, weight=weight, bins=16)) == 17
    with pytest.raises(ValueError, match=r"bin 0 of 16, mass in \[0, 3.5\), has sum of weights 0"):
        libmode.mode_loss(score, mass, weight=weight, bins=16, order=0)
    assert np.isfinite(libmode.mode_loss(score, mass, weight=weight, order=0))


def test_a_huge_weight_outside_the_mass_range_changes_nothing():
    rng = np.random.default_rng(7)
    mass, score, weight = rng.random(400), rng.random(400), rng.exponential(size=400)
    options = dict(order=1, bins=8, moments="projection", unbiased=True, mass_range=(0, 0.9))
    want, want_grad = libmode.mode_loss_and_grad(score, mass, weight=weight, **({"order": 0} | options))
    weight[np.argmax(mass)] = 1e160
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, **({"order": 0} | options))
    assert loss == want and grad.tobytes() == want_grad.tobytes()
