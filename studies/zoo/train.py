"""Trains one classifier of the zoo."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from libmode import planing_weights
from libmode.posthoc import QuantileMap
from libmode.torch import MoDeConstraint, MoDeLoss
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ..baselines import DisCoLoss
from ..methods import drawn
from .events import Events
from .problems import PROBLEMS, Problem, events_of, spectrum_of

REFERENCE = 4_096  # events, in batches that are smaller than 1,000
WARM = 2  # epochs of cross entropy alone


def trained(
    name: str,
    method: str,
    strength: float | None,
    *,
    seed: int,
    batch: int,
    epochs: float,
    rate: float,
    signal: float,
    rival: str = "",
    planed: bool = False,
    warm: bool = False,
) -> nn.Module:
    """Trains a network, which gives logits.

    method : "none", "MoDeConstraint", "MoDeLoss" or "DisCo"
    strength : of MoDeLoss or DisCo; the constraint finds its own
    epochs, rate : over those of the problem; signal : the weight of signal
    rival : "spectrum", signal at the masses of background, or "window", where the cross entropy sees the events within
        2.5 widths of the signal's mass alone, and MoDe all
    planed : cross entropy has the weights of libmode.planing_weights
    warm : the first WARM of the epochs have cross entropy alone
    """
    problem = PROBLEMS[name]
    training = spectrum_of(name, seed) if rival == "spectrum" else events_of(name, seed)[0]
    window = None
    if rival == "window":
        assert problem.peak is not None
        window = problem.peak[0] - 2.5 * problem.peak[1], problem.peak[0] + 2.5 * problem.peak[1]
    torch.manual_seed(seed)
    network = _network(training.features.shape[1], problem)
    tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in vars(training).values()]
    added = _added(method, strength, problem, tensors, batch)
    of_loss = training.weight
    if planed:
        of_loss = planing_weights(training.label, training.mass, training.weight, background_label=problem.flat)
    tensors.append(torch.from_numpy(of_loss.astype(np.float32)))
    alone = WARM if warm else 0
    for length, push in ((problem.before + alone, None), (round(problem.epochs * epochs) - alone, added)):
        if length:
            _train(
                network,
                tensors,
                push,
                batch=batch,
                epochs=length,
                rate=problem.rate * rate,
                signal=signal,
                window=window,
            )
    return network


def _network(features: int, problem: Problem) -> nn.Module:
    sizes = [features, *[problem.width] * problem.layers]
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.SiLU())]
    return nn.Sequential(*layers, nn.Linear(problem.width, 1), nn.Flatten(0))


class _Constrained(nn.Module):
    """MoDeConstraint, with reference events in small batches: further background, scored without gradient."""

    def __init__(self, constraint: MoDeConstraint, background: list[Tensor] | None) -> None:
        super().__init__()
        self.constraint, self.background = constraint, background

    def forward(self, network: nn.Module, logit: Tensor, label: Tensor, mass: Tensor, weight: Tensor) -> Any:
        reference = None if self.background is None else drawn(network, self.background, REFERENCE)
        return self.constraint(logit, label, mass, weight, reference=reference), 0.0


class _Loss(nn.Module):
    """The paper's loss, with the strength that its docstring defines."""

    def __init__(self, strength: float, options: dict[str, Any]) -> None:
        super().__init__()
        self.mode = MoDeLoss(strength=strength, **options)

    def forward(self, _: nn.Module, logit: Tensor, label: Tensor, mass: Tensor, weight: Tensor) -> Any:
        return logit, self.mode(logit.sigmoid(), label, mass, weight)


class _DisCo(nn.Module):
    def __init__(self, strength: float, flat: int) -> None:
        super().__init__()
        self.strength, self.disco = strength, DisCoLoss(unbiased=True, background_label=flat)

    def forward(self, _: nn.Module, logit: Tensor, label: Tensor, mass: Tensor, weight: Tensor) -> Any:
        # DisCo has no negative weights.
        given = weight if weight.min() > 0 else None
        score = logit.sigmoid()
        return logit, self.strength * sum(
            self.disco(score, label, one, given) for one in mass.reshape(len(score), -1).unbind(1)
        )


def _added(
    method: str, strength: float | None, problem: Problem, training: list[Tensor], batch: int
) -> nn.Module | None:
    """Takes the network and a batch: logits, label, mass and weight. Returns logits and a term of the loss."""
    if method == "none":
        return None
    options = {"background_label": problem.flat} | problem.options
    if strength is not None:
        with_its_bins = options | {"edges": None}  # batches leave some of the given ones empty
        return _Loss(strength, with_its_bins) if method == "MoDeLoss" else _DisCo(strength, problem.flat)
    inputs, mass, label, weight = training
    background = label == problem.flat
    constraint = MoDeConstraint(from_logits=True, training_events=int(background.sum()), **options)
    return _Constrained(constraint, [one[background] for one in (inputs, mass, weight)] if batch < 1_000 else None)


def _train(
    network: nn.Module,
    tensors: list[Tensor],
    added: nn.Module | None,
    *,
    batch: int,
    epochs: int,
    rate: float,
    signal: float,
    window: tuple[float, float] | None,
) -> None:
    inputs, masses, labels, weights, of_losses = tensors
    batches = max(1, len(labels) // batch)
    optimizer = torch.optim.Adam(network.parameters(), rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * batches)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels)).chunk(batches):
            label, weight = labels[chosen], weights[chosen]
            logit, penalty = network(inputs[chosen]), 0.0
            if added is not None:
                logit, penalty = added(network, logit, label, masses[chosen], weight)
            of_loss = of_losses[chosen] * (1 + (signal - 1) * label)
            if window is not None:
                of_loss = of_loss * ((masses[chosen] > window[0]) & (masses[chosen] < window[1]))
            loss = binary_cross_entropy_with_logits(logit, label, weight=of_loss) + penalty
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


@torch.inference_mode()
def scores(network: nn.Module, features: NDArray[Any]) -> NDArray[Any]:
    """The logits of events, as doubles."""
    chunks = torch.from_numpy(np.ascontiguousarray(features)).split(50_000)
    found: NDArray[Any] = torch.cat([network(chunk) for chunk in chunks]).numpy().astype(float)
    return found


def mapped(
    problem: Problem, training: Events, of_training: NDArray[Any], test: Events, of_test: NDArray[Any]
) -> NDArray[Any]:
    """Scores of test events after a QuantileMap that is fitted to the scores of training events."""
    flat, order, low_high = training.label == problem.flat, problem.options["order"], problem.options.get("mass_range")
    made = QuantileMap(order=order, mass_range=low_high)
    made.fit(of_training[flat], training.mass[flat], sample_weight=training.weight[flat])
    return made.transform(of_test, test.mass)
