"""A conditional normalizing flow, which gives a score the same distribution at every mass.

A monotone rational-quadratic spline whose knots a network makes of the mass (C. Durkan et al., arXiv:1906.04032), of
the package zuko, trained to the likelihood of the background, as in S. Klein and T. Golling, arXiv:2211.02486.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor
from tqdm import trange

KNOTS, HIDDEN = 16, (64, 64, 64)  # of the spline; of the network
LEARNING_RATE = 5e-3  # at its highest, of a one-cycle schedule
CHUNK = 1 << 16  # events at a time

Map = Callable[[NDArray[np.floating], NDArray[np.floating]], NDArray[np.float64]]


def fitted(
    score: NDArray[np.floating],
    mass: NDArray[np.floating],
    *,
    steps: int,
    batch: int,
    seed: int,
    name: str | None = None,
) -> Map:
    """A function of scores (n,) and masses (n,) that makes background standard normal at every mass.

    Its normal distribution function would be uniform, and selects the same events.

    score, mass : (n,), of background to train on
    steps, batch : of the training, as many, and events in each
    name : before a progress bar; None for no bar
    """
    from zuko.flows import NSF  # here, so that other studies do without it

    ordered, low, high = np.sort(score), float(mass.min()), float(mass.max())

    def inputs(s: NDArray[np.floating], m: NDArray[np.floating]) -> tuple[Tensor, Tensor]:
        """Masses from -1 to 1, and scores whose ranks follow a normal distribution: (n, 1) each."""
        rank = (np.searchsorted(ordered, s, "left") + np.searchsorted(ordered, s, "right") + 1) / (2 * len(ordered) + 2)
        end = 0.5 / (len(ordered) + 1)
        unit = np.clip(2 * (m - low) / (high - low) - 1, -1, 1)
        return _column(ndtri(np.clip(rank, end, 1 - end))), _column(unit)

    torch.manual_seed(seed)
    flow = NSF(1, 1, transforms=1, bins=KNOTS, hidden_features=HIDDEN, activation=torch.nn.SiLU)
    optimizer = torch.optim.Adam(flow.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    scores, masses = inputs(score, mass)
    for _ in trange(steps, desc=name, disable=name is None):
        chosen = torch.randint(len(scores), (batch,))
        optimizer.zero_grad()
        (-flow(masses[chosen]).log_prob(scores[chosen]).mean()).backward()
        optimizer.step()
        schedule.step()

    @torch.no_grad()
    def mapped(s: NDArray[np.floating], m: NDArray[np.floating]) -> NDArray[np.float64]:
        parts = zip(*(array.split(CHUNK) for array in inputs(s, m)), strict=True)
        found: NDArray[np.float64] = torch.cat([flow(b).transform(a) for a, b in parts])[:, 0].double().numpy()
        return found

    return mapped


def _column(values: NDArray[np.floating]) -> Tensor:
    return torch.from_numpy(np.asarray(values, np.float32))[:, None]
