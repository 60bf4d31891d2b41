"""Events with two jets and 30 times as much background as signal; both jets depend on a common mode."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

RATIO = 30  # background over signal
FEATURES = 3  # of each jet


def events(background: int, seed: int, signal: int | None = None) -> tuple[Tensor, Tensor]:
    """Features (n, 2, 3) of both jets, and labels (n,), 1 for signal; by default of ``RATIO``.

    Each jet has a property of its own, the common mode, smeared, and the size of a fluctuation whose width grows with
    the common mode. Signal has more of the first two.
    """
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1], [background, background // RATIO if signal is None else signal])
    n = len(label)
    common = rng.normal(1.0 * label)
    own = rng.normal(1.5 * label[:, None], size=(n, 2))
    seen = common[:, None] + rng.normal(0, 0.7, size=(n, 2))
    spread = np.abs(rng.normal(0, np.exp(0.3 * common)[:, None], size=(n, 2)))
    features = np.stack([own, seen, spread], axis=2)
    return torch.tensor(features, dtype=torch.float32), torch.tensor(label)
