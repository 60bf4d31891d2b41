"""Trains one classifier of the zoo, and measures it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from libmode import metrics
from libmode.torch import MoDeConstraint, Reference
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ..baselines import DisCoLoss
from ..plane import rms_pull
from .problems import PROBLEMS, Events, Problem, events_of

EFFICIENCIES = (0.8, 0.5, 0.2)
REFERENCE = 4_096  # events, in batches that are smaller than 1,000


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
) -> nn.Module:
    """Trains a network, which gives logits.

    method : "none", "constraint" or "disco"
    strength : of DisCo, or the fixed one of the constraint; None: the constraint as it comes
    epochs, rate : over those of the problem; signal : the weight of signal
    """
    problem = PROBLEMS[name]
    training, _ = events_of(name, seed)
    torch.manual_seed(seed)
    network = _network(training.features.shape[1], problem)
    tensors = [torch.from_numpy(np.ascontiguousarray(array)) for array in vars(training).values()]
    added = _added(method, strength, problem, tensors if batch < 1_000 else None)
    for length, push in ((problem.before, None), (round(problem.epochs * epochs), added)):
        if length:
            _train(network, tensors, push, batch=batch, epochs=length, rate=problem.rate * rate, signal=signal)
    return network


def _network(features: int, problem: Problem) -> nn.Module:
    sizes = [features, *[problem.width] * problem.layers]
    layers = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.SiLU())]
    return nn.Sequential(*layers, nn.Linear(problem.width, 1), nn.Flatten(0))


#: Takes the network and the logits, label, mass and weight of a batch; returns the logits and a term of the loss.
Added = Callable[[nn.Module, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor | float]]


def _added(method: str, strength: float | None, problem: Problem, reference: list[Tensor] | None) -> Added | None:
    if method == "none":
        return None
    if method == "disco":
        disco = DisCoLoss(unbiased=True, background_label=problem.flat)

        def penalty(_: nn.Module, logit: Tensor, label: Tensor, mass: Tensor, weight: Tensor) -> Any:
            # DisCo has no negative weights.
            return logit, strength * disco(logit.sigmoid(), label, mass, weight if weight.min() > 0 else None)

        return penalty
    constraint = MoDeConstraint(
        relative_strength=strength, from_logits=True, background_label=problem.flat, **problem.options
    )
    drawn = None
    if reference is not None:
        inputs, mass, label, weight = reference
        drawn = Reference((inputs, label, mass, weight), REFERENCE, background_label=problem.flat)

    def layer(network: nn.Module, logit: Tensor, label: Tensor, mass: Tensor, weight: Tensor) -> Any:
        return constraint(logit, label, mass, weight, reference=None if drawn is None else drawn(network)), 0.0

    return layer


def _train(
    network: nn.Module,
    tensors: list[Tensor],
    added: Added | None,
    *,
    batch: int,
    epochs: int,
    rate: float,
    signal: float,
) -> None:
    inputs, masses, labels, weights = tensors
    batches = max(1, len(labels) // batch)
    optimizer = torch.optim.Adam(network.parameters(), rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * batches)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels)).chunk(batches):
            label, weight = labels[chosen], weights[chosen]
            logit, penalty = network(inputs[chosen]), 0.0
            if added is not None:
                logit, penalty = added(network, logit, label, masses[chosen], weight)
            of_loss = weight * (1 + (signal - 1) * label)
            loss = binary_cross_entropy_with_logits(logit, label, weight=of_loss) + penalty
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()


@torch.inference_mode()
def judged(name: str, network: nn.Module, seed: int) -> dict[str, Any]:
    """AUC, R50, and residuals over expected, of the test events.

    "turns" is 3 |c_2|/|c_1| of the quadratic that fits the efficiency of each selection, above 1 where it is not
    monotonic; "slopes" is |c_1|/c_0 of the line.
    """
    problem, (_, test) = PROBLEMS[name], events_of(name, seed)
    chunks = torch.from_numpy(np.ascontiguousarray(test.features)).split(50_000)
    logit = torch.cat([network(chunk) for chunk in chunks]).numpy().astype(float)
    score, weight = 1 / (1 + np.exp(-np.clip(logit, -700, 700))), test.weight.astype(float)
    flat = test.label == problem.flat
    selections = [_selection(problem, test, logit, flat, efficiency) for efficiency in EFFICIENCIES]
    return {
        "auc": metrics.auc(score, test.label, weight=weight),
        "r50": metrics.rejection(score, test.label, signal_efficiency=0.5, weight=weight),
        **{key: [one[key] for one in selections] for key in selections[0]},
    }


def _selection(
    problem: Problem, test: Events, logit: NDArray[Any], flat: NDArray[Any], efficiency: float
) -> dict[str, float]:
    weight, mass = test.weight.astype(float), test.mass[flat].astype(float)
    if problem.flat == 1:
        cut = float(np.quantile(logit[flat], 1 - efficiency))
    else:
        cut = metrics.threshold(logit, test.label, signal_efficiency=efficiency, weight=weight)
    if mass.ndim == 2:
        residual = rms_pull(logit[flat], mass, cut, 10)
        return {"residual": residual, "turns": np.nan, "slopes": np.nan}
    selected, edges = logit[flat] >= cut, np.unique(np.quantile(mass, np.linspace(0, 1, 21)))
    found = metrics.flatness(mass, selected, edges, degree=problem.options["order"], weight=weight[flat])
    share = metrics.efficiency(mass, selected, edges, weight=weight[flat])
    x = 2 * ((edges[1:] + edges[:-1]) / 2 - edges[0]) / (edges[-1] - edges[0]) - 1
    known = share.error > 0
    line, quadratic = (
        np.polynomial.legendre.legfit(x[known], share.value[known], degree, w=1 / share.error[known])
        for degree in (1, 2)
    )
    return {
        "residual": found.rms / found.expected,
        "turns": float(3 * abs(quadratic[2] / quadratic[1])),
        "slopes": float(abs(line[1] / line[0])),
    }
