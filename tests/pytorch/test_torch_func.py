"""torch.func's transforms of the losses, and what it says where there is no derivative."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss
from torch.autograd import forward_ad
from torch.func import hessian, jacrev, jvp

# What PyTorch itself does when forward mode is first used.
pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit.script` is:FutureWarning", "ignore::DeprecationWarning:torch"
)

N = 60
LOSSES = {
    "mode": MoDeLoss(order=1, bins=5, unbiased=True),
    "mode_loss": lambda pred, target, mass, weights: mode_loss(pred, mass, weight=weights, label=target, bins=5),
    "disco": lambda pred, target, mass, weights: mode_loss(pred, mass, weight=weights, label=target, loss="disco"),
    "flatness": lambda pred, target, mass, weights: mode_loss(
        pred, mass, weight=weights, label=target, loss="flatness", bins=5
    ),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())


def events(seed=4, dtype=torch.float64):
    """Score, target, mass and weights; neighboring scores differ by 1/128."""
    rng = np.random.default_rng(seed)
    score = torch.tensor((rng.permutation(N) + 1) / 128, dtype=dtype)
    mass, weights = (torch.tensor(a, dtype=dtype) for a in (rng.random(N), rng.choice([0.5, 1.0, 2.0], N)))
    return score, torch.arange(N) % 3 % 2, mass, weights


def gradient(loss, score, *others):
    leaf = score.clone().requires_grad_()
    value = loss(leaf, *others)
    return value.detach(), torch.autograd.grad(value, leaf)[0]


@every_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
def test_jvp(loss, dtype):
    score, *others = events(dtype=dtype)
    direction = torch.linspace(-1, 1, N, dtype=dtype)
    value, tangent = jvp(lambda s: loss(s, *others), (score,), (direction,))
    single = dtype if dtype == torch.float64 else torch.float32
    want_value, want = gradient(loss, score.to(single), *others)
    assert value == want_value and tangent.dtype == single
    torch.testing.assert_close(tangent, want @ direction.to(single), rtol=1e-5, atol=0)
    with forward_ad.dual_level():
        dual = loss(forward_ad.make_dual(score, direction), *others)
        assert forward_ad.unpack_dual(dual).tangent == tangent


@every_loss
def test_vmap_over_batches_with_and_without_grad(loss):
    batches = [events(seed) for seed in range(3)]
    stacked = [torch.stack(values) for values in zip(*batches, strict=True)]
    want = [gradient(loss, *batch) for batch in batches]
    losses = torch.vmap(loss)(*stacked)
    grads = torch.vmap(torch.func.grad(loss))(*stacked)
    for (value, grad), got, got_grad in zip(want, losses, grads, strict=True):
        assert got == value
        assert torch.equal(got_grad, grad)
    assert torch.equal(torch.func.grad(lambda *a: torch.vmap(loss)(*a).sum())(*stacked), grads)


@every_loss
@pytest.mark.parametrize("twice", [hessian, lambda loss: jacrev(jacrev(loss))], ids=["forward", "reverse"])
def test_a_second_derivative_is_a_clear_error(loss, twice):
    with pytest.raises(RuntimeError, match="no second derivative"):
        twice(loss)(*events())


def test_a_transform_of_the_score_goes_with_grad():
    loss = MoDeLoss(order=1, bins=5, score_transform="signal_efficiency")
    assert torch.equal(torch.func.grad(loss)(*events()), gradient(loss, *events())[1])
    twice = [torch.stack([values, values]) for values in events()]
    for transformed in (torch.vmap(loss), torch.vmap(torch.func.grad(loss))):
        with pytest.raises(RuntimeError, match="torch.vmap cannot transform a MoDeLoss with score_transform"):
            transformed(*twice)
