"""MoDeConstraint of the outputs of a softmax: the push of the log odds of signal, also where outputs are saturated."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, nll_loss

N = 900


def events(classes, seed=1):
    """Logits that need a gradient, classes, and masses on which the logits depend."""
    generator = torch.Generator().manual_seed(seed)
    mass = torch.rand(N, generator=generator, dtype=torch.float64)
    logit = torch.randn(N, classes, generator=generator, dtype=torch.float64)
    logit[:, -1] += 3 * mass
    return logit.requires_grad_(), torch.arange(N) % classes, mass


def grad_of(loss, logit):
    return torch.autograd.grad(loss, logit)[0]


def test_two_logits_get_the_push_of_their_difference():
    logit, label, mass = events(2)
    layer, other = (MoDeConstraint(order=1, from_logits=True) for _ in range(2))
    out = layer(logit, label, mass)
    assert torch.equal(out, logit)
    got = grad_of(cross_entropy(out, label), logit)
    odds = (logit[:, 1] - logit[:, 0]).detach().requires_grad_()
    want = grad_of(binary_cross_entropy_with_logits(other(odds, label, mass), label.double()), odds)
    torch.testing.assert_close(got, torch.stack([-want, want], 1))
    torch.testing.assert_close(layer.state, other.state)


@pytest.mark.parametrize("signal, labels", [(-1, (0, 1)), (1, (0, 2)), (2, (0,))])
def test_of_three_classes_the_odds_are_against_those_of_background(signal, labels):
    logit, label, mass = events(3)
    layer = MoDeConstraint(order=1, from_logits=True, signal=signal, background_label=labels)
    got = grad_of(cross_entropy(layer(logit, label, mass), label), logit) - grad_of(cross_entropy(logit, label), logit)
    signal %= 3
    push, others = got[:, signal], [k for k in range(3) if k not in (signal, *labels)]
    chosen = torch.isin(label, torch.tensor(labels))
    assert push[chosen].abs().min() > 0 and not got[~chosen].any() and not got[:, others].any()
    shares = torch.softmax(logit.detach()[:, list(labels)], 1)
    torch.testing.assert_close(got[:, list(labels)], -push[:, None] * shares)


@pytest.mark.parametrize("classes, labels", [(2, 0), (3, (0, 1)), (3, 1)])
def test_probabilities_get_the_push_of_their_logits(classes, labels):
    logit, label, mass = events(classes)
    of_logits = MoDeConstraint(order=1, from_logits=True, background_label=labels)
    of_scores = MoDeConstraint(order=1, background_label=labels)
    want = grad_of(cross_entropy(of_logits(logit, label, mass), label), logit)
    probability = torch.softmax(logit, 1)
    out = of_scores(probability, label, mass)
    assert torch.equal(out, probability)
    got = grad_of(nll_loss(out.log(), label), logit)
    if classes == 2:
        torch.testing.assert_close(got, want)
    else:  # its push is scaled by the gradient by p/(p + q), and not by the logit of signal
        bare = grad_of(cross_entropy(logit, label), logit)
        assert torch.cosine_similarity((got - bare).flatten(), (want - bare).flatten(), dim=0) > 0.9


# ------------------------------------------------------------- saturated outputs

_RNG = np.random.default_rng(1)
LABEL, MASS, INCOMING = (torch.tensor(a) for a in (_RNG.integers(0, 2, N), _RNG.random(N), _RNG.normal(size=N)))
# Multiples of 1/32 below 4, which all types have beside an offset of 16: a leak at one mass.
Z = np.clip(np.round(32 * (_RNG.normal(0, 1, N) + 2 * np.exp(-50 * (MASS.numpy() - 0.5) ** 2))) / 32, -4, 4)
DIGITS = {torch.float64: 1e-9, torch.float32: 1e-5, torch.bfloat16: 3e-2, torch.float16: 3e-3}


def of_odds(odds, label=LABEL, **arguments):
    """The gradient of the log odds in double precision."""
    leaf = torch.tensor(odds).requires_grad_()
    MoDeConstraint(order=0, from_logits=True, **arguments)(leaf, label, MASS).backward(INCOMING)
    return leaf.grad


@pytest.mark.parametrize("offset", [0, 1000, -(2**16)])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_push_of_logits_is_that_of_their_odds_in_double(offset, classes):
    """Three classes have two backgrounds, whose logits differ by another multiple of 1/32 in each event."""
    other = np.random.default_rng(2).permutation(N) / 32 - 18
    rows = np.stack([0 * Z, *[other] * (classes - 2), Z], 1) + offset
    label = torch.where(LABEL == 0, torch.arange(N) % (classes - 1), classes - 1)
    want = of_odds(Z - np.log1p(np.exp(other)) * (classes - 2), label, background_label=tuple(range(classes - 1)))
    leaf, incoming = torch.tensor(rows).float().requires_grad_(), torch.zeros(rows.shape)
    incoming[:, -1] = INCOMING
    layer = MoDeConstraint(order=0, from_logits=True, background_label=tuple(range(classes - 1)))
    layer(leaf, label, MASS.float()).backward(incoming)
    assert (leaf.grad[:, -1] - want)[LABEL == 0].abs().max() < 1e-5 * want.abs().max()


@pytest.mark.parametrize("kind, middle", [
    (torch.float64, 25), (torch.float64, 300), (torch.float64, -300), (torch.float32, 20), (torch.float32, 60), (torch.float32, -60),
    (torch.bfloat16, 20), (torch.float16, -5),
], ids=range(8))  # fmt: skip
def test_the_push_of_probabilities_is_that_of_their_odds_in_double(kind, middle):
    """The probability of background has digits that 1 minus itself has lost."""
    both = torch.tensor(np.stack([1 / (1 + np.exp(Z + middle)), 1 / (1 + np.exp(-Z - middle))], 1)).to(kind)
    q, p = np.longdouble(both.double().numpy()).T
    slope, want = torch.tensor(np.float64(p * q / (p + q))), of_odds(np.float64(np.log(p) - np.log(q)))
    leaf, incoming = both.clone().requires_grad_(), torch.zeros(both.shape).double()
    incoming[:, 1] = INCOMING / slope
    mass = MASS if kind is torch.float64 else MASS.float()
    MoDeConstraint(order=0)(leaf, LABEL, mass).backward(incoming.to(kind))
    grad = slope * (leaf.grad[:, 1].double() - leaf.grad[:, 0].double())
    assert (grad - want)[LABEL == 0].abs().max() < DIGITS[kind] * want[LABEL == 0].abs().max()


@pytest.mark.parametrize("row", [[0.0, 1.0], [1.0, 0.0], [1e-44, 1.0], [1.0, 1e-44]])
def test_probabilities_of_0_get_no_push_and_leave_all_others_theirs(row):
    both = torch.tensor(np.stack([1 / (1 + np.exp(Z)), 1 / (1 + np.exp(-Z))], 1)).float()
    both[torch.argmax((LABEL == 0).int())] = torch.tensor(row)
    leaf = both.clone().requires_grad_()
    incoming = torch.stack([INCOMING, 0 * INCOMING], 1).float()
    MoDeConstraint(order=0)(leaf, LABEL, MASS.float()).backward(incoming)
    assert leaf.grad.isfinite().all() and (leaf.grad[:, 1] != 0)[LABEL == 0].float().mean() > 0.98


@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
@pytest.mark.parametrize("label_of", [0, 1, 2])
@pytest.mark.parametrize("background", [(0, 1), (0,), (1,)])
@pytest.mark.filterwarnings("ignore:score has 3 classes")
def test_a_saturated_event_of_three_classes_leaves_all_others_alone(kind, label_of, background):
    """Rounding leaves classes no probability."""
    logit, label, mass = events(3)
    logit = logit.detach().to(kind)
    logit[7], label[7] = torch.tensor([-60.0, -60.0, -60.0], dtype=kind), label_of
    logit[7, label_of] = 60
    leaf = logit.requires_grad_()
    probability = torch.softmax(leaf, 1)
    out = MoDeConstraint(order=1, background_label=background)(probability, label, mass)
    assert torch.equal(out, probability)
    assert grad_of(nll_loss((out.float() + 1e-6).log(), label), leaf).isfinite().all()
