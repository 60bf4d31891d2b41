"""The objective that XGBoost and LightGBM call: which arrays belong to the rows of a data set, and what judges it."""

from __future__ import annotations

import logging
import warnings
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._events import Events, read_events
from .._messages import level_of_the_user
from .._options import check
from .._problems import TrainingWarning
from .._read import as_array, finite, number, of_one_index
from ..metrics._judge import Check, Judge
from ..metrics._settings import Settings as Judged
from .multipliers import Alone, Boosting, Pushed, Settings, sums_of_weights, targets

#: The fields of a DMatrix that may have masses or weights: binary:logistic reads neither.
_FIELDS = ("label_lower_bound", "label_upper_bound")
_log = logging.getLogger("libmode")
_BY_FOLDS = (
    "xgboost.cv and lightgbm.cv train on parts of their rows in turn: use cross_validate of scikit-learn with "
    "MoDeXGBClassifier or MoDeLGBMClassifier instead, whose fit takes the masses of each part"
)

BY_HEART = (
    "Trees know their training events by heart: give more of them, early_stopping_rounds, fewer rounds or a lower "
    "max_depth"
)


class Rows(NamedTuple):
    """Labels and weights of the rows of a data set."""

    label: NDArray[Any]
    weight: NDArray[Any] | None


ReadRows = Callable[[Any], Rows]  #: takes a data set of a library


class Objective(Boosting):
    """The objective: a library calls it in each round with margins and the training set, for the derivatives."""

    _read_rows: ReadRows  #: a static method of the class for each library
    _find_workers: Callable[[], Alone] = Alone
    _callback: Callable[[Verdict], Any]  #: makes a callback of the library that judges the trees in the end

    check_: Check | None = None
    """What the events of :meth:`judge` say of the finished trees: a :class:`libmode.metrics.Check`."""
    has_judge = False

    def __init__(self, mass: Any, weight: Any, label: Any, category: Any, settings: Settings) -> None:
        if label is not None and not settings.background_only:
            raise ValueError("label is given, and background_only = False: every event takes part, leave label out")
        super().__init__(settings)
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
                events, target = self._read_set(data)
            self.begin(events, target)
            if not self.has_judge:
                _log.info("no events judge this training: give it callbacks=[objective.judge(features, label, mass)]")
            self._data, self._first = weakref.ref(data), margin.copy()
            self._seen.add(id(data))
        return self.derivatives(margin)

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
        point = {"signal_efficiency": signal_efficiency, "background_efficiency": background_efficiency}
        self.has_judge = True
        return self._callback(Verdict(self, features, arrays, events, point))

    def _read_set(self, data: Any) -> tuple[Events, NDArray[Any]]:
        """The events of this worker, and labels 0 and 1."""
        rows = self._read_rows(data)
        arrays = {name: _of_field(name, each, data) for name, each in self._arrays.items()}
        same_length(arrays, len(rows.label), "the training set", f", whose own it must be. {_BY_FOLDS}")
        mass, weight, background, category = arrays.values()
        if rows.weight is not None and weight is not None:
            raise ValueError("weight is given, and the data set has weights: leave one of them out")
        target = targets(rows.label)
        if self.settings.background_only and background is None:
            background = target.astype(np.int32)
        events = read_events(as_array, target, background, mass, rows.weight if weight is None else weight, category)
        if events.weight is not None:
            finite("weight", events.weight)
        return events, target

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


def refuse_parts(count: int, kind: str) -> None:
    """Raises RuntimeError in a training on several machines or processes, since each has only some of the rows."""
    if count > 1:
        raise RuntimeError(
            f"this is one of {count} {kind} of a distributed training, and sees only its own rows, but MoDe needs "
            "all of them: train or judge on one machine, or take a sample of the rows"
        )


def judged(settings: Settings, events: float | None, point: Mapping[str, Any]) -> Judged:
    """The settings with which check judges this training at a working point."""
    point = {name: value for name, value in point.items() if value is not None}
    if not settings.background_only:  # a share of all events
        (share,) = point.values() or [0.5]
        point = {"background_efficiency": share}
    taken = check("mode", settings.options).of_check()
    taken.pop("background_label", None)  # labels are 0 and 1 here
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
