"""What a constraint does to the gradient of a batch, by NumPy: for frameworks whose compiled programs call back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import check_reference, read
from ._bad_batches import OnBadBatch, SkipsBadBatches
from ._constraint import WITHOUT_STATE, Constraint, State, positive, state_of
from ._events import Events, events_of, joined
from ._monitor import Monitor, look
from ._native import BatchError
from ._option_values import plain
from ._said import IN_LINES, Said
from ._statement import Learns, Statement


class Added(SkipsBadBatches, Learns):
    """A constraint where the core is called, on the host in compiled programs too."""

    _gets = "no gradient of MoDe"
    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def __init__(
        self,
        constraint: Constraint,
        *,
        name: str,
        on_bad_batch: OnBadBatch,
        memory: NDArray[np.float64] | None = None,
        monitor: Monitor | None = None,
        said: Said | None = None,
    ) -> None:
        self._set_on_bad_batch(on_bad_batch, said)
        self._constraint, self._memory = constraint, memory
        self.loss = math.nan
        """Of the last batch that had one."""
        self._called, self._monitor = name, monitor
        self._statement = None if monitor is None else Statement(monitor, constraint)

    def _state(self) -> State:
        return State() if self._memory is None else state_of(self._memory)

    def push(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The size of the push with slopes and multipliers, as one array, and the push.

        Slopes are the derivatives of the predictions by their logits. The events are the arrays of the batch, and after
        them those of the reference, if there is one.
        """
        size, slope, multiplier, push = self._pushed(events)
        return np.concatenate([[size], slope, multiplier]), push

    def _pushed(self, events: Sequence[Any]) -> tuple[float, Any, Any, NDArray[Any]]:
        """Size, slopes, multipliers and push of a batch, after which the memory is up to date."""
        count, state = len(Events._fields), self._memory
        batch, reference, of_constraint = Events(*events[:count]), events[count:], self._constraint
        score = batch.score
        where = [] if state is None else [f"in training step {int(state[0])}"]
        if reference:
            where.append(f"events from {len(score)} on are those of reference")
        try:
            every = events_of(read, *batch)
            if reference:
                every = joined(
                    every, Events(*reference), of_constraint.labels, read, _filled, _concatenated, check_reference
                )
            found = of_constraint.direction(state, every, len(score))
        except BatchError as error:
            self._skip(error)
            return 0.0, np.zeros(score.size), np.ones(score.size), np.zeros_like(score)
        except ValueError as error:
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        self._succeed()
        self.loss = found.loss
        if self._monitor is not None and self._monitor.due():
            look(self._monitor, of_constraint, every, found)
            assert self._statement is not None and state is not None
            self._statement.see(every, found.slope, state, self)
        push = found.push.reshape(score.shape).astype(score.dtype, copy=False)
        return found.size, found.slope, found.multiplier, push


def _filled(score: NDArray[Any], value: int, like: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(score), value, like.dtype)


def _concatenated(_: str, of_batch: NDArray[Any], of_reference: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([of_batch, of_reference])


@dataclass(frozen=True)
class OfFunction:
    """The constraint of a function with these arguments. It remembers nothing: the state is the caller's."""

    strength: float | None
    tolerance: float | None
    from_logits: bool
    on_bad_batch: OnBadBatch
    options: tuple[tuple[str, Any], ...]

    def made(self) -> Constraint:
        """The options, checked."""
        arguments = {"strength": self.strength, "tolerance": self.tolerance}
        return Constraint(dict(self.options), **arguments, from_logits=self.from_logits, said=IN_LINES)

    def push(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """As :meth:`Added.push`."""
        return self._added(None).push(*events)

    def push_from(self, *events: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The same, where the state before follows the events, and the state after follows the size."""
        *both, before = events
        state = np.array(before, np.float64)
        added = self._added(state)
        added._constraint.continue_after(int(state[0]))
        found, push = added.push(*both)
        return np.concatenate([found[:1], state, found[1:]]), push

    def _added(self, memory: NDArray[np.float64] | None) -> Added:
        added = Added(self.made(), name="mode_constraint", on_bad_batch=self.on_bad_batch, memory=memory, said=IN_LINES)
        added._counts = ""
        return added


def of_function(
    options: Mapping[str, Any],
    *,
    strength: Any,
    tolerance: Any,
    from_logits: bool,
    on_bad_batch: OnBadBatch,
    has_state: bool,
) -> OfFunction:
    """That of a function with these arguments, checked."""
    if strength is None and not has_state:
        strength = WITHOUT_STATE
    found = OfFunction(
        None if strength is None else positive("strength", strength),
        None if tolerance is None else positive("tolerance", tolerance),
        bool(from_logits),
        on_bad_batch,
        tuple(plain("mode", options).items()),
    )
    found._added(None)  # which checks them
    return found
