"""The distance correlation of two tensors, with both gradients."""

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import distance_correlation, mode_loss

from bench.peers import disco_loss


@pytest.mark.parametrize("power", [1, 2, 0.5])
def test_the_plain_form_is_that_of_the_authors(power):
    """With the signature of their function, as docs/from-disco.md has it."""

    def distance_corr(var_1, var_2, normedweight, power=1):
        return distance_correlation(var_1, var_2, weight=normedweight, unbiased=False) ** power

    torch.manual_seed(3)
    first = torch.rand(300, dtype=torch.float64)
    second = torch.round(first + torch.rand(300, dtype=torch.float64), decimals=1)
    weight = torch.rand(300, dtype=torch.float64)
    found = []
    for function in (distance_corr, lambda x, y, w, power: disco_loss(x, y, w) ** power):
        pair = [first.clone().requires_grad_(), second.clone().requires_grad_()]
        value = function(*pair, weight / weight.mean(), power)
        value.backward()
        found.append([value.detach(), *(tensor.grad for tensor in pair)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_types_shapes_and_the_gradient_that_is_wanted(kind):
    torch.manual_seed(5)
    x, y = torch.rand(64, 1).to(kind).requires_grad_(), torch.rand(64).to(kind)
    value = distance_correlation(x, y)
    assert value.dtype is (torch.float64 if kind is torch.float64 else torch.float32)
    assert value.shape == ()
    value.backward()
    assert (x.grad.dtype, x.grad.shape, y.grad) == (kind, (64, 1), None)
    exact = distance_correlation(x.detach().double(), y.double())
    assert value.item() == pytest.approx(exact.item(), abs=1e-6) and not exact.requires_grad


def test_the_loss_of_tensors_is_that_of_arrays():
    rng = np.random.default_rng(3)
    score, mass, weight, label = rng.random(200), rng.random(200), rng.random(200), rng.integers(0, 2, 200)
    for more in ({}, {"label": label}, {"label": label, "weight": weight}):
        tensors = {name: torch.tensor(values) for name, values in more.items()}
        found = mode_loss(torch.tensor(score), torch.tensor(mass), loss="disco", **tensors)
        assert found.item() == pytest.approx(libmode.mode_loss(score, mass, loss="disco", **more), rel=1e-12)
