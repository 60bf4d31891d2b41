"""MoDeConstraint of the outputs of a softmax: the log odds of signal against the classes of background."""

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


def test_classes_that_there_are_not_say_so():
    logit, label, mass = events(3)
    for options, sentence in (
        ({"signal": 3}, r"score has shape \(900, 3\): expected .* of a softmax with a class 3"),
        ({"background_label": 2}, "background_label = 2 and signal = -1: the 3 columns of score are classes"),
        ({"background_label": (0, 4)}, "background_label = 0, 4 and signal = -1"),
    ):
        with pytest.raises(ValueError, match=sentence):
            MoDeConstraint(order=1, from_logits=True, **options)(logit, label, mass)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
@pytest.mark.parametrize("label_of", [0, 1, 2])
def test_a_saturated_event_leaves_all_others_alone(kind, label_of):
    """Rounding leaves classes no probability."""
    logit, label, mass = events(3)
    logit = logit.detach().to(kind)
    logit[7], label[7] = torch.tensor([-60.0, -60.0, -60.0], dtype=kind), label_of
    logit[7, label_of] = 60
    leaf = logit.requires_grad_()
    for classes in ((0, 1), (0,), (1,)):
        layer, probability = MoDeConstraint(order=1, background_label=classes), torch.softmax(leaf, 1)
        out = layer(probability, label, mass)
        assert torch.equal(out, probability)
        assert grad_of(nll_loss((out.float() + 1e-6).log(), label), leaf).isfinite().all()


def test_probabilities_and_logits_are_told_apart():
    logit, label, mass = events(3)
    with pytest.raises(ValueError, match="from_logits = True, and the rows of score are from 0 to 1 with sums of 1"):
        MoDeConstraint(order=1, from_logits=True)(torch.softmax(logit, 1), label, mass)
    with pytest.raises(ValueError, match=r"score\[0\] has the sum .* must be probabilities of a softmax"):
        MoDeConstraint(order=1)(logit.sigmoid(), label, mass)
