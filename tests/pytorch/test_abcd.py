"""ABCDLoss: the mean squared significance of the non-closure of ABCD, over all cuts."""

import numpy as np
import pytest
import torch
from libmode import BatchError
from libmode.torch import ABCDLoss, Events

MEAN = np.pi**2 / 3 - 3  # of phi^2 over all cuts, for two scores that order events alike


def dependent(n, seed):
    """Two scores that depend on each other in the tail."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=n)
    second = rng.normal(size=n) + 2 * np.clip(first - 0.5, 0, None)
    return [torch.tensor(1 / (1 + np.exp(-score))) for score in (first, second)]


def test_it_is_the_mean_squared_significance_over_all_cuts():
    """The table of each pair of cuts between events, by counting."""
    n = 3_000
    first, second = dependent(n, 1)
    loss = ABCDLoss()(first, second, torch.zeros(n)).item()
    ranks = [np.argsort(np.argsort(score.numpy())) for score in (first, second)]
    counts = np.zeros((n, n))
    counts[ranks[0], ranks[1]] = 1
    joint = counts.cumsum(0).cumsum(1)[:-1, :-1] / n
    f = np.arange(1, n) / n
    d = joint - np.outer(f, f)
    squared_significance = n * d**2 / np.outer(f * (1 - f), f * (1 - f))
    # One third of the difference is the bias of the sum over cuts, 1/n each, and the rest that axes are piecewise linear.
    assert n * MEAN * loss == pytest.approx(squared_significance.mean() - 1, rel=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_the_loss_whose_axes_move_with_the_scores(weighted):
    """Along smooth changes of many scores, which move the axes too: by differences of the whole loss."""
    n = 40_000
    first, second = dependent(n, 5)
    weight = torch.rand(n, generator=torch.Generator().manual_seed(6)) - 0.1 if weighted else None
    abcd, target, step = ABCDLoss(), torch.zeros(n), 0.01
    first.requires_grad_(), second.requires_grad_()
    abcd(first, second, target, weight).backward()
    with torch.no_grad():
        of_first, of_second = first * (1 - first) * second, second * (1 - second) * first
        pairs = [(first + sign * step * of_first, second + sign * step * of_second) for sign in (1, -1)]
        up, down = (abcd(*pair, target, weight).item() for pair in pairs)
        slope = (first.grad * of_first + second.grad * of_second).sum().item()
    assert slope == pytest.approx((up - down) / (2 * step), rel=0.02)
    # What is a function of one score alone changes no closure: the axes take it back.
    change = first.grad * (first * (1 - first)).detach()
    assert abs(change.sum()) < 1e-3 * change.abs().sum()


ERRORS = [
    (BatchError, "score_1: all 40 background events have the same score 0.5", {"score_1": torch.full((60,), 0.5)}),
    (BatchError, "none of the 60 values of", {"label": torch.ones(60)}),
    (
        BatchError,
        "3 events, and DisCo with unbiased = true needs at least 4",
        {"label": (torch.arange(60) > 2).float()},
    ),
    (
        ValueError,
        r"score_2\[21\] = nan: every score_2",
        {"score_2": torch.where(torch.arange(60) == 21, torch.nan, 0.5)},
    ),
    (BatchError, "weight: the 40 background events have sum of weights 0", {"weight": torch.zeros(60)}),
    (ValueError, "label has length 59, but score_1 has length 60", {"label": torch.zeros(59)}),
    (TypeError, "reference: expected", {"reference": Events(torch.ones(3), None, torch.ones(3))}),
    (ValueError, "reference.score_2 has length 4, but score_1 has", {"reference": (torch.rand(5), torch.rand(4))}),
]


@pytest.mark.parametrize("error, message, change", ERRORS, ids=[row[1] for row in ERRORS])
def test_errors(error, message, change):
    given = {"score_1": torch.rand(60), "score_2": torch.rand(60), "label": (torch.arange(60) < 20).float(), **change}
    with pytest.raises(error, match=message) as caught:
        ABCDLoss()(**given)
    assert type(caught.value) is error
