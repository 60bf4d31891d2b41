"""The methods that the studies compare MoDe with."""

import numpy as np
import pytest
import torch
from libmode.torch import mode_loss

from studies.baselines import DisCoLoss, FlatnessLoss, planing


def events(n=40_000):
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, n)
    return np.where(label == 1, rng.normal(95, 18, n), 50 + 100 * rng.beta(1, 2.5, n)).clip(50, 150), label


def test_planing_gives_the_background_the_spectrum_of_the_signal():
    mass, label = events()
    weight = planing(mass, label, bins=20, floor=0)
    edges = np.linspace(50, 150, 21)
    planed = np.histogram(mass[label == 0], edges, weights=weight[label == 0].astype(float))[0]
    assert planed / planed.sum() == pytest.approx(
        np.histogram(mass[label == 1], edges)[0] / (label == 1).sum(), rel=1e-5
    )
    assert (weight[label == 1] == 1).all() and weight[label == 0].mean() == pytest.approx(1)
    assert planing(mass, label, floor=0.5).max() < planing(mass, label, floor=0).max()
    np.testing.assert_array_equal(planing(torch.from_numpy(mass), torch.from_numpy(label)), planing(mass, label))


@pytest.mark.parametrize(
    "kind, loss, options", [(DisCoLoss, "disco", {"unbiased": True}), (FlatnessLoss, "flatness", {})]
)
def test_the_losses_are_those_of_the_background(kind, loss, options):
    rng = np.random.default_rng(2)
    label, mass, score = rng.integers(0, 2, 500), rng.random(500), rng.random(500)
    found = kind(**options)(*map(torch.from_numpy, (score, label, mass)))
    score, mass = (torch.from_numpy(values[label == 0]) for values in (score, mass))
    assert found == mode_loss(score, mass, loss=loss, **options)
