"""What is easily given wrong says so, and what trains nothing is noticed."""

import warnings

import numpy as np
import pytest
import torch
from libmode.torch import MoDeConstraint, MoDeLoss, mode_loss

RNG = np.random.default_rng(1)
MASSES, TARGET = torch.tensor(RNG.random(500)), torch.tensor(RNG.integers(0, 2, 500))
LOGITS = 3 * torch.tensor(RNG.random(500)) + TARGET - 2


@pytest.mark.parametrize("make", [MoDeLoss, MoDeConstraint], ids=str)
def test_events_without_labels(make):
    """Signal must not become background by silence."""
    score = LOGITS.sigmoid().float().requires_grad_()
    with pytest.raises(TypeError, match="label is None, .* background_only=False"):
        make(order=0)(score, None, MASSES)
    pooled = [make(order=0, background_only=False)(score, label, MASSES) for label in (None, TARGET)]
    assert torch.equal(*pooled)
    assert mode_loss(score, MASSES, order=0) == MoDeLoss(order=0, background_only=False)(score, None, MASSES)


# ------------------------------------------------------------- outputs that are no scores


@pytest.mark.parametrize("value", [torch.inf, -torch.inf])
def test_infinite_logits_of_background_are_an_error(value):
    constraint = MoDeConstraint(from_logits=True, order=1)
    for label in (1, 0):
        logits, at = LOGITS.clone(), int((label == TARGET).nonzero()[3])
        logits[at] = value
        if label:  # nobody looks at signal
            constraint(logits.requires_grad_(), TARGET, MASSES).sum().backward()
        else:
            before = constraint.state.clone()
            with pytest.raises(ValueError, match=rf"score\[{at}\] = [+-]Inf: every score of a selected event"):
                constraint(logits.requires_grad_(), TARGET, MASSES).sum().backward()
            assert torch.equal(constraint.state, before)


@pytest.mark.parametrize("make", [MoDeConstraint, MoDeLoss])
def test_scores_that_are_nearly_alike_are_noticed_once(make):
    score = 0.5 + 1e-5 * torch.randn(500, dtype=torch.float64)
    for monitor, count in ((True, 1), (False, 0)):
        mode = make(order=0, monitor=monitor)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(150):
                mode(score.clone().requires_grad_(), TARGET, MASSES).sum().backward()
        assert [str(one.message)[:56] for one in caught] == [
            "the scores of a batch are nearly equal (mean 0.5, standa"
        ] * count
