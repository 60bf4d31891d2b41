"""The metric that XGBoost and LightGBM call, to judge a training and to stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._constraint import sigmoid
from .._functions import mode_evaluate
from ..metrics.summary import Settings as Judged
from ..metrics.summary import sensitivity
from .multipliers import checked, sums_of_weights, targets
from .objective import OfAll, Rows, RowsOf, alone, masses_of, of_each, shape_of

USUAL_EVENTS = 100_000.0


class Metric:
    """What judges margins of data sets whose masses it knows, as (name, value) that are to fall."""

    def __init__(
        self,
        rows_of: RowsOf,
        masses: Any,
        of: Any,
        strength: float | None,
        events: float,
        background_only: bool,
        options: Mapping[str, Any],
        of_all: OfAll = alone,
    ) -> None:
        self._rows_of, self._of_all = rows_of, of_all
        self._field = masses if isinstance(masses, str) else None
        try:
            pairs = masses.items() if isinstance(masses, Mapping) else () if self._field else masses
            self._pairs = [(data, of_rows) for data, of_rows in pairs]
        except (TypeError, ValueError):
            raise TypeError(f"masses is {type(masses).__name__}: expected {{data set: mass}}, or such pairs") from None
        self._of = (of,) if isinstance(of, str) or not isinstance(of, Iterable) else tuple(of)
        if not self._of or not set(self._of) <= set(_VALUES):
            raise ValueError(f"of = {of!r}: must be one or some of {', '.join(map(repr, _VALUES))}")
        if ("loss" in self._of) != (strength is not None):
            raise ValueError(f"strength = {strength!r}: give one if of has 'loss', and only then")
        options = checked(strength, 1.0, None, None, background_only, options).options
        Judged.checked(options["order"], events, (0.5,), 20, options.get("mass_range"), {})
        self._how = How(options, events, strength, bool(background_only))

    def __call__(self, margin: Any, data: Any) -> list[tuple[str, float]]:
        """Of margins of shape (n,), with those of the other processes."""
        every, _ = self._of_all(lambda: self._arrays_of(np.asarray(margin), data))
        margin, target, mass, weight = (of_each(name, every) for name in ("margin", "target", "mass", "weight"))
        sums_of_weights(target, weight)  # which is an error where weights are
        return [(name, _VALUES[name](margin, target, mass, weight, self._how)) for name in self._of]

    def _arrays_of(self, margin: NDArray[Any], data: Any) -> dict[str, Any]:
        """The arrays of the rows of this process."""
        rows = self._rows_of(data)
        mass, weight = self._mass_and_weight(len(margin), data, rows)
        for name, array in (("mass", mass), ("weight", weight)):
            if shape_of(name, array)[:1] not in ((), (len(margin),)):
                raise ValueError(f"{name} has length {len(array)}, but the data set has {len(margin)} rows")
        weight = rows.weight if weight is None else np.asarray(weight, float)
        return {"margin": margin, "target": targets(rows.label), "mass": mass, "weight": weight}

    def _mass_and_weight(self, count: int, data: Any, rows: Rows) -> tuple[Any, Any]:
        if self._field is not None:
            return masses_of(self._field, rows), None
        for known, of_rows in self._pairs:
            if known is data:
                return of_rows if isinstance(of_rows, tuple) else (of_rows, None)
        raise ValueError(
            f"a data set of {count} rows is to be judged whose masses are not known: give them to metric, as "
            "{data: mass} with the same objects that the training gets"
        )

    def __deepcopy__(self, memo: Any) -> Metric:
        return self  # whose data sets are those of the training


class How(NamedTuple):
    options: Mapping[str, Any]  # of the loss
    events: float
    strength: float | None
    background_only: bool

    def label(self, target: NDArray[Any]) -> NDArray[Any] | None:
        """Of the events that the loss is of; None: all."""
        return target if self.background_only else None


def _logloss(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: How) -> float:
    margin = margin.astype(float)
    each = np.logaddexp(0, margin) - target * margin
    return float(np.average(each, weights=weight))


def _loss(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: How) -> float:
    found = mode_evaluate(sigmoid(margin), mass, weight=weight, label=how.label(target), grad=False, **how.options)
    assert how.strength is not None
    return _logloss(margin, target, mass, weight, how) + how.strength * found.loss


def _dependence(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: How) -> float:
    options = {**how.options, "unbiased": True}
    found = mode_evaluate(sigmoid(margin), mass, weight=weight, label=how.label(target), grad=False, **options)
    return found.loss * how.events / (found.bias * found.events) if found.bias > 0 else 0.0


def _inverse_sensitivity(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: How) -> float:
    """1 where nothing can be said, which is what no selection has."""
    mass_range, order = how.options.get("mass_range"), how.options["order"]
    if np.ndim(mass) > 1:
        raise ValueError(f"mass has shape {np.shape(mass)}: the sensitivity is of one variable; judge by another")
    score = sigmoid(margin)
    best = sensitivity(score, target, mass, weight=weight, order=order, events=how.events, mass_range=mass_range)
    return 1 / best if best > 0 else 1.0


_VALUES: dict[str, Callable[..., float]] = {
    "logloss": _logloss,
    "loss": _loss,
    "dependence": _dependence,
    "inverse_sensitivity": _inverse_sensitivity,
}
