"""The arguments of a check but for the events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._messages import ORDER
from .._read import flag, number, numbers, positive, whole
from ._sample import POINTS, point, points


@dataclass
class Settings:
    """The arguments of :func:`check` but for the events, which raise its errors for bad values."""

    order: Any = None
    background_label: Any = 0
    signal_efficiency: Any = None
    background_efficiency: Any = None
    threshold: Any = None
    bins: Any = 20
    mass_range: Any = None
    missing: str = "error"
    signal_mass: Any = None
    signal_width: Any = None
    search_events: Any = None
    flat_below: Any = 5.0
    training_events: Any = None
    max_slope: Any = None
    monotonic: bool = False
    points: list[tuple[str, float]] = field(init=False)  #: names and values of the working points

    def __post_init__(self) -> None:
        if self.order is None:
            raise TypeError(ORDER)
        self.order = order = whole("order", self.order, 0)
        self.points = self._points()
        if self.missing not in ("error", "ignore"):
            raise ValueError(f"missing = {self.missing!r}: expected 'error' or 'ignore'")
        for name in ("signal_mass", "signal_width"):
            if (given := getattr(self, name)) is not None:
                setattr(self, name, numbers(name, np.atleast_1d(given)))
        self.search_events = positive("search_events", self.search_events)
        self.flat_below = number("flat_below", self.flat_below, above=0)
        self.training_events = positive("training_events", self.training_events)
        if self.max_slope is not None:
            slope = number("max_slope", self.max_slope, above=0)
            if order < 1:
                raise ValueError(f"max_slope = {slope:g}: expected an order of at least 1, order = {order}")
        if flag("monotonic", self.monotonic) and order < 2:
            raise ValueError(f"monotonic = True: expected an order of at least 2, order = {order} is monotonic")
        if np.ndim(self.bins) == 0:
            whole("bins", self.bins, 2)

    def _points(self) -> list[tuple[str, float]]:
        chosen = {name: getattr(self, name) for name in points(vars(self))} or {POINTS[0]: 0.5}
        name, values = next(iter(chosen.items()))
        if len(chosen) > 1 or np.ndim(values) == 0:
            return [point(chosen)]
        if not len(values):
            raise ValueError(f"{name} is empty: expected at least one number")
        return [point({name: each}, place=f"[{k}]") for k, each in enumerate(values)]
