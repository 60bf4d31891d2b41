"""Draws the events of small problems, as many as asked for, each in a second."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..simple_model.data import simple_model

Array = NDArray[np.float64]
Drawn = tuple[Array, Array, Array, Array]  # features (n, k), masses, labels, weights


def _mixed(
    rng: np.random.Generator, columns: list[Array], mass: Array, label: Array, weight: Array | None = None
) -> Drawn:
    order = rng.permutation(len(label))
    given = np.ones(len(label)) if weight is None else weight
    return np.column_stack(columns)[order], mass[order], label[order], given[order]


def _labels(background: int, signal: int) -> Array:
    return np.repeat([0.0, 1.0], [background, signal])


def _falling(rng: np.random.Generator, count: int, low: float, high: float, scale: float) -> Array:
    """Masses of an exponential between two limits."""
    return low - scale * np.log1p(-rng.random(count) * -np.expm1(-(high - low) / scale))


def _turned_on(rng: np.random.Generator, count: int, draw: Callable[[int], Array], at: float, width: float) -> Array:
    """Masses that a trigger with a turn-on keeps."""
    kept = np.empty(0)
    while len(kept) < count:
        mass = draw(2 * count)
        kept = np.concatenate([kept, mass[rng.random(len(mass)) < 1 / (1 + np.exp((at - mass) / width))]])
    return kept[:count]


def tagger(rng: np.random.Generator, background: int, signal: int, at: float = 125, scale: float = 80) -> Drawn:
    """A tagger with a rejection of some 300 at half of the signal; three of six features leak the mass."""
    y = _labels(background, signal)
    mass = np.r_[_falling(rng, background, 50, 400, scale), np.clip(rng.normal(at, 0.1 * at, signal), 51, 399)]
    columns = [
        rng.normal(1.7 * y),
        rng.normal(1.4 * y),
        rng.normal(1.0 * y),
        np.log(mass / 100) + rng.normal(0, 0.25, len(y)),
        2 * mass / (250 + rng.exponential(120, len(y))) * rng.normal(1, 0.08, len(y)),
        rng.normal(0.8 * y + 0.3 * np.sin(mass / 40)),
    ]
    return _mixed(rng, columns, mass, y)


def tail(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """The tagger with its signal where 2 % of the background are left."""
    return tagger(rng, background, signal, at=250, scale=50)


def resonant(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """A falling spectrum with a turn-on; a feature knows the mass to 3 %."""
    y = _labels(background, signal)
    mass = np.r_[
        _turned_on(rng, background, lambda n: _falling(rng, n, 40, 400, 60), 70, 8), rng.normal(125, 10, signal)
    ]
    columns = [
        *(rng.normal(a * y) for a in (1.6, 1.4, 1.1)),
        mass / 100 * rng.normal(1, 0.03, len(y)),
        rng.normal(size=len(y)),
    ]
    return _mixed(rng, columns, mass, y)


def dijet(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """Logarithms of masses: a power of the mass with a turn-on, and a signal at 2 TeV."""
    y = _labels(background, signal)
    power = _turned_on(rng, background, lambda n: (1 - rng.random(n) * (1 - 8.0**-4)) ** -0.25, 1.2, 0.06)
    mass = np.r_[power, np.clip(rng.normal(2, 0.1, signal), 1, 8)]
    leak = np.log(mass)
    columns = [
        *(rng.normal(a * y) for a in (1.5, 1.0, 0.6)),
        leak + rng.normal(0, 0.1, len(y)),
        mass * rng.beta(6, 2, len(y)),
    ]
    return _mixed(rng, columns, leak, y)


def slices(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """Weights that fall by three decades with the mass; one background event in eight has a negative weight."""
    y = _labels(background, signal)
    mass = np.r_[rng.random(background), np.clip(rng.normal(0.4, 0.1, signal), 0, 1)]
    columns = [
        *(rng.normal(a * y) for a in (0.9, 0.8)),
        rng.normal(y * (0.5 + mass)),
        mass + rng.normal(0, 0.1, len(y)),
        mass**2 + rng.normal(0.2 * y, 0.2),
    ]
    weight = np.where(y == 1, 1, 10 ** (-3 * mass) * np.where(rng.random(len(y)) < 1 / 8, -1, 1))
    return _mixed(rng, columns, mass, y, weight)


def simple(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """The simple model of the paper."""
    found = simple_model(4 * max(background, signal), rng, False)
    chosen = np.r_[np.flatnonzero(found.label == 0)[:background], np.flatnonzero(found.label == 1)[:signal]]
    arrays = (np.asarray(a, float)[chosen] for a in (found.mass, found.label))
    return _mixed(rng, list(np.asarray(found.features, float)[chosen].T), *arrays)


def innocent(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """No feature knows the mass."""
    y = _labels(background, signal)
    mass = np.r_[_falling(rng, background, 50, 400, 80), rng.normal(125, 10, signal)]
    return _mixed(rng, [rng.normal(a * y) for a in (1.5, 1.2, 0.9, 0.0)], mass, y)


def broad(rng: np.random.Generator, background: int, signal: int) -> Drawn:
    """Signals of many masses: the spectrum of signal is flat, and one feature follows the mass."""
    y = _labels(background, signal)
    mass = np.r_[_falling(rng, background, 50, 400, 80), rng.uniform(50, 400, signal)]
    columns = [
        *(rng.normal(a * y) for a in (1.4, 1.1)),
        np.log(mass / 100) + rng.normal(0, 0.2, len(y)),
        rng.normal(y * mass / 200),
    ]
    return _mixed(rng, columns, mass, y)


PROBLEMS = {f.__name__: f for f in (tagger, tail, resonant, dijet, slices, simple, innocent, broad)}
RANGES = {"dijet": (0.0, float(np.log(8))), "slices": (0.0, 1.0), "simple": (-1.0, 1.0), "resonant": (40.0, 400.0)}


def rounded(mass: Array, how: str) -> Array:
    """Masses as files round them: to .05, or to ten bits of mantissa."""
    if how == "mantissa":
        bits = mass.astype(np.float32).view(np.uint32)
        return ((bits + 0x1000) & 0xFFFFE000).view(np.float32).astype(float)
    return np.round(mass / 0.05) * 0.05 if how else mass
