"""The metric that XGBoost and LightGBM call, to judge a training and to stop it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._arrays import read
from .._evaluate import Result
from .._events import Events, of_one_index
from .._functions import mode_evaluate
from ..metrics._arguments import number
from ..metrics.check import Settings as Judged
from ..metrics.check import sensitivity
from ..metrics.roc import threshold
from .multipliers import bins_given, checked, sums_of_weights, targets
from .objective import Objective, ReadRows, same_length

USUAL_EVENTS = 100_000.0

# Signal efficiencies, over which the dependence by chance is averaged, and the default number of bins of mass: in more
# bins a bump as wide as a signal stands out less.
_EFFICIENCIES, _MIDDLE, _BINS = (0.8, 0.5, 0.2), 1, 10
_FLAT = 1.75  # up to which a round can be the best: chance alone gives 1.0 +- 0.35


class Seen(NamedTuple):
    """How much the background of an evaluation set depends on the mass, and how little the set could show."""

    ratio: float
    """The mean square residual over its value by chance, averaged over three signal efficiencies."""
    residual: float
    """The root mean square residual at 50 % signal efficiency, over the background efficiency and beyond chance."""
    resolution: float
    """The value of this residual by chance."""
    events: float
    """The effective number of background events."""


class Metric:
    """Judges margins of data sets whose masses it knows, by pairs (name, value); smaller is better."""

    def __init__(
        self,
        read_rows: ReadRows,
        masses: Any,
        of: Any,
        strength: float | None,
        events: float,
        background_only: bool,
        options: Mapping[str, Any],
        objective: Objective | None = None,
    ) -> None:
        if not (objective is None or isinstance(objective, Objective)):
            raise TypeError(f"objective is {type(objective).__name__}: expected what libmode's objective returns")
        self._objective = objective
        try:
            self._pairs = [
                (data, arrays) for data, arrays in (masses.items() if isinstance(masses, Mapping) else masses)
            ]
        except (TypeError, ValueError):
            raise TypeError(f"masses is {type(masses).__name__}: expected {{data set: mass}}, or such pairs") from None
        for _, arrays in self._pairs:
            if isinstance(arrays, tuple):
                of_one_index(dict(zip(("mass", "weight"), arrays, strict=False)))
        self._names = (of,) if isinstance(of, str) or not isinstance(of, Iterable) else tuple(of)
        if not self._names or not set(self._names) <= set(_VALUES):
            raise ValueError(f"of = {of!r}: must be one or some of {', '.join(map(repr, _VALUES))}")
        if ("loss" in self._names) != (strength is not None):
            raise ValueError(f"strength = {strength!r}: give one if of has 'loss', and only then")
        settings = checked(strength, None, None, background_only, options)
        self._options, self._background_only = settings.options, settings.background_only
        self._read_rows, self._strength, self._events = read_rows, strength, events
        number("events", events, 0)
        Judged.checked(order=self._options["order"], tolerance=events, mass_range=self._options.get("mass_range"))

    def __call__(self, margin: Any, data: Any) -> list[tuple[str, float]]:
        """The pairs for margins of shape (n,)."""
        margin, rows = np.asarray(margin), self._read_rows(data)
        mass, weight = self._mass_and_weight(len(margin), data)
        same_length({"mass": mass, "weight": weight}, len(margin), "the data set")
        weight = rows.weight if weight is None else read("weight", weight).astype(float)
        events = Events(expit(margin.astype(float)), targets(rows.label), mass, weight)
        self._last = margin, events
        sums_of_weights(events.label, weight)  # its errors name bad weights
        return [(name, _VALUES[name](self, margin, events)) for name in self._names]

    def _mass_and_weight(self, count: int, data: Any) -> tuple[Any, Any]:
        for known, arrays in self._pairs:
            if known is data:
                return arrays if isinstance(arrays, tuple) else (arrays, None)
        raise ValueError(
            f"metric has no masses for a data set of {count} rows: give it {{data: mass}}, with the same data "
            "objects as the training"
        )

    def _logloss(self, margin: NDArray[Any], events: Events) -> float:
        margin = margin.astype(float)
        return float(np.average(np.logaddexp(0, margin) - events.label * margin, weights=events.weight))

    def _loss(self, margin: NDArray[Any], events: Events) -> float:
        assert self._strength is not None
        return self._logloss(margin, events) + self._strength * self._evaluated(events, self._options).loss

    def _dependence(self, margin: NDArray[Any], events: Events) -> float:
        result = self._evaluated(events, {**self._options, "unbiased": True})
        return result.loss * self._events / (result.bias * result.events) if result.bias > 0 else 0.0

    def seen(self, margin: NDArray[Any], events: Events) -> Seen:
        """The dependence of events with these margins.

        A selection is a score of 0 and 1, so the loss is the mean square of the residual of the efficiency.
        """
        options = {**self._options, "unbiased": False}
        if not bins_given(options):
            options["bins"] = max(_BINS, options["order"] + 4)
        cuts = [
            threshold(margin, events.label, weight=events.weight, signal_efficiency=share) for share in _EFFICIENCIES
        ]
        results = [self._evaluated(events._replace(score=(margin >= cut).astype(float)), options) for cut in cuts]
        ratios = [result.loss / result.bias for result in results if result.bias > 0]
        middle, judged = results[_MIDDLE], events.label == 0 if self._background_only else slice(None)
        weight = None if events.weight is None else events.weight[judged]
        efficiency = float(np.average(margin[judged] >= cuts[_MIDDLE], weights=weight))
        return Seen(
            float(np.mean(ratios)) if ratios else np.nan,
            math.sqrt(max(middle.loss - middle.bias, 0.0)) / efficiency if efficiency > 0 else np.nan,
            math.sqrt(middle.bias) / efficiency if efficiency > 0 else np.nan,
            middle.events,
        )

    def last_seen(self) -> Seen:
        """The dependence of the data set that was judged last."""
        return self.seen(*self._last)

    def _evaluated(self, events: Events, options: Mapping[str, Any]) -> Result:
        score, label, mass, weight, _ = events
        label = label if self._background_only else None
        return mode_evaluate(score, mass, weight=weight, label=label, grad=False, **options)

    def _inverse_sensitivity(self, margin: NDArray[Any], events: Events) -> float:
        """1 over the sensitivity, or 1, as without a selection, if it is unknown. Large before the push has settled."""
        if self._objective is not None and self._objective.settled is None:
            return 1e6 - self._objective.rounds  # it falls, and early stopping waits
        score, label, mass, weight, _ = events
        if np.ndim(mass) > 1:
            raise ValueError(f"mass has shape {np.shape(mass)}: the sensitivity needs one variable of mass")
        options = {"order": self._options["order"], "mass_range": self._options.get("mass_range")}
        if self._options.get("missing") == "ignore" and not np.isfinite(mass).all():
            score, label, mass, weight, _ = events.where(np.flatnonzero(np.isfinite(mass)))
        best = sensitivity(score, label, mass, weight=weight, tolerance=self._events, **options)
        return 1 / best if best > 0 else 1.0

    def __deepcopy__(self, memo: Any) -> Metric:
        return self  # a copy would have other data sets than the training


class Stopping:
    """Stops when a value has not fallen for so many rounds. The best round is flat, and the push has settled before it.

    A round is flat if the evaluation set depends on the mass little more than by chance. The sensitivity alone would
    choose rounds that sculpt. A large evaluation set also sees the fluctuations of the training sample, which no round
    can undo. If no round is flat, the best is one whose dependence these fluctuations explain.
    """

    def __init__(self, patience: int, objective: Objective, metric: Metric) -> None:
        self._patience, self._objective, self._metric = patience, objective, metric
        self.best: int | None = None
        self.seen = Seen(np.nan, np.nan, np.nan, np.nan)
        """The dependence of the evaluation set at the best round; without one, at the last round."""
        self.is_flat = False
        """Whether the best round is flat."""
        self._least = np.inf

    def over(self, iteration: int, value: float) -> bool:
        """Whether to stop after a round with this value."""
        if self._objective.settled is None:
            return False
        if value < self._least or not self.is_flat:
            seen, training = self._metric.last_seen(), self._objective.dependence
            # With a tolerance or a fixed strength the training itself may depend on the mass.
            by_chance = math.inf if math.isnan(training) else max(1.0, training)
            is_flat = seen.ratio <= _FLAT * by_chance or math.isnan(training)
            explained = seen.ratio <= _FLAT * (by_chance + seen.events / self._objective.events)
            if is_flat and not self.is_flat or (is_flat or explained) and value < self._least:
                self.best, self.seen, self.is_flat, self._least = iteration, seen, is_flat, value
            elif self.best is None:
                self.seen = seen
        return self.is_flat and self.best is not None and iteration - self.best >= self._patience


_VALUES: dict[str, Callable[[Metric, NDArray[Any], Events], float]] = {
    "logloss": Metric._logloss,
    "loss": Metric._loss,
    "dependence": Metric._dependence,
    "inverse_sensitivity": Metric._inverse_sensitivity,
}
