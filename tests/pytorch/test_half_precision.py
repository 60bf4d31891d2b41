"""Scores of half precision: the gradient stays in float32 until it is multiplied by the incoming one."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss
from libmode.torch.baselines import DisCoLoss, FlatnessLoss

HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
SCALE = 65536.0  # what torch.amp.GradScaler starts with: float16 ends below it

LOSSES = {
    "MoDeLoss": MoDeLoss(order=1, bins=8),
    "score_transform": MoDeLoss(order=1, bins=8, score_transform="signal_efficiency"),
    "mode_loss": lambda pred, target, mass: mode_loss(pred, mass, label=target, order=1, bins=8),
    "operator": lambda pred, target, mass: torch.ops.libmode.loss(
        pred, mass, None, target, None, MoDeLoss(order=1, bins=8)._encoded
    )[0],
    "compiled": torch.compile(MoDeLoss(order=1, bins=8), fullgraph=True, backend="aot_eager"),
    "DisCoLoss": DisCoLoss(),
    "FlatnessLoss": FlatnessLoss(bins=8),
}


def events(dtype, n=2000):
    """Score, target and mass, where the score hangs on the mass."""
    rng = np.random.default_rng(0)
    mass = rng.random(n)
    score = 1 / (1 + np.exp(rng.normal(size=n) - 3 * (mass - 0.5)))
    return torch.tensor(score).to(dtype), torch.tensor(rng.integers(0, 2, n)), torch.tensor(mass, dtype=torch.float32)


def scaled_gradient(loss, score, *others):
    leaf = score.clone().requires_grad_()
    value = loss(leaf, *others)
    (SCALE * value).backward()
    return value.detach(), leaf.grad


@HALVES
@pytest.mark.parametrize("name", LOSSES)
def test_the_gradient_is_that_of_float32_times_the_scale_rounded_once(name, dtype):
    loss = LOSSES[name]
    score, *others = events(dtype)
    value, grad = scaled_gradient(loss, score, *others)
    want_value, want = scaled_gradient(loss, score.float(), *others)
    assert grad.dtype == dtype and value.dtype == torch.float32
    assert value == want_value
    assert torch.equal(grad, want.to(dtype))
    assert torch.isfinite(grad).all()


@HALVES
def test_autocast_and_the_first_step_of_a_grad_scaler(dtype):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1), torch.nn.Sigmoid())
    _, target, mass = events(torch.float32)
    x = torch.stack([torch.randn(len(mass)), mass], dim=1)
    before = [parameter.detach().clone() for parameter in network.parameters()]
    optimizer, scaler = torch.optim.SGD(network.parameters(), lr=1.0), torch.amp.GradScaler("cpu")
    with torch.autocast("cpu", dtype=dtype):
        score = network(x)
        loss = MoDeLoss(order=1, bins=8)(score, target, mass)
    assert score.dtype == dtype and loss.dtype == torch.float32
    assert loss == MoDeLoss(order=1, bins=8)(score.float(), target, mass)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == SCALE
    assert all((parameter != old).any() for parameter, old in zip(network.parameters(), before, strict=True))
