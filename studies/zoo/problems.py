"""The problems of the zoo, and how each is trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import events
from .events import Events


@dataclass(frozen=True)
class Problem:
    """One training.

    draw : a function of events.py, which gives the events to train on and those to judge by, of a seed
    options : of the constraint
    flat : the label of the class whose response is to be smooth
    width, layers : of the network; SiLU between its layers
    epochs : of a training with the defaults of the study
    events : to train on, about
    before : epochs without a constraint, at the same rate, of a network that is fine-tuned
    peak : mass and width of the signal of a problem that rivals are trained on too; draw(seed, spectrum=True) then has
        signal at the masses of background
    window, beside : masses between which the selection must have no bump, and a function that draws background in and
        around them, more than the test events have
    """

    draw: Callable[[int], tuple[Events, Events]]
    options: dict[str, Any]
    flat: int = 0
    width: int = 64
    layers: int = 3
    epochs: int = 16
    events: int = 100_000
    before: int = 0
    rate: float = 1e-2
    peak: tuple[float, float] | None = None
    window: tuple[float, float] | None = None
    beside: Callable[[], Events] | None = None


@lru_cache(maxsize=2)
def events_of(name: str, seed: int) -> tuple[Events, Events]:
    """The training and the test events of a problem, with features scaled to mean 0 and width 1 in training."""
    training, test = PROBLEMS[name].draw(seed)
    return _scaled(training, training), _scaled(test, training)


@lru_cache(maxsize=1)
def beside_of(name: str, seed: int) -> Events | None:
    """The background around the window of a problem that has one, scaled as :func:`events_of`."""
    problem = PROBLEMS[name]
    return None if problem.beside is None else _scaled(problem.beside(), problem.draw(seed)[0])


def spectrum_of(name: str, seed: int) -> Events:
    """The training events with signal at the masses of background, scaled as :func:`events_of`."""
    draw: Any = PROBLEMS[name].draw
    return _scaled(draw(seed, spectrum=True)[0], draw(seed)[0])


def _scaled(events: Events, training: Events) -> Events:
    mean, width = training.features.mean(axis=0), training.features.std(axis=0)
    return Events((events.features - mean) / width, events.mass, events.label, events.weight)


LOG_EDGES = tuple(math.log(6) * k / 24 for k in range(25))  # of a dijet's mass from 1 to 6

PROBLEMS = {
    "simple, order 0": Problem(events.simple, {"order": 0}),
    "simple, order 1": Problem(events.simple, {"order": 1}),
    "modified, order 1, max_slope 0.5": Problem(
        events.modified, {"order": 1, "max_slope": 0.5, "slope_of": "selected"}
    ),
    "modified, order 2, monotonic": Problem(events.modified, {"order": 2, "monotonic": True}),
    "W jets, order 1": Problem(events.jets, {"order": 1}, epochs=32, events=25_000),
    "scan, order 1": Problem(events.scan, {"order": 1}, events=190_000),
    "Dalitz plane, order 0": Problem(events.dalitz, {"order": 0, "joint": True}, flat=1),
    "husbands, order 0": Problem(events.husbands, {"order": 0}, epochs=64, events=11_000, rate=3e-3),
    "few events, order 1": Problem(events.few, {"order": 1}, width=256, layers=4, epochs=64, events=10_000, rate=1e-3),
    "fine-tuned, order 1": Problem(events.scan, {"order": 1}, before=8, epochs=8, events=190_000, rate=1e-3),
    "toy, order 0": Problem(events.toy, {"order": 0}, width=32, layers=2, epochs=30, rate=3e-3),
    "dijet, order 2, monotonic": Problem(
        events.dijet,
        {"order": 2, "monotonic": True, "mass_range": (1.0, 6.0)},
        epochs=10,
        events=550_000,
        rate=4e-3,
        window=(2.25, 2.75),
        beside=events.dijets_near_the_peak,
    ),
    "dijet in log m, order 1": Problem(
        events.dijet_in_log,
        {"order": 1, "edges": LOG_EDGES},
        epochs=10,
        events=550_000,
        rate=4e-3,
        window=(math.log(2.25), math.log(2.75)),
        beside=lambda: events.in_log(events.dijets_near_the_peak()),
    ),
}
for order in (0, 1):
    for name, draw, mass_range, size, rate, peak in (
        ("tagger", events.tagger, (50.0, 400.0), 200_000, 4e-3, (125.0, 12.0)),
        ("steep", events.steep, (1.0, 8.0), 200_000, 4e-3, (2.0, 0.1)),
        ("slices", events.slices, (0.0, 1.0), 186_000, 1e-2, None),
        ("slices without weights", events.slices_unweighted, (0.0, 1.0), 186_000, 1e-2, None),
    ):
        PROBLEMS[f"{name}, order {order}"] = Problem(
            draw, {"order": order, "mass_range": mass_range}, events=size, rate=rate, peak=peak
        )
