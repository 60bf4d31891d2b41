"""The metric that XGBoost and LightGBM call, to judge a training and to stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._events import Events
from .._functions import mode_evaluate
from .._read import as_array, number, of_one_index, together, variables
from .._typing import Unpack
from ..metrics._judge import Check, Judge
from ..option_types import LossOptions
from .multipliers import Boosting, Settings, checked, sums_of_weights, targets
from .objective import ReadRows

USUAL_EVENTS = 100_000.0  # of rho
_MOST = 50_000  # the most events that are judged in a round, in some 30 ms


class Watched:
    """An evaluation set, judged round after round."""

    def __init__(
        self,
        settings: Settings,
        judge: Callable[[Events], Judge],
        names: Iterable[str],
        events: Events,
        of_rho: float = USUAL_EVENTS,
        objective: Boosting | None = None,
    ) -> None:
        sums_of_weights(events.label, events.weight)  # its errors name bad weights
        self._settings, self._begun, self._names = settings, judge, names
        self.events, self._of_rho = events, of_rho
        self._objective = objective  # for whose push early stopping waits
        self._judge: Judge | None = None
        self._some: Any = slice(None)

    def values(self, margin: NDArray[Any]) -> list[tuple[str, float]]:
        """Pairs (name, value) for margins of shape (n,); smaller is better."""
        self._margin = margin.astype(float)
        self._check: Check | None = None
        self.latest = [(name, _VALUES[name](self)) for name in self._names]
        return self.latest

    def check(self) -> Check:
        """The check of these events, or of some of them, after the last round, without spurious signals."""
        if self._judge is None:
            if (count := len(self._margin)) > _MOST:
                self._some = np.random.default_rng(0).choice(count, _MOST, replace=False)
            self._judge = self._begun(self.events.where(self._some))
        if self._check is None:
            self._check = self._judge(self._margin[self._some], fits=False)
        return self._check

    def _logloss(self) -> float:
        margin, events = self._margin, self.events
        return float(np.average(np.logaddexp(0, margin) - events.label * margin, weights=events.weight))

    def _dependence(self) -> float:
        _, label, mass, weight, _ = self.events
        options = {**self._settings.options, "unbiased": True, "grad": False}
        label = label if self._settings.background_only else None
        result = mode_evaluate(expit(self._margin), mass, weight=weight, label=label, **options)
        return result.loss * self._of_rho / (result.bias * result.events) if result.bias > 0 else 0.0

    def _inverse_sensitivity(self) -> float:
        """1 over the sensitivity, or 1, as without a selection, if it is unknown. Large before the push has settled."""
        if self._objective is not None and self._objective.settled is None:
            return 1e6 - self._objective.rounds  # it falls, and early stopping waits
        if np.ndim(self.events.mass) > 1:
            raise ValueError(f"mass has shape {self.events.mass.shape}: the sensitivity needs one variable of mass")
        best = self.check().sensitivity
        return 1 / best if best > 0 else 1.0


class Stopping:
    """Stops when the last value of an evaluation set has not fallen for ``patience`` rounds.

    Rounds count after the push has settled. A round that is not flat counts only if no round is flat.
    """

    def __init__(self, patience: int, objective: Boosting, watched: Watched) -> None:
        self._patience, self._objective, self._watched = patience, objective, watched
        self.best: int | None = None
        self._is_flat, self._least = False, np.inf

    def over(self, iteration: int) -> bool:
        """Whether to stop after a round."""
        if self._objective.settled is None:
            return False
        _, value = self._watched.latest[-1]
        if value < self._least or not self._is_flat:
            is_flat = self._objective.fixed or self._watched.check().flat is not False
            if self.best is None or is_flat > self._is_flat or is_flat == self._is_flat and value < self._least:
                self.best, self._is_flat, self._least = iteration, is_flat, value
        return self.best is not None and iteration - self.best >= self._patience


_VALUES: dict[str, Callable[[Watched], float]] = {
    "logloss": Watched._logloss,
    "dependence": Watched._dependence,
    "inverse_sensitivity": Watched._inverse_sensitivity,
}


class Metric:
    """Judges margins of data sets whose masses it knows, by pairs (name, value); smaller is better."""

    _read_rows: ReadRows  #: a static method of the class for each library

    def __init__(
        self,
        masses: Mapping[Any, Any] | Iterable[tuple[Any, Any]],
        *,
        of: str | Iterable[str] = "inverse_sensitivity",
        events: float = USUAL_EVENTS,
        signal_efficiency: float | None = None,
        background_efficiency: float | None = None,
        background_only: bool = True,
        objective: Boosting | None = None,
        **options: Unpack[LossOptions],
    ) -> None:
        settings = checked(None, None, None, background_only, options)
        if not (objective is None or isinstance(objective, Boosting)):
            raise TypeError(f"objective is {type(objective).__name__}: expected what libmode's objective returns")
        self._objective = objective
        try:
            pairs = masses.items() if isinstance(masses, Mapping) else masses
            self._pairs = [(data, arrays if isinstance(arrays, tuple) else (arrays, None)) for data, arrays in pairs]
        except (TypeError, ValueError):
            raise TypeError(f"masses is {type(masses).__name__}: expected {{data set: mass}}, or such pairs") from None
        for _, arrays in self._pairs:
            if len(arrays) != 2:
                raise ValueError(f"masses has a tuple of {len(arrays)}: expected masses, or (masses, weights)")
            of_one_index(dict(zip(("mass", "weight"), arrays, strict=True)))
        names = (of,) if isinstance(of, str) or not isinstance(of, Iterable) else tuple(of)
        if not names or not set(names) <= set(_VALUES):
            raise ValueError(f"of = {of!r}: must be one or some of {', '.join(map(repr, _VALUES))}")
        of_signal = settings._replace(background_only=True)  # the sensitivity is for signal over background
        judging = of_signal.judging(None, signal_efficiency, background_efficiency)
        self._watch = partial(Watched, settings, partial(of_signal.judge, judging), names)
        self._events = number("events", events, above=0)
        self._watched: dict[int, Watched] = {}

    def __call__(self, margin: Any, data: Any) -> list[Any]:
        """The pairs for margins of shape (n,)."""
        events, watched = self._read(margin, data), self._watched.get(id(data))  # labels and weights may change
        if watched is None or not all(map(np.array_equal, watched.events[1::2], events[1::2])):
            watched = self._watched[id(data)] = self._watch(events, self._events, self._objective)
        return watched.values(np.asarray(margin))

    def _read(self, margin: Any, data: Any) -> Events:
        """The events of a data set."""
        for known, (mass, weight) in self._pairs:
            if known is data:
                label, of_rows = self._read_rows(data)
                own = {"the data set": margin, "mass": mass, "weight": of_rows if weight is None else weight}
                _, mass, weight = together(as_array, variables, **own)
                return Events(None, targets(label), mass, weight)
        raise ValueError(
            f"metric has no masses for a data set of {len(margin)} rows: give it {{data: mass}}, with the same data "
            "objects as the training"
        )

    def __deepcopy__(self, memo: Any) -> Metric:
        return self  # a copy would have other data sets than the training
