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
from ._native import BatchError, ModePushed
from ._option_values import plain


class Added(SkipsBadBatches):
    """A constraint where the core is called, on the host in compiled programs too; without ``state`` it forgets."""

    _gets = "no gradient of MoDe"
    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def __init__(
        self,
        constraint: Constraint,
        *,
        name: str,
        on_bad_batch: OnBadBatch,
        state: State | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        self._set_on_bad_batch(on_bad_batch)
        self.constraint, self.state = constraint, state
        self.loss = math.nan
        """Of the last batch that had one."""
        self._called, self._monitor = name, monitor
        if state is None:
            self._counts = ""

    def push(self, *events: Any) -> tuple[float, NDArray[Any]]:
        """What the push is multiplied with, over the norm of the gradient that comes in, and the push.

        The events are the arrays of the batch, and after them those of the reference, if there is one.
        """
        per_norm, push, self.state = self._pushed(events, self.state)
        return per_norm, push

    def push_from(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same, where the numbers of the state before follow the events, and those after it the factor."""
        *both, numbers = events
        state = State._make([*numbers[:NUMBERS].tolist(), numbers[NUMBERS:]])
        per_norm, push, after = self._pushed(both, state)
        assert after is not None
        return np.concatenate([[per_norm], after[:NUMBERS], after.sums]).astype(numbers.dtype), push

    def _pushed(self, events: Sequence[Any], state: State | None) -> tuple[float, NDArray[Any], State | None]:
        count = len(Events._fields)
        batch, reference = Events(*events[:count]), events[count:]
        found = self._direction(batch, reference, state)
        if found is None:
            return 0.0, np.zeros_like(batch.score), state
        push = found.push.reshape(batch.score.shape).astype(batch.score.dtype, copy=False)
        after = None if state is None else self.constraint.after(state, found)
        return self.constraint.per_norm(found), push, after

    def _direction(self, batch: Events, reference: Sequence[Any], state: State | None) -> ModePushed | None:
        try:
            every = events_of(read, *batch)
            if reference:
                every = joined(every, Events(*reference), self.constraint.labels, read, _filled, _concatenated)
            found = self.constraint.direction(state or State(), every, len(batch.score))
        except BatchError as error:
            self._skip(error)
            return None
        except ValueError as error:
            where = [] if state is None else [f"in training step {int(state.steps)}"]
            if reference:
                where.append(f"events from {len(batch.score)} on are those of reference")
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        self._succeed()
        self.loss = found.loss
        if self._monitor is not None and self._monitor.due():
            look(self._monitor, self.constraint, every, found)
        return found


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
