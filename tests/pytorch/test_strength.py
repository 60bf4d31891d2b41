"""MoDeLoss(strength=K): the loss times K |C|/|M|, of the gradients of cross entropy and of MoDe."""

import pytest
import torch
from libmode.torch import Events, MoDeLoss
from torch.nn.functional import binary_cross_entropy

N = 600


def events(seed=1):
    """Scores that need a gradient, labels, masses and weights."""
    generator = torch.Generator().manual_seed(seed)
    score, mass, weight = torch.rand(3, N, generator=generator, dtype=torch.float64)
    score = (0.1 + 0.4 * score + 0.4 * mass).requires_grad_()
    return score, (torch.arange(N) % 3 == 0).double(), mass, weight


def norm_of(loss, score, chosen):
    return torch.autograd.grad(loss, score)[0][chosen].norm()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_as_large_as_that_of_cross_entropy_times_the_strength(weighted):
    score, label, mass, weight = events()
    weight = weight if weighted else None
    entropy = norm_of(binary_cross_entropy(score, label, weight), score, label == 0)
    for strength in (1, 3):
        found = norm_of(MoDeLoss(order=1, strength=strength)(score, label, mass, weight), score, slice(None))
        assert found.item() == pytest.approx(strength * entropy.item(), rel=1e-6)


def test_norms_go_on_from_batch_to_batch_and_an_evaluation_leaves_them_alone():
    """core tests their averages."""
    mode, counts = MoDeLoss(order=1, strength=2), []
    for training in (True, False, True):
        before = mode.norms.clone()
        mode.train(training)(*events(1 + len(counts))[:3])
        assert torch.equal(mode.norms, before) == (not training)
        counts.append(mode.norms[0].item())
    assert counts == [1, 1, 2] and torch.equal(mode.state_dict()["norms"], mode.norms)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_averages_that_are_none_are_refused(bad):
    """They made the loss NaN, or 0 for the rest of the training."""
    mode = MoDeLoss(order=1, strength=3)
    for place in range(3):
        saved = {"norms": torch.ones(3, dtype=torch.float64)}
        saved["norms"][place] = bad
        with pytest.raises(ValueError, match=rf"norms\[{place}\] = {bad}: must be finite and at least 0"):
            mode.load_state_dict(saved)
        assert not mode.norms.any()


def test_signal_of_any_score_counts_for_nothing():
    """NaN scores of signal failed the strength, though the loss looks at background alone."""
    score, label, mass, _ = events()
    want = MoDeLoss(order=1, strength=3)(score, label, mass)
    score = torch.where(label == 1, torch.nan, score.detach()).requires_grad_()
    found = MoDeLoss(order=1, strength=3)(score, label, mass)
    found.backward()
    assert found.item() == pytest.approx(want.item(), rel=1e-12) and score.grad.isfinite().all()


def test_reference_events_define_the_loss_and_the_batch_its_size():
    score, label, mass, _ = events()
    others = events(2)
    reference = Events(others[0].detach(), *others[1:3])
    got = MoDeLoss(order=1, strength=3)(score, label, mass, reference=reference)
    entropy = norm_of(binary_cross_entropy(score, label), score, label == 0)
    assert norm_of(got, score, slice(None)).item() == pytest.approx(3 * entropy.item(), rel=1e-6)
