"""What the objectives and metrics of XGBoost and LightGBM share: which arrays belong to which data set."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import read
from ._boosting import Boosting, Pushed, ScoreTransform, checked, sums_of_weights, targets
from ._constraint import sigmoid
from ._functions import mode_evaluate
from .metrics.summary import Settings as Judged
from .metrics.summary import sensitivity

USUAL_EVENTS = 100_000.0


class Rows(NamedTuple):
    """What a data set of a library has for each of its rows."""

    label: NDArray[Any]
    weight: NDArray[Any] | None
    field: Callable[[str], NDArray[Any]] | None = None  #: a further one, by its name


#: What a function returns in each process of a distributed training, in the order of ranks, and the own rank.
OfAll = Callable[[Callable[[], Any]], tuple[list[Any], int]]


def alone(make: Callable[[], Any]) -> tuple[list[Any], int]:
    """The same where there is one process."""
    return [make()], 0


#: Of a data set of a library.
RowsOf = Callable[[Any], Rows]


class _Margins(NamedTuple):
    margin: NDArray[Any]  # (n,)
    least: float
    most: float


class Objective:
    """What a library calls in each round with margins and the training set, for their derivatives.

    It remembers what it has seen of a training, and begins anew with another data set, where all margins are equal, or
    where they are what they were when it began.
    """

    def __init__(
        self,
        rows_of: RowsOf,
        mass: Any,
        *,
        weight: Any,
        label: Any,
        category: Any,
        strength: float | None,
        relative_strength: float,
        tolerance: float | None,
        score_transform: ScoreTransform,
        background_only: bool,
        options: Mapping[str, Any],
        of_all: OfAll = alone,
    ) -> None:
        checked(strength, relative_strength, tolerance, score_transform, background_only, options)
        if label is not None and not background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        self._rows_of, self._of_all = rows_of, of_all
        self._arrays = {"mass": mass, "weight": weight, "label": label, "category": category}
        self._arguments: dict[str, Any] = {
            "strength": strength,
            "relative_strength": relative_strength,
            "tolerance": tolerance,
            "score_transform": score_transform,
            "background_only": background_only,
            "options": options,
        }
        self._data: Callable[[], Any] = lambda: None
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round
        self._boosting: Boosting | None = None

    @property
    def loss(self) -> float:
        """MoDe of the last round, of the transformed scores; NaN before the first."""
        return float("nan") if self._boosting is None else self._boosting.loss

    def __call__(self, margin: Any, data: Any) -> Pushed:
        """The derivatives for the rows of this process, which see those of all."""
        seen, rank = self._of_all(lambda: self._checked(np.asarray(margin)))
        margins = [one.margin for one in seen]
        every, own = _joined(margins), margins[rank]
        equal = min(one.least for one in seen) >= max(one.most for one in seen)
        if self._boosting is None or self._data() is not data or equal or np.array_equal(every, self._first):
            self._begin(data)
            self._first = every.copy()
        assert self._boosting is not None
        found = self._boosting(every)
        start = sum(map(len, margins[:rank]))
        return Pushed(found.grad[start : start + len(own)], found.hess[start : start + len(own)])

    @staticmethod
    def _checked(margin: NDArray[Any]) -> _Margins:
        if margin.ndim != 1:
            raise ValueError(f"the margins have shape {margin.shape}: MoDe is for one signal against background")
        least, most = (float(margin.min()), float(margin.max())) if len(margin) else (np.inf, -np.inf)
        if len(margin) and not np.isfinite(most - least):
            place = np.flatnonzero(~np.isfinite(margin))[0]
            raise ValueError(
                f"margin[{place}] = {margin[place]}: the training diverged; a lower learning rate may help"
            )
        return _Margins(margin, least, most)

    def _begin(self, data: Any) -> None:
        every, _ = self._of_all(lambda: self._arrays_of(data))
        mass, target, weight, label, category = (_of_each(name, every) for name in _ARRAYS)
        self._boosting = Boosting(mass, target, weight, label, category, **self._arguments)
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


_ARRAYS = ("mass", "target", "weight", "label", "category")


def masses_of(mass: Any, rows: Rows) -> Any:
    """The masses, or the field of the data set that has them."""
    if not isinstance(mass, str):
        return mass
    if rows.field is None:
        raise TypeError(f"mass = {mass!r}: expected an array")
    return rows.field(mass)


def _of_each(name: str, every: list[dict[str, Any]]) -> Any:
    """One array of the rows of all processes."""
    parts = [arrays[name] for arrays in every]
    given = [part is not None for part in parts]
    if not any(given):
        return None
    if not all(given):
        raise ValueError(f"{name} is given in process {given.index(True)}, and not in process {given.index(False)}")
    return parts[0] if len(parts) == 1 else _joined([np.asarray(part) for part in parts])


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Metric:
    """What judges margins of data sets whose masses it knows, as (name, value) that are to fall."""

    def __init__(
        self,
        rows_of: RowsOf,
        masses: Any,
        *,
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
        self._how = _How(options, events, strength, bool(background_only))

    def __call__(self, margin: Any, data: Any) -> list[tuple[str, float]]:
        """Of margins of shape (n,), with those of the other processes."""
        every, _ = self._of_all(lambda: self._arrays_of(np.asarray(margin), data))
        margin, target, mass, weight = (_of_each(name, every) for name in ("margin", "target", "mass", "weight"))
        sums_of_weights(target, weight)  # which is an error where weights are
        return judged(self._of, margin, target, mass, weight, self._how)

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


class _How(NamedTuple):
    options: Mapping[str, Any]  # of the loss
    events: float
    strength: float | None
    background_only: bool

    def label(self, target: NDArray[Any]) -> NDArray[Any] | None:
        """Of the events that the loss is of; None: all."""
        return target if self.background_only else None


def judged(
    names: tuple[str, ...],
    margin: NDArray[Any],
    target: NDArray[Any],
    mass: Any,
    weight: Any,
    how: _How,
) -> list[tuple[str, float]]:
    """Values of these names."""
    arrays = (margin, target, mass, weight)
    return [(name, _VALUES[name](*arrays, how)) for name in names]


def _logloss(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: _How) -> float:
    margin = margin.astype(float)
    each = np.logaddexp(0, margin) - target * margin
    return float(np.average(each, weights=weight))


def _loss(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: _How) -> float:
    found = mode_evaluate(sigmoid(margin), mass, weight=weight, label=how.label(target), grad=False, **how.options)
    assert how.strength is not None
    return _logloss(margin, target, mass, weight, how) + how.strength * found.loss


def _dependence(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: _How) -> float:
    options = {**how.options, "unbiased": True}
    found = mode_evaluate(sigmoid(margin), mass, weight=weight, label=how.label(target), grad=False, **options)
    return found.loss * how.events / (found.bias * found.events) if found.bias > 0 else 0.0


def _inverse_sensitivity(margin: NDArray[Any], target: NDArray[Any], mass: Any, weight: Any, how: _How) -> float:
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
