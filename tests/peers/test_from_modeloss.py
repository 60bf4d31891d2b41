"""The function of docs/from-disco.md beside modeloss.pytorch.MoDeLoss, whose place it takes."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from modeloss.pytorch import MoDeLoss as Theirs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-disco.md"
PROGRAM: dict = {}
exec(
    re.search(r"```python\n((?:(?!```).)*def like_modeloss.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1],
    PROGRAM,
)


def evaluate(mode, score, *rest):
    """The loss, and its gradient with respect to the scores."""
    score = score.clone().requires_grad_()
    loss = mode(score, *rest)
    loss.backward()
    return loss.item(), score.grad


def differences(n, theirs, ours):
    """The relative difference of the losses, that of the gradients over the largest element, and 1 - their correlation."""
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        mass = rng.permutation(np.linspace(-1, 1, n))
        score = 1 / (1 + np.exp(-rng.normal(1.5 * mass + mass**2)))
        events = torch.from_numpy(score), torch.zeros(n, dtype=torch.float64), torch.from_numpy(mass)
        (loss, grad), (our_loss, our_grad) = evaluate(theirs, *events), evaluate(ours, *events)
        correlation = np.corrcoef(grad, our_grad)[0, 1]
        found.append(
            (abs(loss / our_loss - 1), ((grad - our_grad).abs().max() / our_grad.abs().max()), 1 - correlation)
        )
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    "options",
    [
        dict(order=0), dict(order=1), dict(order=2), dict(order=1, normalize=False),
        dict(order=1, max_slope=0.3), dict(order=2, monotonic=True),
    ],
    ids=str,
)  # fmt: skip
def test_loss_and_gradient_agree_and_the_difference_halves_when_n_doubles(options):
    options = {"bins": 16} | options
    theirs = Theirs(**options, sbins=1024)  # their default of 32 steps of the integral is coarse
    middle = differences(1024, theirs, PROGRAM["like_modeloss"](**options))
    assert (middle < [0.06, 0.03, 1e-3]).all(), middle
    if len(options) == 2:  # their bins lack the gaps between them, one part in n / bins
        assert (middle[:2] < differences(512, theirs, PROGRAM["like_modeloss"](**options))[:2] / 2).all()
