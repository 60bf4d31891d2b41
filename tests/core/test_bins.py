"""The number of bins where none is asked for: enough events in each, whatever the weights. core/internal/bins tests each rule."""

import libmode
import numpy as np
import pytest
from cells import default_edges
from libmode import mode_evaluate
from reference import bin_of

OPTIONS = dict(order=1, moments="projection", unbiased=True)


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


@pytest.mark.parametrize("n", [512, 3000])
def test_weights_that_rise_with_the_score_leave_the_loss_of_a_flat_response_near_0(n):
    """Weights of 100 above a score of 0.97: .2 of the bias is left, and 4.7 (n = 512) were while merging chose the bins."""
    rng = np.random.default_rng(n)
    found = []
    for _ in range(200):
        score, mass = rng.random(n), rng.exponential(size=n)
        found.append(mode_evaluate(score, mass, weight=np.where(score > 0.97, 100.0, 1.0), order=1)[:2])
    loss, bias = np.mean(found, axis=0)
    assert abs(loss) < 0.4 * bias
