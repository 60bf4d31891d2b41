"""The events of the simple model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIGNAL_MASS = 0.2
SIGNAL_WIDTH = 0.1


@dataclass(frozen=True)
class Events:
    """Events in random order, as float32 arrays.

    features : (n, 2), x1 that knows nothing of the mass within a class, and x2
        that is a function of the mass alone: how near to the signal's it is
    mass : (n,), inside [-1, 1] for the background
    label : (n,), 1 for signal and 0 for background
    """

    features: np.ndarray
    mass: np.ndarray
    label: np.ndarray

    def __len__(self) -> int:
        return len(self.label)


def simple_model(events: int, rng: np.random.Generator, modified: bool = False) -> Events:
    """Draws ``events`` events, half of them signal, half background.

    The background has two types of equal rate. Type 1 looks like signal in x1
    and falls with mass, type 2 is easily rejected and rises with it. Together
    they are flat in mass, but a selection keeps mostly type 1: whatever it does,
    the best classifier that ignores the mass has a background efficiency that
    falls linearly.

    modified : with x2 = exp(mass) + 2 mass, which tells the mass, not only how near
        the signal's it is; the best quadratic dependence then is not monotonic
    """
    n_signal = events // 2
    n_type1 = (events - n_signal) // 2
    n_type2 = events - n_signal - n_type1

    resonant = rng.normal(SIGNAL_MASS, SIGNAL_WIDTH, n_signal // 2)
    flat = rng.uniform(-1, 1, n_signal - n_signal // 2)
    type1 = 1 - 2 * np.sqrt(rng.uniform(size=n_type1))
    type2 = -1 + 2 * np.sqrt(rng.uniform(size=n_type2))
    mass = np.concatenate([resonant, flat, type1, type2])

    x1 = rng.normal(np.repeat([1.0, 0.0, -4.0], [n_signal, n_type1, n_type2]))
    x2 = np.exp(mass) + 2 * mass if modified else np.exp(-0.5 * ((mass - SIGNAL_MASS) / SIGNAL_WIDTH) ** 2)
    label = np.repeat([1, 0], [n_signal, events - n_signal])

    order = rng.permutation(events)
    return Events(
        features=np.column_stack([x1, x2])[order].astype(np.float32),
        mass=mass[order].astype(np.float32),
        label=label[order].astype(np.float32),
    )
