"""What the comparisons with modeloss share: events, and how far two results are apart."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

N = 320  # a multiple of 32 bins


def batch(n: int = N, seed: int = 0, even: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Scores that depend on mass, targets 0, and masses in [-1, 1], evenly spaced or drawn."""
    rng = np.random.default_rng(seed)
    mass = rng.permutation(np.linspace(-1, 1, n)) if even else rng.uniform(-1, 1, n)
    score = 1 / (1 + np.exp(-rng.normal(1.5 * mass + mass**2)))
    return torch.from_numpy(score), torch.zeros(n, dtype=torch.float64), torch.from_numpy(mass)


def evaluate(mode, pred: Tensor, *rest) -> tuple[float, Tensor]:
    """The loss, and its gradient with respect to ``pred``, flat."""
    pred = pred.clone().requires_grad_()
    loss = mode(pred, *rest)
    loss.backward()
    assert pred.grad.dtype == pred.dtype and pred.grad.shape == pred.shape
    return loss.item(), pred.grad.flatten()


def distance(grad: Tensor, other: Tensor) -> float:
    """The largest difference over the largest element."""
    return ((grad - other).abs().max() / other.abs().max()).item()


def correlation(grad: Tensor, other: Tensor) -> float:
    return np.corrcoef(grad, other)[0, 1]
