"""Trains one classifier, and chooses the epoch by validation jets."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from libmode.torch import MoDeConstraint
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

from ..adversary import AdversaryLoss
from ..baselines import planing
from ..methods import Classifier, Loss, penalty
from .sample import Sample

# The paper's 1cycle: the learning rate goes from the first to the second and down to the third, Adam's momentum
# from the first to the second and back.
LEARNING_RATES = (1e-3, 1e-2, 1e-5)
MOMENTA = (0.95, 0.85)
# At full strength from the start, the loss falls fastest if the untrained network squeezes all scores together.
RAMP = 0.3
# The paper's adversary: so many epochs of the classifier alone, then of the adversary alone, at these learning rates.
APART = 20
OF_CLASSIFIER, OF_ADVERSARY = 1e-4, 5e-3


@dataclass(frozen=True)
class Jets:
    """Tensors of n jets: inputs (n, features), label, mass in GeV, and weight in the cross entropy (n,)."""

    inputs: Tensor
    label: Tensor
    mass: Tensor
    weight: Tensor

    def __getitem__(self, chosen: Tensor) -> Jets:
        return Jets(self.inputs[chosen], self.label[chosen], self.mass[chosen], self.weight[chosen])

    def __len__(self) -> int:
        return len(self.label)


def prepared(sample: Sample, parts: tuple[np.ndarray, ...], planed: bool = False) -> list[Jets]:
    """The jets of each part, with features scaled to mean 0 and width 1 in the training set.

    The weights are such that both classes count one half; planed, also those of planing.
    """
    mean, width = sample.features[parts[0]].mean(axis=0), sample.features[parts[0]].std(axis=0)
    found = []
    for part in parts:
        label, mass = torch.from_numpy(sample.label[part]), torch.from_numpy(sample.mass[part])
        weight = torch.where(label == 1, 0.5 / label.mean(), 0.5 / (1 - label.mean()))
        if planed:
            weight = weight * torch.from_numpy(planing(mass, label))
        found.append(Jets(torch.from_numpy((sample.features[part] - mean) / width), label, mass, weight))
    return found


@dataclass
class Choice:
    """The epoch with the smallest validation loss, and the network's weights after it."""

    epoch: int = -1
    loss: float = np.inf
    state: Any = None

    def offer(self, epoch: int, loss: float, state: Any) -> None:
        if loss < self.loss:
            self.epoch, self.loss, self.state = epoch, loss, copy.deepcopy(state)


def train(
    training: Jets, validation: Jets, classifier: Classifier, *, epochs: int, batch: int, seed: int
) -> tuple[nn.Module, int]:
    """Minimizes binary cross entropy + strength * penalty.

    Returns the network, which maps (n, features) to scores (n, 1) inside (0, 1), as it was after the epoch
    of the smallest loss of all validation jets together, of those at full strength; and that epoch. With
    a MoDeConstraint, which has no loss to choose by, the last epoch.
    """
    torch.manual_seed(seed)
    network = new_network(training.inputs.shape[1])
    added, strength, choice = penalty(classifier), classifier.strength, Choice()
    batches = in_epoch(training, batch)
    steps = epochs * batches
    optimizer, schedule = one_cycle(network, steps)
    ramp = 0 if added is None else round(RAMP * epochs)
    for epoch in range(epochs):
        network.train()
        for step, chosen in enumerate(shuffled(training, batches), epoch * batches):
            jets = training[chosen]
            grown = min(1.0, step / (ramp * batches)) if ramp else 1.0
            optimizer.zero_grad()
            loss_of(network, jets, added, grown * strength).backward()
            optimizer.step()
            schedule.step()
        if isinstance(added, MoDeConstraint):
            choice = Choice(epoch, 0.0, network.state_dict())
        elif epoch >= ramp:
            choice.offer(epoch, evaluated_loss(network, validation, added, strength), network.state_dict())
    network.load_state_dict(choice.state)
    return network.eval(), choice.epoch


