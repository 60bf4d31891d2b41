"""The flatness loss beside hep_ml's, and DisCo and it in PyTorch; core has their definitions."""

import warnings
from functools import partial

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import mode_loss

flatness_loss_and_grad = partial(libmode.mode_loss_and_grad, loss="flatness")


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


OPTIONS = {
    "disco": ("disco", {}),
    "unbiased disco": ("disco", {"unbiased": True}),
    "flatness": ("flatness", {"bins": 5}),
    "flatness of raw scores": ("flatness", {"bins": 5, "score_range": None}),
    "two labels": ("disco", {"background_label": (0, 2)}),
}


@pytest.mark.filterwarnings("ignore:mass is in bfloat16")  # test_half_masses.py has what is said
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_tensors_give_what_numpy_gives(name, dtype):
    kind_of_loss, options = OPTIONS[name]
    rng = np.random.default_rng(1)
    mass, weight = 50 + rng.exponential(60, 100), rng.normal(1, 0.5, 100)
    score = 1 / (1 + np.exp(-rng.normal(0.005 * mass)))
    score, mass, weight = (torch.tensor(array, dtype=dtype) for array in (score, mass, weight))
    target = torch.arange(100) % 4
    score.requires_grad_()
    loss = mode_loss(score[:, None], mass, weight=weight, label=target, loss=kind_of_loss, **options)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    assert loss.shape == () and loss.dtype == kind
    loss.backward()
    assert score.grad.dtype == dtype
    s, m, w = (tensor.detach().to(kind).numpy() for tensor in (score, mass, weight))
    want, want_grad = libmode.mode_loss_and_grad(s, m, weight=w, label=target.numpy(), loss=kind_of_loss, **options)
    assert loss.item() == pytest.approx(want, rel=1e-6)
    torch.testing.assert_close(score.grad, torch.tensor(want_grad).to(dtype), rtol=0, atol=0)
