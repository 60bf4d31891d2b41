"""MoDeLoss(score_transform=W): the integral of J dW, against sums over a fine grid."""

import libmode
import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss

# Plain, with bin centers: what the reference below is written for.
OPTIONS = {"order": 1, "bins": 5, "moments": "quadrature", "unbiased": False}
GRID = np.linspace(0, 1, 200_001)


def events(n=400, seed=3, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    target = torch.tensor(rng.integers(0, 2, n))
    mass = torch.tensor(rng.random(n), dtype=dtype)
    score = torch.tensor(rng.beta(2, 3, n), dtype=dtype) * (0.5 + 0.5 * mass)
    return score.requires_grad_(), target, mass


def integrand(score, target, mass, at):
    """J(s) / bins, by its definition."""
    inside = libmode.mode_moments(score.detach(), mass, label=target, at=at, **OPTIONS)
    # The polynomial at the centers of the bins, which are those of the mass axis mapped to [-1, 1].
    edges = 2 * (inside.edges - inside.edges[0]) / (inside.edges[-1] - inside.edges[0]) - 1
    polynomial = np.polynomial.legendre.legval((edges[1:] + edges[:-1]) / 2, inside.moments.T)
    return ((inside.cdf - polynomial) ** 2).mean(1)


def numeric(score, target, mass, values):
    """The integral of J dW, where W has these values on the grid."""
    j = integrand(score, target, mass, (GRID[1:] + GRID[:-1]) / 2)
    return (j * np.diff(values)).sum()


@pytest.mark.parametrize("transform", [torch.square, lambda s: 7 - 1 / (s + 0.5)], ids=["square", "negative"])
def test_a_callable_against_the_numeric_integral(transform):
    batch = events()
    loss = MoDeLoss(score_transform=transform, **OPTIONS)(*batch)
    assert loss.item() == pytest.approx(numeric(*batch, transform(torch.tensor(GRID)).numpy()), rel=1e-4)


def signal_cdf(score, target):
    """By its definition: linear between every tenth signal event, or every hundredth part."""
    signal = np.sort(score.detach()[target == 1].numpy())
    n, segments = len(signal), min(max(np.sum(target.numpy() == 1) // 10, 1), 100)
    ranks = np.arange(1, segments + 1) * n // segments
    knots, at = np.unique(np.concatenate([[0.0], signal[ranks - 1]])[::-1], return_index=True)  # the last of equal ones
    return np.interp(GRID, knots, (np.concatenate([[0], ranks]) / n)[::-1][at])


@pytest.mark.parametrize("n, tied", [(400, False), (400, True), (10, False), (15_000, False)])
def test_signal_efficiency_against_the_numeric_integral(n, tied):
    batch = events(n)
    if tied:
        batch[0].data.mul_(20).round_().div_(20)
    loss = MoDeLoss(score_transform="signal_efficiency", **OPTIONS)(*batch)
    assert loss.item() == pytest.approx(numeric(*batch, signal_cdf(*batch[:2])), rel=1e-3)


def test_saturated_scores_have_small_gradients():
    score, target, mass = events(dtype=torch.float32)
    with torch.no_grad():
        score[::2] *= 1e-38  # as a sigmoid of -90
        score[1::4] = 1 - 1e-7 * score[1::4]
    MoDeLoss(score_transform="signal_efficiency", **OPTIONS)(score, target, mass).backward()
    assert score.grad.abs().max() < 1e3  # which NaN is not


@pytest.mark.parametrize("transform", ["signal_efficiency", torch.square], ids=["signal_efficiency", "callable"])
def test_the_gradient_follows_the_scores_through_the_map_alone(transform):
    score, target, mass = events()
    mode = MoDeLoss(score_transform=transform, **OPTIONS)
    mode(score, target, mass).backward()
    assert (score.grad[target == 1] == 0).all()
    step = 1e-7
    for i in torch.nonzero(target == 0)[:40, 0].tolist():
        up, down = (score.detach().clone() for _ in range(2))
        up[i] += step
        down[i] -= step
        numeric = (mode(up, target, mass) - mode(down, target, mass)).item() / (2 * step)
        assert score.grad[i].item() == pytest.approx(numeric, rel=1e-5, abs=1e-9)


def test_the_range_is_that_of_the_scores():
    score, target, mass = events()
    logits = torch.logit(score.detach().clamp(0.001, 0.999)).requires_grad_()
    ends = torch.sigmoid(torch.tensor([-7.0, 7.0], dtype=torch.float64)).tolist()
    for of_logits, of_scores in (((-7, 7), ends), (None, None)):
        loss = MoDeLoss(score_transform=torch.sigmoid, score_range=of_logits, **OPTIONS)(logits, target, mass)
        assert loss == mode_loss(torch.sigmoid(logits), mass, label=target, score_range=of_scores, **OPTIONS)


@pytest.mark.parametrize("score_range", [(0, 1), None])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_one_signal_event_and_low_precision_work(dtype, score_range):
    score, _, mass = events()
    score, target = score.detach().to(dtype).requires_grad_(), (torch.arange(len(score)) == 5).float()
    loss = MoDeLoss(score_transform="signal_efficiency", score_range=score_range, **OPTIONS)(score, target, mass)
    loss.backward()
    assert loss.isfinite() and score.grad.isfinite().all() and score.grad.dtype == dtype


def of_first(target, score):
    """The events, of which the first one with this target has this score."""
    s, t, m = events()
    s.data[torch.nonzero(t == target)[0]] = score
    return s, t, m


@pytest.mark.parametrize(
    "transform, batch, message",
    [
        ("efficiency", events(), "score_transform = 'efficiency': must be a callable or 'signal_efficiency'"),
        (lambda s: -s, events(), "score_transform falls from .* to .*: it must not decrease"),
        (torch.logit, events(), r"score_transform takes score_range \(0.0, 1.0\) to \(-inf, inf\)"),
        (lambda s: s[:3], events(), r"score_transform returned shape \(3,\)"),
        (lambda s: 1.0, events(), "score_transform returned float"),
        ("signal_efficiency", of_first(0, 1.5), r"score\[\d+\] = 1.5: outside of score_range \(0.0, 1.0\)"),
        ("signal_efficiency", of_first(0, torch.nan), r"score\[\d+\] = NaN"),
        ("signal_efficiency", of_first(1, torch.nan), "the score of a signal event is not finite"),
        (torch.square, of_first(0, torch.nan), r"score\[\d+\] = NaN"),
    ],
    ids=range(9),
)
def test_bad_input_is_an_error(transform, batch, message):
    with pytest.raises(ValueError, match=message):
        MoDeLoss(score_transform=transform, **OPTIONS)(*batch)
