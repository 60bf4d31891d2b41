"""The objective that XGBoost and LightGBM call: which arrays belong to the rows of a data set."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._read import as_array, of_one_index
from .multipliers import Boosting, Pushed, Settings


class Rows(NamedTuple):
    """Labels and weights of the rows of a data set."""

    label: NDArray[Any]
    weight: NDArray[Any] | None


ReadRows = Callable[[Any], Rows]  #: takes a data set of a library


class Objective(Boosting):
    """The objective: a library calls it in each round with margins and the training set, for the derivatives."""

    def __init__(
        self, read_rows: ReadRows, mass: Any, weight: Any, label: Any, category: Any, settings: Settings
    ) -> None:
        if label is not None and not settings.background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        super().__init__(settings)
        self._read_rows = read_rows
        self._arrays = {"mass": mass, "weight": weight, "label": label, "category": category}
        of_one_index(self._arrays)
        self._data: Callable[[], Any] = lambda: None
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round

    def __call__(self, margin: Any, data: Any) -> Pushed:
        """The derivatives for the rows of the training set."""
        if isinstance(data, np.ndarray):
            raise TypeError(
                "the objective got labels and predictions, as XGBClassifier and LGBMClassifier give them, and needs "
                "the training set: use MoDeXGBClassifier or MoDeLGBMClassifier, or train of the library"
            )
        margin = np.asarray(margin)
        if margin.ndim != 1:
            raise ValueError(f"the margins have shape {margin.shape}: MoDe is for one signal against background")
        if not np.isfinite(margin.sum(dtype=float)):
            place = np.flatnonzero(~np.isfinite(margin))[0]
            raise ValueError(
                f"margin[{place}] = {margin[place]}: the training diverged; a lower learning rate may help"
            )
        equal = (
            margin == margin[:1]
        ).all()  # a new training begins with equal margins, or with those of the first round
        if self._data() is not data or equal or np.array_equal(margin, self._first):
            self._begin_with(data)
            self._data, self._first = weakref.ref(data), margin.copy()
        return self.derivatives(margin)

    def _begin_with(self, data: Any) -> None:
        rows = self._read_rows(data)
        same_length(
            self._arrays,
            len(rows.label),
            "the training set",
            ", whose own it must be. xgboost.cv and lightgbm.cv train on parts of their rows: use cross_validate of "
            "scikit-learn with MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes the masses of each "
            "part",
        )
        mass, weight, background, category = self._arrays.values()
        if rows.weight is not None and weight is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        self.begin(rows.label, mass, rows.weight if weight is None else weight, background, category)

    def __deepcopy__(self, memo: Any) -> Objective:
        return self  # LightGBM copies its parameters, and the user reads the state from this object


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
            "all of them: train on one machine, or on a sample of the rows"
        )
