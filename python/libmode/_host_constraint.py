"""The gradient of a constraint by NumPy, for frameworks whose compiled programs call back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import check_reference
from ._bad_batches import OnBadBatch, SkipsBadBatches
from ._constraint import Constraint, training_step
from ._events import Events, joined, read_events
from ._native import BatchError
from ._problems import EVERY, IN_LINES, Monitor, Said
from ._read import as_array


class HostConstraint(SkipsBadBatches):
    """A constraint whose batches come to the host as NumPy arrays."""

    _gets = "no gradient of MoDe"
    _without_last = "a data set made with batch(..., drop_remainder=True)"

    def __init__(
        self,
        constraint: Constraint,
        *,
        name: str,
        on_bad_batch: OnBadBatch,
        memory: NDArray[np.float64] | None = None,
        monitor: bool = False,
        said: Said | None = None,
    ) -> None:
        self._set_on_bad_batch(on_bad_batch, said)
        self._constraint, self._memory = constraint, memory
        self._called, self._monitor = name, Monitor() if monitor else None

    def direction(self, *events: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The lesson and the rows of a batch.

        The events are the arrays of the batch, followed by the arrays of the reference events, if there are any.
        """
        constraint, count, state = self._constraint, len(Events._fields), self._memory
        batch, reference, score = Events(*events[:count]), events[count:], events[0]
        where = [] if state is None else [training_step(state)]
        if reference:
            where.append(f"events from {len(score)} on are reference events")
        try:
            every = read_events(as_array, *batch)
            if reference:
                every = joined(every, Events(*reference), constraint.labels, as_array, _filled, _both, check_reference)
            found = constraint.direction(state, every, len(score))
        except BatchError as error:
            self._skip(error)
            return constraint.skipped(score.dtype, score.size)
        except ValueError as error:
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        self._succeed()
        if self._monitor is not None:
            self._monitor.calls += 1
            if self._monitor.calls % EVERY == 0:
                self._monitor.look(constraint.scores(every.score))
        return found

    def apply(self, gradient: Any, lesson: Any, rows: Any) -> tuple[NDArray[Any]]:
        """The gradient with the push, for the lesson and the rows of a batch."""
        return (self._constraint.apply(gradient, rows, lesson, self._memory),)

    def outgoing(self, gradient: Any, *events: Any) -> tuple[NDArray[Any]]:
        """The gradient with the push for a batch."""
        return self.apply(gradient, *self.direction(*events))


def _filled(score: NDArray[Any], value: int, like: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(score), value, like.dtype)


def _both(_: str, batch: NDArray[Any], reference: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([batch, reference])


class FunctionConstraint(NamedTuple):
    """A function that constrains, whose caller keeps the state. Equal ones share compiled programs."""

    constraint: Constraint
    on_bad_batch: OnBadBatch

    def direction(self, *events: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """As :meth:`HostConstraint.direction`."""
        return self.on_host(None).direction(*events)

    def direction_from(self, *events: Any) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
        """As :meth:`direction`, with the state before the batch after the events, and the state after it at the end.

        A function cannot remember the norm of a gradient, which is known later. So the push follows the norm of each
        batch.
        """
        *arrays, before = events
        state = np.array(before, np.float64)
        lesson, rows = self.on_host(state).direction(*arrays)
        self.constraint.apply(None, rows, lesson, state)
        return lesson, rows, state

    def apply(self, gradient: Any, lesson: Any, rows: Any) -> tuple[NDArray[Any]]:
        """As :meth:`HostConstraint.apply`, without a memory."""
        return (self.constraint.apply(gradient, rows, lesson, None),)

    def on_host(self, memory: NDArray[np.float64] | None) -> HostConstraint:
        """The constraint with this state."""
        host = HostConstraint(
            self.constraint, name="mode_constraint", on_bad_batch=self.on_bad_batch, memory=memory, said=IN_LINES
        )
        host._counts = ""
        return host
