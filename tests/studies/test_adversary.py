"""The adversary of the studies against its definition written another way."""

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, MixtureSameFamily, Normal

from studies.adversary import AdversaryLoss


def test_the_adversary_is_a_mixture_of_gaussians():
    torch.manual_seed(0)
    loss = AdversaryLoss()
    assert [tuple(p.shape) for p in loss.parameters()] == [(64, 1), (64,), (60, 64), (60,)]  # as in the paper
    score, mass, label = torch.rand(50), torch.rand(50), torch.arange(50) % 2
    share, center, width = loss.network(score[:, None]).chunk(3, dim=1)
    mixture = MixtureSameFamily(Categorical(logits=share), Normal(center, torch.nn.functional.softplus(width) + 1e-3))
    surprise = -mixture.log_prob(mass)
    torch.testing.assert_close(loss(score, label, mass), surprise[label == 0].mean())
    weight = torch.rand(50)
    want = (weight * surprise)[label == 0].sum() / weight[label == 0].sum()
    torch.testing.assert_close(loss(score, label, mass, weight), want)
    in_gev = AdversaryLoss(mass_range=(50, 300))
    in_gev.load_state_dict(loss.state_dict())
    torch.testing.assert_close(in_gev(score, label, 175 + 125 * mass), loss(score, label, mass))


def test_the_gradient_of_the_score_is_reversed_and_that_of_the_parameters_is_not():
    torch.manual_seed(0)
    loss = AdversaryLoss()
    score, mass = torch.rand(50, requires_grad=True), torch.rand(50)
    loss(score, torch.zeros(50), mass).backward()
    direct = torch.autograd.grad(-loss.log_density(score, mass).mean(), [score, *loss.parameters()])
    torch.testing.assert_close(score.grad, -direct[0])
    for parameter, want in zip(loss.parameters(), direct[1:], strict=True):
        torch.testing.assert_close(parameter.grad, want)


def test_it_learns_what_the_score_tells_of_the_mass():
    torch.manual_seed(0)
    mass = 2 * torch.rand(2000) - 1
    best = {}
    for name, score in {"copy": (mass + 1) / 2, "independent": torch.rand(2000)}.items():
        adversary = AdversaryLoss()
        optimizer = torch.optim.Adam(adversary.parameters(), 3e-3)
        losses = []
        for _ in range(300):
            optimizer.zero_grad()
            loss = adversary(score, torch.zeros(2000), mass)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        best[name] = min(losses)  # narrow Gaussians make single steps jump
    assert best["copy"] < -1
    assert best["independent"] == pytest.approx(np.log(2), abs=0.1)  # that of a flat spectrum on [-1, 1]
