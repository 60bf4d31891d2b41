"""DisCo and the flatness loss beside the authors' and hep_ml's, and as modules of PyTorch; core has their definitions."""

import warnings
from functools import partial

import golden
import libmode
import numpy as np
import pytest
import torch
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

from bench.peers import disco_loss as all_pairs

disco_loss_and_grad = partial(libmode.mode_loss_and_grad, loss="disco")
flatness_loss_and_grad = partial(libmode.mode_loss_and_grad, loss="flatness")


def events(n, ties=False):
    """Score, mass and weights of both signs in float64, where the score hangs on the mass."""
    rng = np.random.default_rng(n)
    mass = 50 + rng.exponential(60, n)
    score = 1 / (1 + np.exp(-rng.normal(0.005 * mass)))
    weight = rng.uniform(0.5, 2, n)
    weight[::7] *= -0.4
    return (np.round(score, 1), np.round(mass, -1), weight) if ties else (score, mass, weight)


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
def test_disco_is_that_of_the_authors(ties):
    """Their distance_corr for power 1, in which weights have mean 1."""
    score, mass, weight = events(300, ties)
    leaf = torch.tensor(score, requires_grad=True)
    want = all_pairs(leaf, torch.tensor(mass), torch.tensor(weight / weight.mean()))
    want.backward()
    value, grad = disco_loss_and_grad(score, mass, weight=weight)
    assert value == pytest.approx(want.item(), rel=1e-9)
    golden.assert_close(grad, leaf.grad.numpy(), 1e-9)


def test_flatness_of_hep_ml_has_the_same_gradient():
    # hep_ml takes the mean over two sets of bins, half a bin apart, and counts an event
    # in its own CDF once instead of half: of order 1/n.
    import pandas
    from hep_ml.losses import BinFlatnessLossFunction

    rng = np.random.default_rng(6)
    mass, n, bins = rng.uniform(0, 1, 20_000), 20_000, 5
    score = 1 / (1 + np.exp(-rng.normal(mass)))
    loss = BinFlatnessLossFunction(["mass"], uniform_label=0, n_bins=bins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss.fit(pandas.DataFrame({"mass": mass}), np.zeros(n), np.ones(n))
    theirs = loss._compute_fl_derivatives(score)
    limits = np.linspace(mass.min(), mass.max(), 2 * bins + 1)
    ours = 0
    for inner in (limits[1:-1:2], limits[2:-1:2]):
        ours = ours - flatness_loss_and_grad(score, mass, edges=[limits[0], *inner, limits[-1]])[1]
    assert np.corrcoef(theirs, ours)[0, 1] > 0.9999


MODULES = {
    "disco": (DisCoLoss(), disco_loss_and_grad, {}),
    "unbiased disco": (DisCoLoss(unbiased=True), disco_loss_and_grad, {"unbiased": True}),
    "flatness": (FlatnessLoss(bins=5), flatness_loss_and_grad, {"bins": 5}),
    "flatness of raw scores": (FlatnessLoss(bins=5, score_range=None), flatness_loss_and_grad, {"bins": 5, "score_range": None}),
    "two labels": (DisCoLoss(background_label=(0, 2)), disco_loss_and_grad, {"background_label": (0, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_modules_give_what_numpy_gives(name, dtype):
    module, function, options = MODULES[name]
    score, mass, weight = (torch.tensor(array, dtype=dtype) for array in events(100))
    target = torch.arange(100) % 4
    score.requires_grad_()
    loss = module(score[:, None], target, mass, weight)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    assert loss.shape == () and loss.dtype == kind
    loss.backward()
    assert score.grad.dtype == dtype
    s, m, w = (tensor.detach().to(kind).numpy() for tensor in (score, mass, weight))
    want, want_grad = function(s, m, weight=w, label=target.numpy(), **options)
    assert loss.item() == pytest.approx(want, rel=1e-6)
    torch.testing.assert_close(score.grad, torch.tensor(want_grad).to(dtype), rtol=0, atol=0)
