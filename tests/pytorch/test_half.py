"""Scores and masses of half precision: gradients that are rounded once, masses of which few differ, and limits."""

import libmode
import numpy as np
import pytest
import torch
from libmode import mode_moments
from libmode.torch import MoDeLoss, mode_loss

SCALE = 65536.0  # what torch.amp.GradScaler starts with: float16 ends below it

LOSSES = {
    "MoDeLoss": MoDeLoss(order=1, bins=8),
    "mode_loss": lambda pred, target, mass: mode_loss(pred, mass, label=target, order=1, bins=8),
    "compiled": torch.compile(MoDeLoss(order=1, bins=8), fullgraph=True, backend="aot_eager"),
    "disco": lambda pred, target, mass: mode_loss(pred, mass, label=target, loss="disco"),
}


def scaled_gradient(loss, score, *others):
    leaf = score.clone().requires_grad_()
    value = loss(leaf, *others)
    (SCALE * value).backward()
    return value.detach(), leaf.grad


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_float32_times_the_scale_rounded_once(name, dtype):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    mass = rng.random(2000)
    score = torch.tensor(1 / (1 + np.exp(rng.normal(size=2000) - 3 * (mass - 0.5)))).to(dtype)
    others = torch.tensor(rng.integers(0, 2, 2000)), torch.tensor(mass, dtype=torch.float32)
    with torch.autocast("cpu", dtype=dtype):
        value, grad = scaled_gradient(loss, score, *others)
    want_value, want = scaled_gradient(loss, score.float(), *others)
    assert grad.dtype == dtype and value.dtype == torch.float32
    assert value == want_value
    assert torch.equal(grad, want.to(dtype))
    assert torch.isfinite(grad).all()


N = 100

TYPES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
# Of the plain loss: what crossing the first or last event of a bin adds to it, the bias takes away.
PLAIN = dict(order=0, unbiased=False)
LIMITS = [
    dict(mass_range=(0, 0.8), bins=2, binning="uniform", score_range=None),
    dict(edges=(0, 0.3, 0.8), score_range=None),
]


def events():
    """Scores and masses of which 60 are the limit itself."""
    rng = np.random.default_rng(0)
    on_limit = np.arange(N) >= N - 60
    score, mass = (np.where(on_limit, 0.8, rng.random(N) * 0.8) for _ in range(2))
    return torch.tensor(score), torch.tensor(rng.permutation(mass))


@pytest.mark.parametrize("options", LIMITS, ids=str)
@TYPES
def test_events_on_a_limit_of_mass_take_part(options, dtype):
    mass, score = events()[1].to(dtype), torch.rand(N, requires_grad=True)
    (grad,) = torch.autograd.grad(mode_loss(score, mass, **PLAIN, **options), score)
    assert torch.count_nonzero(grad) == N
    if dtype is torch.bfloat16:  # which NumPy has not
        return
    mass, score = mass.numpy(), score.detach().numpy()
    edges = libmode.mode_edges(mass, **options)
    assert edges[0] <= mass.min() and mass.max() <= edges[-1]
    moments, last = mode_moments(score, mass, at=[0.5], order=0, **options), mass >= edges[-2]
    assert moments.cdf[0, -1] == pytest.approx((last & (score <= 0.5)).sum() / last.sum())
