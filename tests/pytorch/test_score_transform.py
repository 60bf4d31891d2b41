"""MoDeLoss(score_transform=W), the integral of J dW: the loss of the scores W(s), since J depends on their order alone."""

import numpy as np
import pytest
import torch
from libmode.torch import MoDeLoss, mode_loss

OPTIONS = {"order": 1, "bins": 5}


def events(n=400, seed=3, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    target = torch.tensor(rng.integers(0, 2, n))
    mass = torch.tensor(rng.random(n), dtype=dtype)
    score = torch.tensor(rng.beta(2, 3, n), dtype=dtype) * (0.5 + 0.5 * mass)
    return score.requires_grad_(), target, mass


@pytest.mark.parametrize(
    "transform, score_range, of_transformed",
    [
        (torch.square, (0, 1), (0, 1)),
        (lambda s: 7 - 1 / (s + 0.5), (0, 1), (5, 7 - 1 / 1.5)),
        (torch.logit, (0.0625, 0.9375), (-np.log(15), np.log(15))),
        (torch.logit, None, None),
    ],
    ids=["square", "hyperbola", "logit", "limits of the data"],
)
def test_a_callable(transform, score_range, of_transformed):
    score, target, mass = events()
    score.data.clamp_(0.0625, 0.9375)
    loss = MoDeLoss(score_transform=transform, score_range=score_range, **OPTIONS)(score, target, mass)
    want = mode_loss(transform(score), mass, label=target, score_range=of_transformed, **OPTIONS)
    torch.testing.assert_close(loss, want, rtol=1e-12, atol=0)
    torch.testing.assert_close(*(torch.autograd.grad(value, score)[0] for value in (loss, want)))


def test_a_callable_is_called_once_a_step():
    """The first step looks for parameters too."""
    calls = []

    def square(score):
        calls.append(len(score))
        return score.square()

    mode = MoDeLoss(score_transform=square, **OPTIONS)
    for _ in range(3):
        mode(*events())
    assert calls == 4 * [400]


@pytest.mark.parametrize("transform, end", [(torch.logit, 1), (torch.log, 0), (torch.sqrt, 0)])
def test_signal_at_an_infinite_slope_gets_no_gradient(transform, end):
    score, target, mass = of_first(1, end)
    mode = MoDeLoss(score_transform=transform, **OPTIONS)
    gradient = torch.autograd.grad(mode(score, target, mass), score)[0]
    assert (gradient[target == 1] == 0).all()
    background = [each[target == 0] for each in (score, target, mass)]
    torch.testing.assert_close(gradient[target == 0], torch.autograd.grad(mode(*background), score)[0][target == 0])


def signal_cdf(score, target):
    """At the scores, by its definition: linear between every tenth signal event, or every hundredth part."""
    signal = np.sort(score[target == 1])
    n, segments = len(signal), min(max(len(signal) // 10, 1), 100)
    ranks = np.arange(1, segments + 1) * n // segments
    knots, at = np.unique(np.concatenate([[0.0], signal[ranks - 1]])[::-1], return_index=True)  # the last of equal ones
    return np.interp(score, knots, (np.concatenate([[0], ranks]) / n)[::-1][at])


@pytest.mark.parametrize("n, tied", [(400, False), (400, True), (10, False), (15_000, False)])
def test_signal_efficiency(n, tied):
    score, target, mass = events(n)
    if tied:
        score.data.mul_(20).round_().div_(20)
    options = {"order": 0, "bins": 2}
    loss = MoDeLoss(score_transform="signal_efficiency", **options)(score, target, mass)
    want = mode_loss(torch.tensor(signal_cdf(score.detach().numpy(), target.numpy())), mass, label=target, **options)
    assert loss.item() == pytest.approx(want.item(), rel=1e-9)


def test_saturated_scores_have_small_gradients():
    score, target, mass = events(dtype=torch.float32)
    with torch.no_grad():
        score[::2] *= 1e-38  # as a sigmoid of -90
        score[1::4] = 1 - 1e-7 * score[1::4]
    MoDeLoss(score_transform="signal_efficiency", **OPTIONS)(score, target, mass).backward()
    assert score.grad.abs().max() < 1e3  # which NaN is not


def test_the_gradient_follows_the_scores_through_the_signal_efficiency_alone():
    score, target, mass = events()
    mode = MoDeLoss(score_transform="signal_efficiency", **OPTIONS)
    mode(score, target, mass).backward()
    assert (score.grad[target == 1] == 0).all()
    step = 1e-7
    for i in torch.nonzero(target == 0)[:40, 0].tolist():
        up, down = (score.detach().clone() for _ in range(2))
        up[i] += step
        down[i] -= step
        numeric = (mode(up, target, mass) - mode(down, target, mass)).item() / (2 * step)
        assert score.grad[i].item() == pytest.approx(numeric, rel=1e-5, abs=1e-9)


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
        (lambda s: s[:3], events(), r"score_transform returned shape \(3,\)"),
        (
            lambda s: torch.tensor(s.detach().numpy() ** 2),
            events(),
            "score_transform returned scores without a derivative",
        ),
        (lambda s: s * torch.nn.Parameter(torch.ones(())), events(), "score_transform has parameters of its own"),
        (lambda s: 1.0, events(), "score_transform returned float"),
        ("signal_efficiency", of_first(0, 1.5), r"score\[\d+\] = 1.5: outside of score_range \(0.0, 1.0\)"),
        ("signal_efficiency", of_first(0, torch.nan), r"score\[\d+\] = NaN"),
        ("signal_efficiency", of_first(1, torch.nan), "the score of a signal event is not finite"),
        (torch.square, of_first(0, torch.nan), r"score\[\d+\] = NaN"),
    ],
    ids=range(10),
)
def test_bad_input_is_an_error(transform, batch, message):
    with pytest.raises(ValueError, match=message):
        MoDeLoss(score_transform=transform, **OPTIONS)(*batch)
