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


BACKGROUND = torch.zeros(N)


def gradients(z, label=LABEL, **arguments):
    """The gradients of three batches, whose push comes with the residual, the sum and the multiplier."""
    layer = MoDeConstraint(order=0, monitor=False, **arguments)
    for _ in range(3):
        z = z.detach().requires_grad_()
        layer(z, label, MASS.to(z.dtype) if z.dtype is torch.float64 else MASS.float()).backward(INCOMING.to(z.dtype))
        yield z.grad.double()


def of_scores():
    """The same by logits, from scores with ranks of the same order; their logits spread by more than 1.

    All events are background: beside signal the scale of the push depends on the scores themselves, by their cross entropy.
    """
    below = (Z[None] < Z[:, None]).mean(1) + (Z[None] == Z[:, None]).mean(1) / 2
    score = torch.tensor(below)
    slope = score * (1 - score)
    layer = MoDeConstraint(order=0, monitor=False)
    for _ in range(3):
        score = score.detach().requires_grad_()
        layer(score, BACKGROUND, MASS).backward(INCOMING / slope)
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
    for want, grad in zip(of_scores(), gradients(z, BACKGROUND, from_logits=True), strict=True):
        assert (grad - want).abs().max() < digits * want.abs().max()


@pytest.mark.parametrize("offset", [0, 1000, -(2**16)])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_push_of_outputs_of_a_softmax_is_that_of_their_odds_in_double(offset, classes):
    """Three classes have two backgrounds, whose logits differ by another multiple of 1/32 in each event."""
    other = np.random.default_rng(2).permutation(N) / 32 - 18
    rows = np.stack([0 * Z, *[other] * (classes - 2), Z], 1) + offset
    odds = torch.tensor(Z - np.log1p(np.exp(other)) * (classes - 2))
    label = torch.where(LABEL == 0, torch.arange(N) % (classes - 1), classes - 1)
    makes = {"order": 0, "monitor": False, "from_logits": True, "background_label": tuple(range(classes - 1))}
    layer, other, incoming = MoDeConstraint(**makes), MoDeConstraint(**makes), torch.zeros(rows.shape)
    incoming[:, -1] = INCOMING
    for _ in range(3):
        leaf, one = torch.tensor(rows).float().requires_grad_(), odds.clone().requires_grad_()
        layer(leaf, label, MASS.float()).backward(incoming)
        other(one, label, MASS).backward(INCOMING)
        assert (leaf.grad[:, -1] - one.grad).abs().max() < 1e-5 * one.grad[LABEL == 0].abs().max()


@pytest.mark.parametrize("kind, middle", [
    (torch.float64, 25), (torch.float64, 300), (torch.float64, -300), (torch.float32, 20), (torch.float32, 60), (torch.float32, -60),
    (torch.bfloat16, 20), (torch.float16, -5),
], ids=range(8))  # fmt: skip
def test_the_push_of_probabilities_is_that_of_their_odds_in_double(kind, middle):
    """The probability of background has digits that 1 minus itself has lost."""
    both = torch.tensor(np.stack([1 / (1 + np.exp(Z + middle)), 1 / (1 + np.exp(-Z - middle))], 1)).to(kind)
    q, p = np.longdouble(both.double().numpy()).T
    odds, slope = torch.tensor(np.float64(np.log(p) - np.log(q))), torch.tensor(np.float64(p * q / (p + q)))
    layer = MoDeConstraint(order=0, monitor=False)
    digits = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float16: 3e-3}[kind]
    for want in gradients(odds, from_logits=True):
        leaf, incoming = both.clone().requires_grad_(), torch.zeros(both.shape).double()
        incoming[:, 1] = INCOMING / slope
        layer(leaf, LABEL, MASS if kind is torch.float64 else MASS.float()).backward(incoming.to(kind))
        grad = slope * (leaf.grad[:, 1].double() - leaf.grad[:, 0].double())
        assert (grad - want)[LABEL == 0].abs().max() < digits * want[LABEL == 0].abs().max()


def test_probabilities_of_0_get_no_push_and_leave_all_others_theirs():
    both = torch.tensor(np.stack([1 / (1 + np.exp(Z)), 1 / (1 + np.exp(-Z))], 1)).float()
    place = torch.argmax((LABEL == 0).int())
    for row in ([0.0, 1.0], [1.0, 0.0], [1e-44, 1.0], [1.0, 1e-44]):
        both[place] = torch.tensor(row)
        leaf = both.clone().requires_grad_()
        MoDeConstraint(order=0, monitor=False)(leaf, LABEL, MASS.float()).backward(
            torch.stack([INCOMING, 0 * INCOMING], 1).float()
        )
        assert leaf.grad.isfinite().all() and (leaf.grad[:, 1] != 0)[LABEL == 0].sum() > 500
