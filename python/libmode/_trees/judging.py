"""What other events say of trees when a training ends."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._events import Events, read_events
from .._messages import level_of_the_user
from .._problems import TrainingWarning
from .._read import as_array, number, of_one_index
from ..metrics._judge import Judge
from ..metrics._settings import Settings as Judged
from .multipliers import Settings, sums_of_weights, targets

if TYPE_CHECKING:
    from .objective import Objective

BY_HEART = (
    "Trees know their training events by heart: give more of them, early_stopping_rounds, fewer rounds or a lower "
    "max_depth"
)


def judged(settings: Settings, events: float | None, point: Mapping[str, Any]) -> Judged:
    """The settings with which check judges this training at a working point."""
    options, point = settings.options, {name: value for name, value in point.items() if value is not None}
    names = ["order", "mass_range", "missing", "monotonic"]
    names += ["max_slope"] * (options.get("slope_of", "rejected") == "selected")
    if not settings.background_only:  # a share of all events
        (share,) = point.values() or [0.5]
        point = {"background_efficiency": share}
    taken = {name: options[name] for name in names if name in options}
    tolerance = settings.tolerance if events is None else number("events", events, above=0)
    return Judged.checked(tolerance=tolerance, **taken, **point)


def judge(settings: Judged, events: Events, background_only: bool) -> Judge:
    """The judge of events; without signal, of background alone."""
    return Judge(settings, events.label if background_only else None, events.mass, events.weight, events.category)


class Verdict:
    """Judges the trees of a native training by other events, and writes ``check_`` of its objective."""

    def __init__(
        self, objective: Objective, features: Any, arrays: Mapping[str, Any], number_of_events: Any, point: Any
    ) -> None:
        of_one_index({"features": features, **arrays})
        target = targets(arrays["label"])
        same_length(arrays, len(target), "label")
        events = read_events(as_array, target, target, arrays["mass"], arrays["weight"], arrays["category"])
        sums_of_weights(target, events.weight)
        self.objective, self.features = objective, features
        settings = objective.settings
        self._judge = judge(judged(settings, number_of_events, point), events, settings.background_only)

    def __call__(self, margin: Any, best: int | None) -> None:
        """The trees have these margins; early stopping chose this round, counted from 0, if any did."""
        objective = self.objective
        objective.check_ = check = self._judge(np.asarray(margin, float))
        said = [] if check.flat else [f"{check.why}. {BY_HEART}" if check.flat is False else check.why]
        if best is not None and (objective.settled is None or best + 1 < objective.settled):
            said.insert(0, f"early stopping took round {best}, and the push has not settled" + (
                "" if objective.settled is None else f" before round {objective.settled}"
            ) + ": give it the metric of libmode alone, with objective=")  # fmt: skip
        if said and not objective.fixed:
            warnings.warn(". ".join(said), TrainingWarning, stacklevel=level_of_the_user())


def same_length(arrays: Mapping[str, Any], count: int, of: str, advice: str = "") -> None:
    """Raises ValueError for an array, by its name, that is ragged or has not ``count`` rows like ``of``."""
    for name, array in arrays.items():
        try:
            shape = np.shape(array)
        except ValueError:
            shape = as_array(name, array).shape  # its error names ragged lists
        if shape and shape[0] != count:
            raise ValueError(f"{name} has length {shape[0]}, but {of} has {count} rows{advice}")