def train_against_adversary(
    training: Jets, validation: Jets, classifier: Classifier, *, epochs: int, batch: int, seed: int
) -> tuple[nn.Module, int]:
    """The paper's recipe: the classifier alone, the adversary alone, then both.

    Returns what :func:`train` does. The loss of the validation jets is what the classifier
    minimizes, against the adversary as it is after that epoch.
    """
    torch.manual_seed(seed)
    network, adversary, choice = new_network(training.inputs.shape[1]), AdversaryLoss(**classifier.options), Choice()
    of_network = torch.optim.Adam(network.parameters(), OF_CLASSIFIER, fused=True)
    of_adversary = torch.optim.Adam(adversary.parameters(), OF_ADVERSARY, fused=True)
    apart, strength = min(APART, epochs // 4), classifier.strength
    batches = in_epoch(training, batch)
    for epoch in range(epochs):
        network.train()
        for chosen in shuffled(training, batches):
            jets = training[chosen]
            score = network(jets.inputs)[:, 0]
            if epoch < apart:
                loss, moved = cross_entropy(score, jets), [of_network]
            elif epoch < 2 * apart:
                loss, moved = adversary(score.detach(), jets.label, jets.mass), [of_adversary]
            else:
                loss = cross_entropy(score, jets) + strength * adversary(score, jets.label, jets.mass)
                moved = [of_network, of_adversary]
            for optimizer in moved:
                optimizer.zero_grad()
            loss.backward()
            for optimizer in moved:
                optimizer.step()
        if epoch >= 2 * apart:
            choice.offer(epoch, evaluated_loss(network, validation, adversary, -strength), network.state_dict())
    network.load_state_dict(choice.state)
    return network.eval(), choice.epoch


def new_network(features: int) -> nn.Sequential:
    """The paper's network: 3 x 64 SiLU nodes, batch normalization after the first layer, and a sigmoid."""
    return nn.Sequential(
        nn.Linear(features, 64), nn.SiLU(), nn.BatchNorm1d(64),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1), nn.Sigmoid(),
    )  # fmt: skip


def one_cycle(network: nn.Module, steps: int) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.OneCycleLR]:
    """Adam with the paper's schedule."""
    first, highest, last = LEARNING_RATES
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, highest, steps, div_factor=highest / first, final_div_factor=first / last,
        max_momentum=MOMENTA[0], base_momentum=MOMENTA[1],
    )  # fmt: skip
    return optimizer, schedule


def in_epoch(training: Jets, batch: int) -> int:
    """The number of batches of about so many jets in an epoch."""
    return max(1, round(len(training) / batch))


def shuffled(training: Jets, batches: int) -> Iterator[Tensor]:
    """The indices of each batch of an epoch, without a small remainder, which could have too few jets for the bins."""
    yield from torch.randperm(len(training)).chunk(batches)


def cross_entropy(score: Tensor, jets: Jets) -> Tensor:
    return binary_cross_entropy(score, jets.label, jets.weight)


def loss_of(network: nn.Module, jets: Jets, added: Loss | None, strength: float) -> Tensor:
    """The loss that is minimized."""
    score = network(jets.inputs)[:, 0]
    if isinstance(added, MoDeConstraint):  # whose gradient is added in backward
        return cross_entropy(added(score, jets.label, jets.mass), jets)
    loss = cross_entropy(score, jets)
    return loss if added is None else loss + strength * added(score, jets.label, jets.mass)


@torch.no_grad()
def evaluated_loss(network: nn.Module, jets: Jets, added: Loss | None, strength: float) -> float:
    """The loss of all jets as one batch."""
    return loss_of(network.eval(), jets, added, strength).item()


@torch.inference_mode()
def scores_of(network: nn.Module, jets: Jets) -> np.ndarray:
    """Scores (n,), float32."""
    return torch.cat([network(chunk)[:, 0] for chunk in jets.inputs.split(100_000)]).numpy()
