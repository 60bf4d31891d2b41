"""Training and evaluation of one classifier."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy
from tqdm import tqdm

from .data import Events

BATCH = 2_000
LEARNING_RATE = 1e-2
RAMP = 0.5


def train(
    events: Events,
    features: list[int],
    mode: nn.Module | None = None,
    strength: float = 0.0,
    *,
    epochs: int,
    seed: int,
    batch: int = BATCH,
    name: str = "classifier",
) -> nn.Module:
    """Minimises binary cross entropy + strength * MoDe.

    features : the columns of ``events.features`` that the network sees
    mode : a MoDeLoss, or None for the cross entropy alone

    Returns the network, which maps (n, len(features)) to scores of shape (n, 1)
    inside (0, 1).
    """
    torch.manual_seed(seed)
    network = nn.Sequential(
        nn.Linear(len(features), 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1), nn.Sigmoid(),
    )  # fmt: skip
    inputs = torch.from_numpy(events.features[:, features])
    label = torch.from_numpy(events.label)
    mass = torch.from_numpy(events.mass)

    batches = max(1, round(len(events) / batch))
    steps = epochs * batches
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)

    progress = tqdm(_shuffled(len(events), batches, epochs), desc=name, total=steps, unit="step", mininterval=0.5)
    for step, chosen in enumerate(progress):
        score = network(inputs[chosen])[:, 0]
        loss = binary_cross_entropy(score, label[chosen])
        if mode is not None:
            # At full strength from the start, the quickest way down is to squeeze the
            # scores of the untrained network together, and some seeds never recover.
            ramp = min(1.0, step / (RAMP * steps))
            loss = loss + ramp * strength * mode(score, label[chosen], mass[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


def _shuffled(events: int, batches: int, epochs: int) -> Iterator[Tensor]:
    """Indices of each batch; no small remainder, which could have too few events for the bins."""
    for _ in range(epochs):
        yield from torch.randperm(events).chunk(batches)


@torch.inference_mode()
def evaluate(network: nn.Module, events: Events, features: list[int]) -> np.ndarray:
    """Scores of shape (n,), float32."""
    chunks = torch.from_numpy(events.features[:, features]).split(100_000)
    return torch.cat([network(chunk)[:, 0] for chunk in chunks]).numpy()
