"""The objective that XGBoost and LightGBM call: which arrays belong to the rows of a data set."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import read
from .multipliers import Boosting, Pushed, Settings


class Rows(NamedTuple):
    """What a data set of a library has for each of its rows."""

    label: NDArray[Any]
    weight: NDArray[Any] | None
    field: Callable[[str], NDArray[Any]] | None = None  #: a further one, by its name


RowsOf = Callable[[Any], Rows]  #: of a data set of a library

#: What a function returns in each process of a distributed training, in the order of ranks, and the own rank.
OfAll = Callable[[Callable[[], Any]], tuple[list[Any], int]]


def alone(make: Callable[[], Any]) -> tuple[list[Any], int]:
    """The same where there is one process."""
    return [make()], 0


class Objective:
    """What a library calls in each round with margins and the training set, for their derivatives.

    It remembers what it has seen of a training, and begins anew with another data set, where all margins are equal, or
    where they are what they were when it began.
    """

    def __init__(
        self,
        rows_of: RowsOf,
        mass: Any,
        weight: Any,
        label: Any,
        category: Any,
        settings: Settings,
        of_all: OfAll = alone,
    ) -> None:
        if label is not None and not settings.background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        self._rows_of, self._of_all, self._settings = rows_of, of_all, settings
        self._arrays = {"mass": mass, "weight": weight, "label": label, "category": category}
        self._data: Callable[[], Any] = lambda: None
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round
        self._boosting: Boosting | None = None

    @property
    def loss(self) -> float:
        """MoDe of the last round, of the transformed scores; NaN before the first."""
        return float("nan") if self._boosting is None else self._boosting.loss

    def __call__(self, margin: Any, data: Any) -> Pushed:
        """The derivatives for the rows of this process, which see those of all."""
        margins, rank = self._of_all(lambda: self._checked(np.asarray(margin)))
        every = np.concatenate(margins)
        equal = (every == every[:1]).all()
        if self._boosting is None or self._data() is not data or equal or np.array_equal(every, self._first):
            self._begin(data)
            self._first = every
        assert self._boosting is not None
        found = self._boosting(every)
        start = sum(map(len, margins[:rank]))
        own = slice(start, start + len(margins[rank]))
        return Pushed(found.grad[own], found.hess[own])

    @staticmethod
    def _checked(margin: NDArray[Any]) -> NDArray[Any]:
        if margin.ndim != 1:
            raise ValueError(f"the margins have shape {margin.shape}: MoDe is for one signal against background")
        if not np.isfinite(margin.sum(dtype=float)):
            place = np.flatnonzero(~np.isfinite(margin))[0]
            raise ValueError(
                f"margin[{place}] = {margin[place]}: the training diverged; a lower learning rate may help"
            )
        return margin

    def _begin(self, data: Any) -> None:
        every, _ = self._of_all(lambda: self._arrays_of(data))
        arrays = {name: of_each(name, every) for name in every[0]}
        self._boosting = Boosting(**arrays, settings=self._settings)
        self._data = weakref.ref(data)

    def _arrays_of(self, data: Any) -> dict[str, Any]:
        """The arrays of the rows of this process."""
        rows, arrays = self._rows_of(data), dict(self._arrays)
        count = len(rows.label)
        arrays["mass"] = masses_of(arrays["mass"], rows)
        for name, array in arrays.items():
            if shape_of(name, array)[:1] not in ((), (count,)):
                raise ValueError(
                    f"{name} has length {len(array)}, but the training set has {count} rows, whose own it must be. "
                    "xgboost.cv and lightgbm.cv train on parts of their rows: use cross_validate of scikit-learn with "
                    "MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes the masses of each part"
                )
        if rows.weight is not None and arrays["weight"] is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        weight = rows.weight if arrays["weight"] is None else arrays["weight"]
        return {**arrays, "weight": weight, "target": rows.label}

    def __deepcopy__(self, memo: Any) -> Objective:
        return self  # LightGBM copies its parameters; what is remembered shall be where the user looks


def shape_of(name: str, array: Any) -> tuple[int, ...]:
    """The shape of what a user gives; ValueError that names it for ragged lists, which have none."""
    try:
        return np.shape(array)
    except ValueError:
        return read(name, array).shape  # which has a sentence for them


def masses_of(mass: Any, rows: Rows) -> Any:
    """The masses, or the field of the data set that has them."""
    if not isinstance(mass, str):
        return mass
    if rows.field is None:
        raise TypeError(f"mass = {mass!r}: expected an array")
    return rows.field(mass)


def of_each(name: str, every: list[dict[str, Any]]) -> Any:
    """One array of the rows of all processes."""
    parts = [arrays[name] for arrays in every]
    given = [part is not None for part in parts]
    if not any(given):
        return None
    if not all(given):
        raise ValueError(f"{name} is given in process {given.index(True)}, and not in process {given.index(False)}")
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
