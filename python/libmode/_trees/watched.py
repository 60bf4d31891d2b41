"""Evaluation sets, judged round after round, and the round at which a training stops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._events import Events
from ..metrics._judge import Check, Judge
from ..metrics._judge import Settings as Judged
from .multipliers import Boosting, Settings

_MOST = 50_000  # the most events that are judged in a round, in some 30 ms


class Watched:
    """An evaluation set; ``by_sensitivity`` says whether the sensitivity, or else the logloss, stops the training."""

    def __init__(self, settings: Settings, judging: Judged, events: Events, by_sensitivity: bool) -> None:
        self._settings, self._judging, self._events = settings, judging, events
        self._by_sensitivity = by_sensitivity
        self._judge: Judge | None = None
        self._some: Any = slice(None)

    def values(self, margin: NDArray[Any]) -> list[tuple[str, float]]:
        """Pairs (name, value) for margins of shape (n,); smaller is better, and the last one stops the training."""
        self._margin = margin.astype(float)
        self._check: Check | None = None
        values = [("logloss", self._logloss())]
        if self._by_sensitivity:
            best = self.check().sensitivity
            values.append(("inverse_sensitivity", 1 / best if best > 0 else 1.0))  # unknown: as without a selection
        self.latest = values[-1][1]
        return values

    def check(self) -> Check:
        """The check of these events, or of some of them, after the last round, without spurious signals."""
        if self._judge is None:
            if (count := len(self._margin)) > _MOST:
                self._some = np.random.default_rng(0).choice(count, _MOST, replace=False)
            self._judge = self._settings.judge(self._judging, self._events.where(self._some))
        if self._check is None:
            self._check = self._judge(self._margin[self._some], fits=False)
        return self._check

    def _logloss(self) -> float:
        margin, events = self._margin, self._events
        return float(np.average(np.logaddexp(0, margin) - events.label * margin, weights=events.weight))


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
        value = self._watched.latest
        if value < self._least or not self._is_flat:
            is_flat = self._watched.check().flat is not False
            if self.best is None or is_flat > self._is_flat or is_flat == self._is_flat and value < self._least:
                self.best, self._is_flat, self._least = iteration, is_flat, value
        return self.best is not None and iteration - self.best >= self._patience
