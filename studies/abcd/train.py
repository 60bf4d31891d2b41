"""One training of two networks, a jet each, with one of the losses between their scores, and what it achieves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from libmode import metrics
from libmode.compat.disco import distance_corr
from libmode.torch import ABCDLoss
from torch import Tensor, nn

from .toy import FEATURES, RATIO, events

TRAINING, TEST, SIGNAL = 300_000, 1_000_000, 100_000  # events of background, twice, and of signal in the test
FRACTIONS = (0.05, 0.01, 0.001)  # of the background in A

Between = Callable[[Tensor, Tensor], Tensor]


def disco(first: Tensor, second: Tensor) -> Tensor:
    """Double DisCo, arXiv:2007.14400: the value of the authors' code."""
    return distance_corr(first, second, torch.ones_like(first))


def random_cut(first: Tensor, second: Tensor) -> Tensor:
    """The non-closure at one random pair of cuts, of counts that are smooth: as in arXiv:2506.08826."""
    u, v = (torch.sigmoid(100 * (score - torch.rand(()))) for score in (first, second))
    a, b, c, d = (u * v).sum(), (u * (1 - v)).sum(), ((1 - u) * v).sum(), ((1 - u) * (1 - v)).sum()
    return (a * d - b * c).abs() / (a * d + b * c + 1e-6)


def abcd(first: Tensor, second: Tensor) -> Tensor:
    """ABCDLoss of background."""
    return ABCDLoss()(first, second, torch.zeros_like(first))


BETWEEN: dict[str, Between] = {"disco": disco, "random cut": random_cut, "abcd": abcd}


def _network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(FEATURES, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1), nn.Sigmoid()
    )


def trained(method: str, strength: float, batch: int, steps: int, seed: int) -> dict[str, Any]:
    """Closure and signal efficiency on a million events, and processor seconds of a step and of its loss alone.

    A batch has as many events of background as ``batch``, which the loss sees, and its share of signal, which has the
    weight of the background. The strength rises to its value over the first half of the steps, or strong
    losses end with scores that know nothing.
    """
    torch.manual_seed(seed)
    features, label = events(TRAINING, 1_000 + seed)
    network = nn.ModuleList([_network(), _network()])
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=steps)
    of_signal = max(batch // RATIO, 1)
    between, total, own = BETWEEN[method], 0.0, 0.0
    for step in range(steps):
        chosen = torch.cat([torch.randint(TRAINING, (batch,)), torch.randint(TRAINING, len(label), (of_signal,))])
        x, y = features[chosen], label[chosen].float()
        start = time.process_time()
        first, second = (one(x[:, k])[:, 0] for k, one in enumerate(network))
        weight = torch.where(y == 1, batch / of_signal, 1.0)
        loss = sum(nn.functional.binary_cross_entropy(score, y, weight) for score in (first, second))
        middle = time.process_time()
        leaves = [score[:batch].detach().requires_grad_() for score in (first, second)]
        value = min(1, 2 * step / steps) * strength * between(*leaves)
        value.backward()
        own += time.process_time() - middle
        optimizer.zero_grad()
        # The gradient of the loss between the scores is known: what has its derivative is a product with it.
        (
            loss + sum((score[:batch] * leaf.grad).sum() for score, leaf in zip((first, second), leaves, strict=True))
        ).backward()
        optimizer.step()
        schedule.step()
        total += time.process_time() - start
    return {**_achieved(network), "seconds": total / steps, "seconds of the loss": own / steps}


@torch.no_grad()
def _achieved(network: nn.ModuleList) -> dict[str, Any]:
    features, label = events(TEST, 1, SIGNAL)
    scores = [one(features[:, k])[:, 0].double().numpy() for k, one in enumerate(network)]
    found = metrics.closure(*scores, label, fractions=FRACTIONS)
    signal = label.numpy() == 1
    cuts = zip(found.threshold, found.second_threshold, strict=True)
    return {
        "ratio": found.ratio.diagonal().tolist(),
        "error": found.error.diagonal().tolist(),
        "worst": abs(found.worst.significance),
        "signal": [float(np.mean((scores[0] >= one)[signal] & (scores[1] >= other)[signal])) for one, other in cuts],
        "background": (found.seen.diagonal() / TEST).tolist(),
    }
