"""The adversary of the studies against its definition written another way."""

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
