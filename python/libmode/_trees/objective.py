"""The objective that XGBoost and LightGBM call: which arrays belong to the rows of a data set."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._events import Events
from .._read import as_array, of_one_index
from .multipliers import Alone, Boosting, Pushed, Settings

#: The fields of a DMatrix that may have masses or weights: binary:logistic reads neither.
_FIELDS = ("label_lower_bound", "label_upper_bound")
_BY_FOLDS = (
    "xgboost.cv and lightgbm.cv train on parts of their rows in turn: use cross_validate of scikit-learn with "
    "MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes the masses of each part"
)


class Rows(NamedTuple):
    """Labels and weights of the rows of a data set."""

    label: NDArray[Any]
    weight: NDArray[Any] | None


ReadRows = Callable[[Any], Rows]  #: takes a data set of a library


class Objective(Boosting):
    """The objective: a library calls it in each round with margins and the training set, for the derivatives."""

    def __init__(
        self,
        read_rows: ReadRows,
        mass: Any,
        weight: Any,
        label: Any,
        category: Any,
        settings: Settings,
        find_workers: Callable[[], Alone] = Alone,
    ) -> None:
        if label is not None and not settings.background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        super().__init__(settings)
        self._read_rows, self._find_workers = read_rows, find_workers
        self._arrays = {"mass": mass, "weight": weight, "label": label, "category": category}
        of_one_index(self._arrays)
        self._data: Callable[[], Any] = lambda: None
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round
        self._seen: set[int] = set()

    def __call__(self, margin: Any, data: Any) -> Pushed:
        """The derivatives for the rows of the training set."""
        if isinstance(data, np.ndarray):
            raise TypeError(
                "the objective got labels and predictions, as XGBClassifier and LGBMClassifier give them, and needs "
                "the training set: use MoDeXGBClassifier or MoDeLGBMClassifier, or train of the library"
            )
        self._workers = workers = self._find_workers()
        with workers.agreed():
            margin = _checked(margin)
        # A new training begins with equal margins, or with those of the first round.
        equal = (margin == margin[:1]).all() or np.array_equal(margin, self._first)
        (goes_on,) = workers.total(self._data() is data and not equal)
        if not goes_on:
            with workers.agreed():
                if id(data) in self._seen and not equal:
                    raise ValueError(f"this training goes on after another: {_BY_FOLDS}")
                events = self._read_set(data)
            self.begin(events)
            self._data, self._first = weakref.ref(data), margin.copy()
            self._seen.add(id(data))
        return self.derivatives(margin)

    def _read_set(self, data: Any) -> Events:
        rows = self._read_rows(data)
        arrays = {name: _of_field(name, each, data) for name, each in self._arrays.items()}
        same_length(
            arrays,
            len(rows.label),
            "the training set",
            f", whose own it must be. {_BY_FOLDS}",
        )
        mass, weight, background, category = arrays.values()
        if rows.weight is not None and weight is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        return self.read(rows.label, mass, rows.weight if weight is None else weight, background, category)

    def __deepcopy__(self, memo: Any) -> Objective:
        return self  # LightGBM copies its parameters, and the user reads the state from this object


def _checked(margins: Any) -> NDArray[Any]:
    margin: NDArray[Any] = np.asarray(margins)
    if margin.ndim != 1:
        raise ValueError(f"the margins have shape {margin.shape}: MoDe is for one signal against background")
    if not np.isfinite(margin.sum(dtype=float)):
        place = np.flatnonzero(~np.isfinite(margin))[0]
        raise ValueError(f"margin[{place}] = {margin[place]}: the training diverged; a lower learning rate may help")
    return margin


def _of_field(name: str, array: Any, data: Any) -> Any:
    """The array, or the field of the data set that has it."""
    if not isinstance(array, str):
        return array
    if array not in _FIELDS or not hasattr(data, "get_float_info"):
        raise ValueError(f"{name} = {array!r}: must be an array, or of a DMatrix one of {', '.join(_FIELDS)}")
    values = data.get_float_info(array)
    if len(values) != data.num_row():
        raise ValueError(f"{name} = {array!r}: the DMatrix has no {array}")
    return values


def same_length(arrays: Mapping[str, Any], count: int, of: str, advice: str = "") -> None:
    """Raises ValueError for an array, by its name, that is ragged or has not ``count`` rows like ``of``."""
    for name, array in arrays.items():
        try:
            shape = np.shape(array)
        except ValueError:
            shape = as_array(name, array).shape  # its error names ragged lists
        if shape and shape[0] != count:
            raise ValueError(f"{name} has length {shape[0]}, but {of} has {count} rows{advice}")


def refuse_parts(count: int, kind: str) -> None:
    """Raises RuntimeError in a training on several machines or processes, since each has only some of the rows."""
    if count > 1:
        raise RuntimeError(
            f"this is one of {count} {kind} of a distributed training, and sees only its own rows, but MoDe needs "
            "all of them: train or judge on one machine, or take a sample of the rows"
        )
