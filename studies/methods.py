"""What the studies compare: classifiers, and the terms that they add to the cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libmode
import torch
from libmode.torch import Events, MoDeConstraint, MoDeLoss
from torch import Tensor

from .baselines import DisCoLoss, FlatnessLoss

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]  # of score, label and mass, (n,) each

PLAIN = {"unbiased": False, "moments": "quadrature"}  # the paper's formula of MoDe; the default is unbiased, projection
PENALTIES: dict[str, type] = {
    "constraint": MoDeConstraint,
    "mode": MoDeLoss,
    "disco": DisCoLoss,
    "flatness": FlatnessLoss,
}


@dataclass(frozen=True)
class Classifier:
    """One row of a table.

    method : what is added to the cross entropy: "none", "mode", "disco", "flatness",
        "adversary"; or "constraint", between network and cross entropy, or "planing", which
        weights the events in it
    strength : of what is added (of MoDe with reduction mean); 0 for none
    options : of the loss of that method
    """

    name: str
    method: str = "none"
    strength: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> int:
        """Of the polynomial in mass that the background efficiency is compared with."""
        order: int = self.options.get("order", 0)
        return order


def odds(score: Tensor) -> Tensor:
    """A finite form of s / (1 - s): a loss of it gives tight selections more weight.

    The loss is quadratic in the background efficiency, some 1 % where 20 % of the signal passes. The odds of signal
    against background grow there as fast as the efficiency falls.
    """
    return 0.05 / (1.05 - score)


def penalty(classifier: Classifier) -> Loss | None:
    """The term that is added to the cross entropy."""
    kind = PENALTIES.get(classifier.method)
    if kind is None:
        return None
    options = dict(classifier.options)
    if options.pop("integral_over", None) != "odds":
        return kind(**options)
    loss = kind(score_range=None, **options)
    return lambda score, label, mass: loss(odds(score), label, mass)


def drawn(network: Callable[[Tensor], Tensor], background: list[Tensor], size: int) -> Events:
    """Reference events: background, as (inputs, mass) or also weight, that the network scores without gradient."""
    some = torch.randperm(len(background[0]))[:size]
    inputs, mass, *weight = (one[some] for one in background)
    with torch.no_grad():
        score = network(inputs)
    return Events(score.flatten(), None, mass, *weight)


def one_thread() -> None:
    """Limits this process to one thread, since others run beside it."""
    torch.set_num_threads(1)
    libmode.set_threads(1)
