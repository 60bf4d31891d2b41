"""What a constraint adds to the gradient of a batch, by NumPy: for frameworks whose compiled programs call back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import read
from ._bad_batches import OnBadBatch, SkipsBadBatches
from ._constraint import NUMBERS, WITHOUT_STATE, Constraint, State, positive
from ._events import Events, events_of, joined
from ._monitor import Monitor, look
from ._native import BatchError
from ._option_values import plain


class Added(SkipsBadBatches):
    """A constraint where the core is called, on the host in compiled programs too."""

    _gets = "no gradient of MoDe"
    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def __init__(
        self,
        constraint: Constraint,
        *,
        name: str,
        on_bad_batch: OnBadBatch,
        remembers: bool = False,
        monitor: Monitor | None = None,
    ) -> None:
        self._set_on_bad_batch(on_bad_batch)
        self.constraint = constraint
        self._memory = constraint.start() if remembers else None  # else the caller does, or nobody
        self.loss = math.nan
        """Of the last batch that had one."""
        self._called, self._monitor = name, monitor
        if not remembers:
            self._counts = ""

    @property
    def state(self) -> State:
        """What is remembered."""
        return State() if self._memory is None else State._make([*self._memory[:NUMBERS], self._memory[NUMBERS:]])

    def push(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The size of the push, with the slopes of the predictions by their logits, and the push.

        The events are the arrays of the batch, and after them those of the reference, if there is one.
        """
        size, slope, push, self._memory = self._pushed(events, self._memory)
        return np.append(size, slope), push

    def push_from(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same, where the state before follows the events, and the state after follows the size."""
        *both, before = events
        size, slope, push, after = self._pushed(both, np.array(before, np.float64))
        return np.concatenate([[size], after, slope]), push

    def _pushed(self, events: Sequence[Any], state: Any) -> tuple[float, Any, NDArray[Any], Any]:
        """Size, slopes, push and the state after it, of an array that may change."""
        count = len(Events._fields)
        batch, reference, of_constraint = Events(*events[:count]), events[count:], self.constraint
        score = batch.score
        where = [] if state is None else [f"in training step {int(state[0])}"]
        if reference:
            where.append(f"events from {len(score)} on are those of reference")
        try:
            every = events_of(read, *batch)
            if reference:
                every = joined(every, Events(*reference), of_constraint.labels, read, _filled, _concatenated)
            found = of_constraint.direction(state, every, len(score))
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros(score.size), np.zeros_like(score), state
        except ValueError as error:
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        self._succeed()
        self.loss = found.loss
        if self._monitor is not None and self._monitor.due():
            look(self._monitor, of_constraint, every, found)
        return found.size, found.slope, found.push.reshape(score.shape).astype(score.dtype, copy=False), state


def _filled(score: NDArray[Any], value: int, like: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(score), value, like.dtype)


def _concatenated(_: str, of_batch: NDArray[Any], of_reference: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([of_batch, of_reference])


def of_function(
    options: Mapping[str, Any],
    *,
    relative_strength: Any,
    tolerance: Any,
    from_logits: bool,
    on_bad_batch: OnBadBatch,
    has_state: bool,
) -> Added:
    """That of a function with these arguments, the same one for the same arguments; it remembers nothing itself."""
    if relative_strength is None and not has_state:
        relative_strength = WITHOUT_STATE
    return _of_function(
        None if relative_strength is None else positive("relative_strength", relative_strength),
        None if tolerance is None else positive("tolerance", tolerance),
        bool(from_logits),
        on_bad_batch,
        **plain("mode", {"order": 1, **options}),
    )


@lru_cache(maxsize=256)
def _of_function(strength: Any, tolerance: Any, from_logits: bool, on_bad_batch: OnBadBatch, **options: Any) -> Added:
    made = Constraint(options, relative_strength=strength, tolerance=tolerance, from_logits=from_logits)
    return Added(made, name="mode_constraint", on_bad_batch=on_bad_batch)
