"""The metric that XGBoost and LightGBM call, to judge a training and to stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._events import Events
from .._functions import mode_evaluate
from .._read import as_array, number, of_one_index
from ..metrics._judge import Check, Judge
from ..metrics._settings import Settings as Judged
from .multipliers import Settings, sums_of_weights, targets
from .objective import Objective, ReadRows, judge, same_length

USUAL_EVENTS = 100_000.0  # of rho

_MOST = 50_000  # the most events that are judged in a round, in some 30 ms


class Metric:
    """Judges margins of data sets whose masses it knows, by pairs (name, value); smaller is better."""

    def __init__(
        self,
        read_rows: ReadRows,
        masses: Any,
        of: Any,
        events: float,
        settings: Settings,
        judging: Judged,
        objective: Objective | None = None,
    ) -> None:
        if not (objective is None or isinstance(objective, Objective)):
            raise TypeError(f"objective is {type(objective).__name__}: expected what libmode's objective returns")
        self._objective = objective
        try:
            pairs = masses.items() if isinstance(masses, Mapping) else masses
            self._pairs = [(data, arrays) for data, arrays in pairs]
        except (TypeError, ValueError):
            raise TypeError(f"masses is {type(masses).__name__}: expected {{data set: mass}}, or such pairs") from None
        for _, arrays in self._pairs:
            if isinstance(arrays, tuple):
                of_one_index(dict(zip(("mass", "weight"), arrays, strict=False)))
        self.names = (of,) if isinstance(of, str) or not isinstance(of, Iterable) else tuple(of)
        if not self.names or not set(self.names) <= set(_VALUES):
            raise ValueError(f"of = {of!r}: must be one or some of {', '.join(map(repr, _VALUES))}")
        self._options, self._background_only = settings.options, settings.background_only
        self._read_rows, self._judging = read_rows, judging
        self._events = number("events", events, above=0)
        self._judges: dict[int, tuple[Any, Judge]] = {}
        self._seen: Check | None = None
        self._last: tuple[NDArray[Any], Events, int] | None = None

    def __call__(self, margin: Any, data: Any) -> list[tuple[str, float]]:
        """The pairs for margins of shape (n,)."""
        margin, rows = np.asarray(margin).astype(float), self._read_rows(data)
        mass, weight = self._mass_and_weight(len(margin), data)
        same_length({"mass": mass, "weight": weight}, len(margin), "the data set")
        weight = rows.weight if weight is None else as_array("weight", weight).astype(float)
        events = Events(expit(margin), targets(rows.label), mass, weight)
        sums_of_weights(events.label, weight)  # its errors name bad weights
        self._seen, self._last = None, (margin, events, id(data))
        return [(name, _VALUES[name](self, margin, events)) for name in self.names]

    def _mass_and_weight(self, count: int, data: Any) -> tuple[Any, Any]:
        for known, arrays in self._pairs:
            if known is data:
                return arrays if isinstance(arrays, tuple) else (arrays, None)
        raise ValueError(
            f"metric has no masses for a data set of {count} rows: give it {{data: mass}}, with the same data "
            "objects as the training"
        )

    def _logloss(self, margin: NDArray[Any], events: Events) -> float:
        return float(np.average(np.logaddexp(0, margin) - events.label * margin, weights=events.weight))

    def _dependence(self, margin: NDArray[Any], events: Events) -> float:
        score, label, mass, weight, _ = events
        label = label if self._background_only else None
        options = {**self._options, "unbiased": True, "grad": False}
        result = mode_evaluate(score, mass, weight=weight, label=label, **options)
        return result.loss * self._events / (result.bias * result.events) if result.bias > 0 else 0.0

    def seen(self) -> Check:
        """The check of the data set that was judged last, or of some of its events, without spurious signals."""
        if self._seen is None:
            assert self._last is not None
            margin, events, data = self._last
            if data not in self._judges:
                count = len(margin)
                some = slice(None) if count <= _MOST else np.random.default_rng(0).choice(count, _MOST, replace=False)
                chosen = events.where(some)
                self._judges[data] = some, judge(self._judging, chosen, self._background_only)
            some, own = self._judges[data]
            self._seen = own(margin[some], fits=False)
        return self._seen

    def _inverse_sensitivity(self, margin: NDArray[Any], events: Events) -> float:
        """1 over the sensitivity, or 1, as without a selection, if it is unknown. Large before the push has settled."""
        if self._objective is not None and self._objective.settled is None:
            return 1e6 - self._objective.rounds  # it falls, and early stopping waits
        if np.ndim(events.mass) > 1:
            raise ValueError(f"mass has shape {np.shape(events.mass)}: the sensitivity needs one variable of mass")
        best = self.seen().sensitivity
        return 1 / best if best > 0 else 1.0

    def __deepcopy__(self, memo: Any) -> Metric:
        return self  # a copy would have other data sets than the training


class Stopping:
    """Stops when a value has not fallen for ``patience`` rounds.

    Rounds count after the push has settled. A round that is not flat counts only if no round is flat.
    """

    def __init__(self, patience: int, objective: Objective, metric: Metric, data: str) -> None:
        self._patience, self._objective, self._metric = patience, objective, metric
        self.of = data, metric.names[-1]  #: the names of the data set and of its metric
        self.best: int | None = None
        self._is_flat, self._least = False, np.inf

    def over(self, iteration: int, value: float) -> bool:
        """Whether to stop after a round with this value."""
        if self._objective.settled is None:
            return False
        if value < self._least or not self._is_flat:
            is_flat = self._objective.fixed or self._metric.seen().flat is not False
            if self.best is None or is_flat > self._is_flat or is_flat == self._is_flat and value < self._least:
                self.best, self._is_flat, self._least = iteration, is_flat, value
        return self.best is not None and iteration - self.best >= self._patience


_VALUES: dict[str, Callable[[Metric, NDArray[Any], Events], float]] = {
    "logloss": Metric._logloss,
    "dependence": Metric._dependence,
    "inverse_sensitivity": Metric._inverse_sensitivity,
}
