"""The adversary of Louppe, Kagan and Cranmer, arXiv:1611.01046, as a loss with its own parameters."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

COMPONENTS, HIDDEN = 20, 64  # Gaussians of the mixture, and nodes of the one hidden layer
NARROWEST = 1e-3  # width of a Gaussian, in units of half the mass range


class AdversaryLoss(nn.Module):
    """The mean of -log r(mass | score) over background, label 0, with r a mixture of Gaussians from a network.

    The gradient reaches the score with the opposite sign, so that ``(bce + strength * adversary(score, label,
    mass)).backward()`` goes down in what the adversary misses for its own parameters and up for those of the
    classifier: the minimax game of the paper's equation 2, in one pass. ``mass_range`` maps to [-1, 1].
    """

    def __init__(self, mass_range: tuple[float, float] = (-1.0, 1.0)) -> None:
        super().__init__()
        self.mass_range = mass_range
        output = nn.Linear(HIDDEN, 3 * COMPONENTS)
        with torch.no_grad():  # the Gaussians start evenly over the mass range
            output.bias[COMPONENTS : 2 * COMPONENTS] = torch.linspace(-1, 1, COMPONENTS)
        self.network = nn.Sequential(nn.Linear(1, HIDDEN), nn.ReLU(), output)

    def forward(self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None) -> Tensor:
        """Arguments of shape (n,); the loss has shape ()."""
        background = label == 0
        surprise = -self.log_density(_Reversed.apply(score[background]), mass[background])
        if weight is None:
            return surprise.mean()
        return (weight[background] * surprise).sum() / weight[background].sum()

    def log_density(self, score: Tensor, mass: Tensor) -> Tensor:
        """log r(mass | score), with mass in units of half the range; (n,) each."""
        low, high = self.mass_range
        x = (2 * (mass - low) / (high - low) - 1)[:, None]
        share, center, width = self.network(score[:, None]).chunk(3, dim=1)
        width = nn.functional.softplus(width) + NARROWEST
        log_gaussian = -0.5 * ((x - center) / width) ** 2 - width.log() - 0.5 * math.log(2 * math.pi)
        return torch.logsumexp(share.log_softmax(1) + log_gaussian, dim=1)


class _Reversed(torch.autograd.Function):
    """The identity, whose gradient has the opposite sign."""

    @staticmethod
    def forward(ctx: Any, score: Tensor) -> Tensor:
        return score.view_as(score)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> Tensor:
        return -incoming
