"""Trains two networks, one for each jet, with one of the methods between their scores, and judges them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from libmode import metrics
from libmode.torch import ABCDLoss, MoDeConstraint, distance_correlation
from torch import Tensor, nn

from .toy import FEATURES, RATIO, events

TRAINING, TEST, SIGNAL = 300_000, 1_000_000, 100_000  # events of background, twice, and of signal in the test
FRACTIONS = (0.05, 0.01, 0.001)  # of the background in A


class Added(nn.Module):
    """A loss of the background's scores, whose strength rises over the first half of the training.

    A loss that starts at full strength ends with scores that separate nothing.
    """

    def __init__(self, loss: Callable[[Tensor, Tensor], Tensor], strength: float) -> None:
        super().__init__()
        self.loss, self.strength = loss, strength

    def forward(self, first: Tensor, second: Tensor, y: Tensor, progress: float) -> tuple[Tensor, Tensor, Tensor]:
        """Both scores, and what to add to their cross entropies."""
        value = self.loss(first[y == 0], second[y == 0])
        return first, second, min(1, 2 * progress) * self.strength * value


class Multiplied(nn.Module):
    """A loss that a multiplier keeps below ``limit``: the modified differential method of multipliers.

    J. Platt and A. Barr, NIPS 1987, as in ``MaxConstraintHard`` of the package mdmm, with its pace and damping.
    Adamax raises the multiplier while the classifier descends.
    """

    def __init__(self, loss: Callable[[Tensor, Tensor], Tensor], limit: float, scale: float) -> None:
        super().__init__()
        self.loss, self.limit, self.scale = loss, limit, scale
        self.multiplier = nn.Parameter(torch.zeros(()))
        self.ascent = torch.optim.Adamax([self.multiplier], lr=2e-3, maximize=True)

    def forward(self, first: Tensor, second: Tensor, y: Tensor, progress: float) -> tuple[Tensor, Tensor, Tensor]:
        """Both scores, and what to add to their cross entropies."""
        excess = (self.loss(first[y == 0], second[y == 0]) - self.limit).clamp(min=0)
        self.multiplier.grad = excess.detach()
        self.ascent.step()
        return first, second, self.scale * (self.multiplier.detach() * excess + excess**2 / 2)


class Constrained(nn.Module):
    """Two ``MoDeConstraint`` of order 0 with their defaults: each score is the mass of the other."""

    def __init__(self) -> None:
        super().__init__()
        self.constraints = nn.ModuleList([MoDeConstraint(order=0), MoDeConstraint(order=0)])

    def forward(self, first: Tensor, second: Tensor, y: Tensor, progress: float) -> tuple[Tensor, Tensor, float]:
        """Both scores, with the push on their way back, and 0."""
        of_first, of_second = self.constraints
        return of_first(first, y, second.detach()), of_second(second, y, first.detach()), 0.0


def disco(first: Tensor, second: Tensor) -> Tensor:
    """Double DisCo, arXiv:2007.14400, as its authors' code computes it."""
    return distance_correlation(first, second, unbiased=False)


def random_cut(first: Tensor, second: Tensor) -> Tensor:
    """The non-closure of smoothed counts at one random pair of cuts, as in arXiv:2506.08826."""
    u, v = (torch.sigmoid(100 * (score - torch.rand(()))) for score in (first, second))
    a, b, c, d = (u * v).sum(), (u * (1 - v)).sum(), ((1 - u) * v).sum(), ((1 - u) * (1 - v)).sum()
    return (a * d - b * c).abs() / (a * d + b * c + 1e-6)


def abcd(first: Tensor, second: Tensor) -> Tensor:
    """ABCDLoss of background."""
    return ABCDLoss()(first, second, torch.zeros_like(first))


METHODS: dict[str, Callable[[], nn.Module]] = {
    "DisCo 100": lambda: Added(disco, 100),
    "DisCo 300": lambda: Added(disco, 300),
    "random cut, MDMM": lambda: Multiplied(random_cut, 0.02, 5),
    "ABCDLoss 300": lambda: Added(abcd, 300),
    "ABCDLoss 600": lambda: Added(abcd, 600),
    "two MoDeConstraint": Constrained,
}


def _network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(FEATURES, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1), nn.Sigmoid()
    )


def trained(method: str, batch: int, steps: int, seed: int) -> dict[str, Any]:
    """Closure and signal efficiency on a million events, and processor seconds of a step.

    A batch has ``batch`` events of background, and its share of signal, which has the weight of the background.
    """
    torch.manual_seed(seed)
    features, label = events(TRAINING, 1_000 + seed)
    network, between = nn.ModuleList([_network(), _network()]), METHODS[method]()
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps)
    of_signal = max(batch // RATIO, 1)
    start = time.process_time()
    for step in range(steps):
        chosen = torch.cat([torch.randint(TRAINING, (batch,)), torch.randint(TRAINING, len(label), (of_signal,))])
        x, y = features[chosen], label[chosen].float()
        first, second, loss = between(*(one(x[:, k])[:, 0] for k, one in enumerate(network)), y, step / steps)
        weight = torch.where(y == 1, batch / of_signal, 1.0)
        for score in (first, second):
            loss = loss + nn.functional.binary_cross_entropy(score, y, weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return {**_achieved(network), "seconds": (time.process_time() - start) / steps}


@torch.no_grad()
def _achieved(network: nn.ModuleList) -> dict[str, Any]:
    features, label = events(TEST, 1, SIGNAL)
    scores = [one(features[:, k])[:, 0].double().numpy() for k, one in enumerate(network)]
    found = metrics.closure(scores[0], label, scores[1], fractions=FRACTIONS)
    signal = label.numpy() == 1
    cuts = zip(found.threshold, found.second_threshold, strict=True)
    return {
        "ratio": found.ratio.diagonal().tolist(),
        "error": found.error.diagonal().tolist(),
        "worst": abs(found.worst.significance),
        "signal": [float(np.mean((scores[0] >= one)[signal] & (scores[1] >= other)[signal])) for one, other in cuts],
    }
