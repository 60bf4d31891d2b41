"""Reference events in MoDeLoss and MoDeConstraint."""

import libmode
import pytest
import torch
from libmode.torch import Events, MoDeConstraint, MoDeLoss, mode_loss


def events(n, seed=1):
    """Scores, targets, masses, float64."""
    generator = torch.Generator().manual_seed(seed)
    score, mass = torch.rand(2, n, dtype=torch.float64, generator=generator)
    return score.requires_grad_(), torch.randint(0, 2, (n,), generator=generator), mass


@pytest.mark.parametrize("pooled", [False, True])
def test_the_loss_is_that_of_all_and_the_gradient_that_of_the_batch(pooled):
    score, target, mass = events(300)
    others = events(900, 2)
    reference = Events(others[0].detach(), *others[1:3])
    loss = MoDeLoss(order=1, background_only=not pooled)(score, target, mass, reference=reference)
    loss.backward()

    every = [torch.cat([a.detach(), b.detach()]) for a, b in zip((score, target, mass), others, strict=True)]
    every[0].requires_grad_()
    want = mode_loss(every[0], every[2], label=None if pooled else every[1], order=1)
    want.backward()
    counts = [len(target), len(every[1])] if pooled else [int((t == 0).sum()) for t in (target, every[1])]
    assert loss.item() == pytest.approx(want.item(), rel=1e-12)
    torch.testing.assert_close(score.grad, every[0].grad[:300] * (counts[1] / counts[0]), rtol=1e-12, atol=0)


def test_reference_events_without_background_are_a_bad_batch():
    score, target, mass = events(300)
    reference = Events(score.detach(), torch.ones(300), mass)
    with pytest.raises(
        libmode.BatchError, match="reference: no event selected: none of the 300 values of label equals"
    ):
        MoDeLoss(order=1, on_bad_batch="raise")(score, target, mass, reference=reference)
    with pytest.warns(RuntimeWarning, match="no gradient of MoDe.*: reference: no event selected"):
        MoDeConstraint(order=1)(score, target, mass, reference=reference)
