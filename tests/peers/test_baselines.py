"""DisCo in PyTorch; core has its definition."""

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import mode_loss

OPTIONS = {
    "disco": ("disco", {}),
    "unbiased disco": ("disco", {"unbiased": True}),
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
