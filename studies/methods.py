"""What the studies compare: classifiers, and the terms that they add to the cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import libmode
import torch
from libmode.torch import MoDeConstraint, MoDeLoss
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
    """A finite form of s / (1 - s): a ``score_transform`` that gives tight selections more weight.

    The loss is quadratic in the background efficiency, some 1 % where 20 % of the signal passes. The odds of signal
    against background grow there as fast as the efficiency falls.
    """
    return 0.05 / (1.05 - score)


TRANSFORMS = {"odds": odds}  # by name, so that the options of a classifier can be written to a file


def penalty(classifier: Classifier) -> Loss | None:
    """The term that is added to the cross entropy."""
    kind = PENALTIES.get(classifier.method)
    if kind is None:
        return None
    options = dict(classifier.options)
    if options.get("score_transform") in TRANSFORMS:
        options["score_transform"] = TRANSFORMS[options["score_transform"]]
    return kind(**options)


def one_thread() -> None:
    """Limits this process to one thread, since others run beside it."""
    torch.set_num_threads(1)
    libmode.set_threads(1)
