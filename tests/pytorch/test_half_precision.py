"""Scores of half precision: the gradient stays in float32 until it is multiplied by the incoming one."""

import numpy as np
import pytest
import torch
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
