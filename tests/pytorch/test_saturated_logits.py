"""The order of logits makes the push, in any precision and wherever they are: as that of scores of the same order."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint

N = 1_200
_RNG = np.random.default_rng(1)
LABEL = torch.tensor(_RNG.integers(0, 2, N))
MASS = torch.tensor(_RNG.random(N))
INCOMING = torch.tensor(_RNG.normal(size=N))
# Multiples of 1/32 below 4, which all types have beside an offset of 16: a leak at one mass.
Z = np.clip(np.round(32 * (_RNG.normal(0, 1, N) + 2 * np.exp(-50 * (MASS.numpy() - 0.5) ** 2))) / 32, -4, 4)


def gradients(z, **arguments):
    """The gradients of three batches, whose push comes with the residual, the sum and the multiplier."""
    layer = MoDeConstraint(order=0, monitor=False, **arguments)
    for _ in range(3):
        z = z.detach().requires_grad_()
        layer(z, LABEL, MASS.to(z.dtype) if z.dtype is torch.float64 else MASS.float()).backward(INCOMING.to(z.dtype))
        yield z.grad.double()


def of_scores():
    """The same by logits, from scores with ranks of the same order; their logits spread by more than 1."""
    below = (Z[None] < Z[:, None]).mean(1) + (Z[None] == Z[:, None]).mean(1) / 2
    score = torch.tensor(below)
    slope = score * (1 - score)
    layer = MoDeConstraint(order=0, monitor=False)
    for _ in range(3):
        score = score.detach().requires_grad_()
        layer(score, LABEL, MASS).backward(INCOMING / slope)
        yield score.grad * slope


@pytest.mark.parametrize("kind, moved", [
    (torch.float64, lambda z: z), (torch.float64, lambda z: 10 * z), (torch.float64, lambda z: z - 20),
    (torch.float64, lambda z: z + 20), (torch.float64, lambda z: z + 300), (torch.float64, lambda z: 16 * z - 3000),
    (torch.float32, lambda z: z - 20), (torch.float32, lambda z: z + 30), (torch.float32, lambda z: 2 * z + 300),
    (torch.float16, lambda z: z + 8), (torch.float16, lambda z: 4 * z), (torch.float16, lambda z: z - 12),
], ids=range(12))  # fmt: skip
def test_the_push_is_that_of_scores_of_the_same_order(kind, moved):
    z = torch.tensor(moved(Z)).to(kind)
    assert torch.equal(z.double(), torch.tensor(moved(Z)))  # nothing is rounded
    digits = {torch.float64: 1e-9, torch.float32: 1e-5, torch.float16: 3e-3}[kind]
    for want, grad in zip(of_scores(), gradients(z, from_logits=True), strict=True):
        background = LABEL == 0
        assert (grad - want)[background].abs().max() < digits * want[background].abs().max()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_infinite_logits_are_named(kind):
    z = torch.tensor(Z).to(kind)
    place = int(torch.argmax((LABEL == 0).int()))
    z[place] = torch.inf
    with pytest.raises(ValueError, match=rf"score\[{place}\] = \+Inf"):
        next(gradients(z, from_logits=True))


def test_a_network_that_sculpts_far_out_is_not_flat():
    """In each precision, and ten times as large: the top 5 % of background has one mass."""
    rng = np.random.default_rng(3)
    for kind in (torch.float64, torch.float32, torch.float16):
        for factor in (1, 10):
            layer = MoDeConstraint(order=0, from_logits=True, monitor=False)
            for _ in range(40):
                mass, label = rng.random(1_000), rng.integers(0, 2, 1_000)
                logit = np.where(
                    (label == 0) & (abs(mass - 0.5) < 0.025), 12 + rng.random(1_000), rng.normal(9, 0.5, 1_000)
                )
                z = torch.tensor(factor * logit).to(kind).requires_grad_()
                layer(z, torch.tensor(label), torch.tensor(mass)).sum().backward()
            assert layer.convergence.flat is False and np.nanmax(layer.convergence.rho) > 100
