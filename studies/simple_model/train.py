"""Training and evaluation of one classifier."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import torch
from libmode.torch import MoDeConstraint
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy
from tqdm import tqdm

from ..adversary import AdversaryLoss
from ..methods import Loss, drawn
from .data import Events

BATCH = 2_000
LEARNING_RATE = 1e-2
RAMP = 0.5
REFERENCE = 4_096  # events, of a constraint in batches that are not larger


def train(
    events: Events,
    features: list[int],
    penalty: Loss | None = None,
    strength: float = 0.0,
    *,
    steps: int,
    seed: int,
    batch: int = BATCH,
    weight: Tensor | None = None,
    name: str | None = "classifier",
) -> nn.Module:
    """Minimizes binary cross entropy + strength * penalty, or cross entropy alone with a constraint.

    features : the columns of ``events.features`` that the network sees
    penalty : MoDe or another loss called as it is, or a MoDeConstraint; None for the cross entropy alone
    weight : (n,), of the events in the cross entropy
    name : before the progress bar; None for no bar

    Returns the network, which maps (n, len(features)) to scores of shape (n, 1)
    inside (0, 1).
    """
    torch.manual_seed(seed)
    network = new_network(len(features))
    data = Batches(events, features, batch)
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    constraint = penalty if isinstance(penalty, MoDeConstraint) else None
    background = [one[data.label == 0] for one in (data.inputs, data.mass)]
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    progress = tqdm(data.chosen(steps), desc=name, total=steps, unit="step", mininterval=0.5, disable=name is None)
    for step, chosen in enumerate(progress):
        score = network(data.inputs[chosen])[:, 0]
        if constraint is not None:
            further = drawn(network, background, REFERENCE) if batch <= REFERENCE else None
            score = constraint(score, data.label[chosen], data.mass[chosen], reference=further)
        loss = binary_cross_entropy(score, data.label[chosen], None if weight is None else weight[chosen])
        if penalty is not None and constraint is None:
            # At full strength from the start, the loss falls fastest if the untrained network
            # squeezes all scores together, and some seeds never recover.
            ramp = min(1.0, step / (RAMP * steps))
            loss = loss + ramp * strength * penalty(score, data.label[chosen], data.mass[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


def train_against_adversary(
    events: Events, features: list[int], strength: float, *, steps: int, seed: int, batch: int = BATCH
) -> nn.Module:
    """The paper's recipe: 20 epochs of the classifier at 1e-4, 20 of the adversary at 5e-3, then both.

    Returns the network, as :func:`train` does, after ``steps`` steps in all.
    """
    torch.manual_seed(seed)
    network, adversary = new_network(len(features)), AdversaryLoss()
    data = Batches(events, features, batch)
    of_network = torch.optim.Adam(network.parameters(), 1e-4)
    of_adversary = torch.optim.Adam(adversary.parameters(), 5e-3)
    apart = min(20 * data.in_epoch, steps // 4)
    for step, chosen in enumerate(data.chosen(steps)):
        score, label, mass = network(data.inputs[chosen])[:, 0], data.label[chosen], data.mass[chosen]
        if step < apart:
            loss, moved = binary_cross_entropy(score, label), [of_network]
        elif step < 2 * apart:
            loss, moved = adversary(score.detach(), label, mass), [of_adversary]
        else:
            loss = binary_cross_entropy(score, label) + strength * adversary(score, label, mass)
            moved = [of_network, of_adversary]
        for optimizer in moved:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in moved:
            optimizer.step()
    return network


def new_network(features: int) -> nn.Module:
    """The paper's network: 3 x 64 SiLU nodes and a sigmoid."""
    return nn.Sequential(
        nn.Linear(features, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1), nn.Sigmoid(),
    )  # fmt: skip


class Batches:
    """The events as tensors, and the indices of each batch."""

    def __init__(self, events: Events, features: list[int], batch: int) -> None:
        self.inputs = torch.from_numpy(events.features[:, features])
        self.label = torch.from_numpy(events.label)
        self.mass = torch.from_numpy(events.mass)
        self.in_epoch = max(1, round(len(events) / batch))

    def chosen(self, steps: int) -> Iterator[Tensor]:
        """The indices of so many batches, without a small remainder, which could have too few events for the bins."""
        return islice(self._shuffled(), steps)

    def _shuffled(self) -> Iterator[Tensor]:
        while True:
            yield from torch.randperm(len(self.label)).chunk(self.in_epoch)


@torch.inference_mode()
def evaluate(network: nn.Module, events: Events, features: list[int]) -> np.ndarray:
    """Scores (n,), float32."""
    chunks = torch.from_numpy(events.features[:, features]).split(100_000)
    return torch.cat([network(chunk)[:, 0] for chunk in chunks]).numpy()
