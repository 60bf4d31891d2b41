"""The objective that XGBoost and LightGBM call: which arrays belong to the rows of a data set, and what judges it."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._events import Events
from .._messages import level_of_the_user
from .._problems import TrainingWarning
from .._read import as_array, of_one_index, together, variables
from .._typing import Unpack
from ..metrics._judge import Check, Judge
from ..option_types import LossOptions
from .multipliers import Boosting, Pushed, ScoreTransform, checked, refuse_missing, sums_of_weights, targets

#: The fields of a DMatrix that may have masses or weights: binary:logistic reads neither.
_FIELDS = ("label_lower_bound", "label_upper_bound")
# With weights of this size, XGBoost's least gain of a split, 1e-6, corresponds to a thousandth of an event.
_SMALL_WEIGHT = 1e-3
_BY_FOLDS = (
    "xgboost.cv and lightgbm.cv train on parts of their rows in turn: use cross_validate of scikit-learn with "
    "MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes the masses of each part"
)

BY_HEART = (
    "Trees know their training events by heart: give more of them, early_stopping_rounds, fewer rounds or a lower "
    "max_depth"
)


#: Takes a data set of a library, and returns the labels of its rows and their weights, or None.
ReadRows = Callable[[Any], tuple[NDArray[Any], NDArray[Any] | None]]


class Alone:
    """The one process of a training, which has all events."""

    several = False

    def agreed(self) -> AbstractContextManager[None]:
        """For what a worker does without the others: an error of one becomes an error of all."""
        return nullcontext()

    def gathered(self, own: Any) -> Any:
        """The array of all workers, from the arrays of each."""
        return own

    def own(self, gathered: NDArray[Any]) -> NDArray[Any]:
        """The part of this worker."""
        return gathered


class Objective(Boosting):
    """The objective: a library calls it in each round with margins and the training set, for the derivatives."""

    _read_rows: ReadRows  #: a static method of the class for each library
    _find_workers: Callable[[], Alone] = Alone
    #: Makes a callback of the library, from features and a function of their margins and of the best round.
    _callback: Callable[[Any, Callable[[Any, int | None], None]], Any]

    check_: Check | None = None
    """What the events of :meth:`judge` say of the finished trees: a :class:`libmode.metrics.Check`."""

    def __init__(
        self,
        mass: Any,
        *,
        weight: Any = None,
        label: Any = None,
        category: Any = None,
        loss_weight: float | None = None,
        tolerance: float | None = None,
        score_transform: ScoreTransform = "odds",
        background_only: bool = True,
        **options: Unpack[LossOptions],
    ) -> None:
        super().__init__(checked(loss_weight, tolerance, score_transform, background_only, options))
        if label is not None and not background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        self._arrays = {"mass": mass, "weight": weight, "label": label, "category": category}
        of_one_index(self._arrays)
        self._first: NDArray[Any] = np.empty(0)  # the margins of the first round
        self._known: list[Callable[[], Any]] = []  # the data sets so far, this one last, unless they are gone

    def __call__(self, margin: Any, data: Any = None) -> Pushed:
        """The derivatives for the rows of the training set."""
        if isinstance(data, np.ndarray):
            raise TypeError(
                "the objective got labels and predictions, as XGBClassifier and LGBMClassifier give them, and needs "
                "the training set: use MoDeXGBClassifier or MoDeLGBMClassifier, or train of the library"
            )
        if np.ndim(margin) != 1:
            raise ValueError(f"the margins have shape {np.shape(margin)}: MoDe is for one signal against background")
        workers = self._find_workers()
        margin = workers.gathered(np.asarray(margin))
        # A new training begins with equal margins, or with those of the first round.
        equal = (margin == margin[:1]).all() or np.array_equal(margin, self._first)
        if equal or not self._known or self._known[-1]() is not data:
            with workers.agreed():
                if not equal and any(one() is data for one in self._known):
                    raise ValueError(f"this training goes on after another: {_BY_FOLDS}")
                events = self._read_set(data)
                if workers.several:  # the core would name a place among the rows of all
                    refuse_missing(events.mass, self.settings.options, self.settings.taking_part(events))
            self._begin(Events(*map(workers.gathered, events)))
            size = np.abs(1.0 if self._weight is None else self._weight)
            if (mean := np.sum(size) / np.count_nonzero(size)) < _SMALL_WEIGHT:
                warnings.warn(
                    f"the mean absolute weight is {mean:.3g}, and trees may stop splitting: min_child_weight, "
                    "min_sum_hessian_in_leaf and XGBoost's least gain of a split, 1e-6, are in units of the weights. "
                    "Divide the weights by this mean",
                    stacklevel=level_of_the_user(),
                )
            self._known, self._first = [*self._known, weakref.ref(data)], margin.copy()
        grad, hess = super().__call__(margin)
        return workers.own(grad), workers.own(hess)

    def judge(
        self,
        features: Any,
        label: Any,
        mass: Any,
        *,
        weight: Any = None,
        category: Any = None,
        signal_efficiency: float | None = None,
        background_efficiency: float | None = None,
        events: float | None = None,
    ) -> Any:
        """A callback of the library that judges the trees by m other events, and writes :attr:`check_`.

        A TrainingWarning says if they are not flat there, if the events are too few to tell, and if early stopping
        did not wait for the push. LightGBM has no end of a training for callbacks: ``finalize`` judges.

        Parameters
        ----------
        features : what ``predict`` of the library takes, a DMatrix for XGBoost
        label, mass, weight, category : (m,) or (m, d)
            As for the objective.
        signal_efficiency, background_efficiency : float, optional
            The working point, by default a signal efficiency of 0.5.
        events : float, optional
            N, the background events of the search.
        """
        arrays = {"label": label, "mass": mass, "weight": weight, "category": category}
        of_one_index({"features": features, **arrays})
        label, *others = together(as_array, variables, **arrays)
        target = targets(label)
        sums_of_weights(target, others[1])
        judging = self.settings.judging(events, signal_efficiency, background_efficiency)
        judge = self.settings.judge(judging, Events(target, target, *others))
        return self._callback(features, partial(self._judge, judge))

    def _judge(self, judge: Judge, margin: Any, best: int | None) -> None:
        """The finished trees have these margins; early stopping chose this round, counted from 0, if any did."""
        self.check_ = check = judge(np.asarray(margin, float))
        said = [] if check.flat else [f"{check.why}. {BY_HEART}" if check.flat is False else check.why]
        if best is not None and (self.settled is None or best + 1 < self.settled):
            before = "" if self.settled is None else f" before round {self.settled}"
            said.insert(
                0,
                f"early stopping took round {best}, and the push has not settled{before}: give it the metric of "
                "libmode alone, with objective=",
            )
        if said and not self.fixed:
            warnings.warn(". ".join(said), TrainingWarning, stacklevel=level_of_the_user())

    def _read_set(self, data: Any) -> Events:
        """The events of this worker, whose scores are their labels 0 and 1."""
        rows, of_rows = self._read_rows(data)
        arrays = {name: _of_field(name, each, data) for name, each in self._arrays.items()}
        mass, weight, label, category = together(as_array, variables, **arrays)
        if len(mass) != len(rows):
            raise ValueError(
                f"mass has length {len(mass)}, but the training set has {len(rows)} rows, whose own it must be. "
                f"{_BY_FOLDS}"
            )
        if of_rows is not None and weight is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        target = targets(rows)
        if self.settings.background_only and label is None:
            label = target
        return Events(target, label, mass, of_rows if weight is None else weight, category)


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


def of_parts(count: int, kind: str) -> RuntimeError:
    """The error of a training on several machines or processes, each of which has only some of the rows."""
    return RuntimeError(
        f"this is one of {count} {kind} of a distributed training, and sees only its own rows, but MoDe needs all of "
        "them: train or judge on one machine, or take a sample of the rows"
    )
