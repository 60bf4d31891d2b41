"""The distance correlation of two tensors, with both gradients."""

import libmode
import numpy as np
import pytest
import torch
from libmode import BatchError
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


def weighted(x, y, weight):
    return distance_correlation(x, y, weight=weight)


X, ONES = torch.rand(20, generator=torch.Generator().manual_seed(8)), torch.ones(20)
ERRORS = [
    (BatchError, "x: all 20 events have the value 7, so DisCo is 0/0", distance_correlation, (7 * ONES, X)),
    (BatchError, "3 events, and DisCo with unbiased = true needs", distance_correlation, (X[:3], X[3:6])),
    (ValueError, r"x\[0\] = NaN: must be finite", distance_correlation, (torch.nan * X, X)),
    (TypeError, "x is list: expected a tensor", distance_correlation, ([1.0] * 20, X)),
    (ValueError, "x has shape", distance_correlation, (torch.rand(20, 2), X)),
    (BatchError, "y: all 20 events have the value 1", distance_correlation, (X, ONES)),
    (ValueError, "weight has length 19, but x has length 20", weighted, (X, X**2, ONES[1:])),
    (ValueError, "weight requires a gradient", weighted, (X, X**2, ONES.clone().requires_grad_())),
]


@pytest.mark.parametrize("error, message, function, given", ERRORS, ids=[row[1] for row in ERRORS])
def test_errors(error, message, function, given):
    with pytest.raises(error, match=message) as caught:
        function(*given)
    assert type(caught.value) is error


def test_the_loss_of_tensors_is_that_of_arrays():
    rng = np.random.default_rng(3)
    score, mass, weight, label = rng.random(200), rng.random(200), rng.random(200), rng.integers(0, 2, 200)
    for more in ({}, {"label": label}, {"label": label, "weight": weight}):
        tensors = {name: torch.tensor(values) for name, values in more.items()}
        found = mode_loss(torch.tensor(score), torch.tensor(mass), loss="disco", **tensors)
        assert found.item() == pytest.approx(libmode.mode_loss(score, mass, loss="disco", **more), rel=1e-12)
