"""A batch that has no loss: an error with advice, or the loss 0, a count and one warning."""

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss


def of_loss(**options):
    return MoDeLoss(order=0, bins=4, **options)


def constraint(**options):
    return MoDeConstraint(order=1, bins=4, **options)


def events(n=60):
    """Score, target and mass; every third event is signal."""
    rng = np.random.default_rng(2)
    score = torch.tensor(rng.random(n), requires_grad=True)
    return score, (torch.arange(n) % 3 == 2).long(), torch.tensor(rng.random(n))


BATCHES = {
    "no background": lambda score, target, mass: (score, 0 * target + 1, mass, None),
    "empty": lambda score, target, mass: (score[:0], target[:0], mass[:0], None),
    "one event": lambda score, target, mass: (score[:1], target[:1], mass[:1], None),
    "weights that sum to a negative number": lambda score, target, mass: (score, target, mass, -torch.ones_like(mass)),
    "equal masses": lambda score, target, mass: (score, target, 0 * mass, None),
}


@pytest.mark.parametrize("which", BATCHES)
def test_skip_gives_0_with_gradient_0_and_warns_once(which):
    batch = BATCHES[which](*events())
    with pytest.raises(libmode.BatchError, match="small last batch.*on_bad_batch='skip'"):
        of_loss(on_bad_batch="raise")(*batch)
    loss = of_loss()
    with pytest.warns(RuntimeWarning, match="the loss 0: ") as caught:
        values = [loss(*batch) for _ in range(3)]
    assert len(caught) == 1
    assert loss.skipped == 3
    for value in values:
        assert value.item() == 0 and value.dtype == torch.float64
        (grad,) = torch.autograd.grad(value, batch[0])
        assert grad.shape == batch[0].shape and not grad.any()


def test_a_constraint_skips_too():
    score, target, mass = events()
    layer = constraint()
    with pytest.warns(RuntimeWarning, match=r"gives a batch .*: no event selected") as caught:
        for _ in range(3):
            assert layer(score, 0 * target + 1, mass) is score
    assert len(caught) == 1 and layer.skipped == 3 and layer.state[0] == 0
    with pytest.raises(libmode.BatchError, match="no event selected"):
        constraint(on_bad_batch="raise")(score, 0 * target + 1, mass)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("make", [of_loss, constraint])
def test_a_loss_that_only_skips_is_an_error_with_the_reason(make):
    good, bad = events(), BATCHES["no background"](*events())
    loss = make()
    for _ in range(9):
        loss(*bad)
    with pytest.raises(libmode.BatchError, match="skipped 10 batches in a row. The last one: .*(label|back)"):
        loss(*bad)
    loss = make()
    for _ in range(2):  # a batch that has a loss ends the row
        loss(*good)
        for _ in range(99):
            loss(*bad)
    with pytest.raises(libmode.BatchError, match="skipped 100 batches in a row"):
        loss(*bad)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_score_that_is_nan_does_not_spoil_the_gradient_of_a_batch_without_background():
    score, target, mass = events()
    score.data[5] = torch.nan
    value = MoDeLoss(order=0)(score, 0 * target + 1, mass)
    value.backward()
    assert value == 0 and not score.grad.any()
