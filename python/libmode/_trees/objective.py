"""The objective that XGBoost calls: which arrays belong to the rows of its data set, also on several workers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost import collective

from .._events import Events
from .._read import as_array, of_one_index, refuse, together, variables
from .multipliers import Boosting, Settings, refuse_missing

#: The fields of a DMatrix that may have masses or weights: binary:logistic reads neither.
_FIELDS = ("label_lower_bound", "label_upper_bound")
_BY_FOLDS = (
    "xgboost.cv trains on parts of its rows in turn: use cross_validate of scikit-learn with MoDeXGBClassifier "
    "instead, whose fit takes the masses of each part"
)


class Objective(Boosting):
    """The objective: XGBoost calls it in each round with margins and the training set, for the derivatives."""

    def __init__(self, settings: Settings, **arrays: Any) -> None:
        super().__init__(settings)
        if arrays["label"] is not None and not settings.background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        of_one_index(arrays)
        self._arrays = arrays
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round
        self._known: list[Callable[[], Any]] = []  # the data sets so far, this one last, unless they are gone

    def __call__(self, margin: Any, data: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The derivatives for the rows of the training set."""
        if isinstance(data, np.ndarray):
            raise TypeError(
                "the objective got labels and predictions, as XGBClassifier gives them, and needs the training set: "
                "use MoDeXGBClassifier or xgboost.train"
            )
        if np.ndim(margin) != 1:
            raise ValueError(f"the margins have shape {np.shape(margin)}: MoDe is for one signal against background")
        workers = Workers()
        margin = workers.gathered(np.asarray(margin))
        # A new training begins with equal margins, or with those of the first round.
        equal = (margin == margin[:1]).all() or np.array_equal(margin, self._first)
        if equal or not self._known or self._known[-1]() is not data:
            with workers.agreed():
                if not equal and any(one() is data for one in self._known):
                    raise ValueError(f"this training goes on after another: {_BY_FOLDS}")
                events = self._read_set(data)
                if workers.count > 1:  # the core would name a place among the rows of all
                    takes_part = self.settings.taking_part(events)
                    refuse_missing(np.where(takes_part, events.mass.T, 0.0).T, self.settings.options)
            self._begin(Events(*map(workers.gathered, events)))
            self._known, self._first = [*self._known, weakref.ref(data)], margin.copy()
        grad, hess = super().__call__(margin)
        return grad[workers.here], hess[workers.here]

    def _read_set(self, data: Any) -> Events:
        """The events of this worker, whose scores are their labels 0 and 1."""
        target, of_rows = np.asarray(data.get_label(), np.float32), data.get_weight()
        arrays = {name: _of_field(name, each, data) for name, each in self._arrays.items()}
        mass, weight, label, category = together(as_array, variables, **arrays)
        if len(mass) != len(target):
            raise ValueError(
                f"mass has length {len(mass)}, but the training set has {len(target)} rows, whose own it must be. "
                f"{_BY_FOLDS}"
            )
        if len(of_rows) and weight is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        refuse("label", target, (target != 0) & (target != 1), "1 for signal or 0 for background")
        if self.settings.background_only and label is None:
            label = target
        return Events(target, label, mass, of_rows if len(of_rows) else weight, category)


def _of_field(name: str, array: Any, data: Any) -> Any:
    """The array, or the field of the data set that has it."""
    if not isinstance(array, str):
        return array
    if array not in _FIELDS:
        raise ValueError(f"{name} = {array!r}: must be an array, or of a DMatrix one of {', '.join(_FIELDS)}")
    values = data.get_float_info(array)
    if len(values) != data.num_row():
        raise ValueError(f"{name} = {array!r}: the DMatrix has no {array}")
    return values


class Workers:
    """All workers of a training, often one. They call the same methods in the same order."""

    _rows = 0  # of all workers, as the first array has them
    here = slice(None)  #: the part of this worker in what is gathered

    def __init__(self) -> None:
        self.count, self._rank = collective.get_world_size(), collective.get_rank()

    def _each(self, own: float) -> NDArray[Any]:
        """The numbers of all workers, (workers,)."""
        rows = np.where(np.arange(self.count) == self._rank, own, 0.0)
        return np.asarray(collective.allreduce(rows, collective.Op.SUM))

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """For what a worker does without the others: an error of one becomes an error of all."""
        mine = None
        try:
            yield
        except Exception as error:  # whatever it is, the others must not wait for this worker
            if self.count == 1:
                raise
            mine = error
        failed = self._each(mine is not None)
        if failed.any():
            first = int(np.argmax(failed))
            said = collective.broadcast((isinstance(mine, TypeError), str(mine)), first)
            raise (TypeError if said[0] else ValueError)(f"worker {first}: {said[1]}") from mine

    def gathered(self, own: Any) -> Any:
        """The array of all workers, from the arrays of each."""
        if self.count == 1 or not self._each(own is not None).any():
            return own
        own = np.zeros(0) if own is None else own  # of a worker without rows
        ends = self._each(len(own)).astype(int).cumsum()
        self.here = slice(ends[self._rank] - len(own), ends[self._rank])
        self._rows = self._rows or ends[-1]
        if ends[-1] != self._rows:  # on all of them
            raise ValueError(f"{ends[-1]} of {self._rows} rows have weights, or categories: give them to all workers")
        every = np.zeros((ends[-1], *own.shape[1:]))
        every[self.here] = own
        return collective.allreduce(every, collective.Op.SUM).reshape(every.shape).astype(own.dtype)
