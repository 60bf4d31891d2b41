"""Methods of the field that the studies compare MoDe with."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from libmode.torch import mode_loss
from numpy.typing import NDArray
from torch import Tensor


class DisCoLoss:
    """DisCo, the squared distance correlation of score and mass (arXiv:2001.05310), with options of ``mode_loss``."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def __call__(self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None) -> Tensor:
        return mode_loss(score, mass, weight=weight, label=label, loss="disco", **self._options)


class FlatnessLoss:
    """The flatness loss (arXiv:1305.7248; section 2.1 of arXiv:2010.09745), in quantile bins of the background's mass.

    It is the sum over the bins b of share_b times the integral of (F_b(s) - F(s))^2. F_b is the CDF of the scores of
    bin b, share_b its share of the events, and F the CDF of all events.
    """

    def __init__(self, bins: int = 32, mass_range: tuple[float, float] = (-np.inf, np.inf)) -> None:
        self._bins, self._range = bins, mass_range

    def __call__(self, score: Tensor, label: Tensor, mass: Tensor) -> Tensor:
        low, high = self._range
        chosen = (label == 0) & (mass >= low) & (mass <= high)
        score, order = torch.sort(score[chosen])
        mass = mass[chosen][order]
        edges = torch.quantile(mass, torch.linspace(0, 1, self._bins + 1, dtype=mass.dtype))
        member = torch.nn.functional.one_hot(torch.bucketize(mass, edges[1:-1], right=True), self._bins).to(score.dtype)
        cdf, of_all = member.cumsum(0) / member.sum(0), torch.arange(1, len(mass) + 1)[:, None] / len(mass)
        return ((cdf - of_all) ** 2 @ member.mean(0))[:-1] @ score.diff()


def planing(mass: Any, label: Any, bins: int = 50, floor: float = 0.1) -> NDArray[np.float32]:
    """Weights that give the background the signal's spectrum in mass (arXiv:1709.10106); each class has a mean of 1.

    They are ratios of histograms over the range of mass. A bin of the background counts as at least ``floor`` of a flat
    one.
    """
    mass, background = np.asarray(mass, np.float64), np.asarray(label) == 0
    edges = np.linspace(mass.min(), mass.max(), bins + 1)
    of_signal, of_background = (
        np.histogram(mass[chosen], edges)[0] / chosen.sum() for chosen in (~background, background)
    )
    place = np.clip(np.searchsorted(edges, mass, "right") - 1, 0, bins - 1)
    weight = np.where(background, (of_signal / np.maximum(of_background, floor / bins))[place], 1.0)
    weight[background] /= weight[background].mean()
    return weight.astype(np.float32)
