"""The gradient of a constraint by NumPy, for frameworks whose compiled programs call back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import check_reference
from ._bad_batches import OnBadBatch, SkipsBadBatches
from ._constraint import Constraint, State, training_step, unpack_state
from ._convergence import number
from ._events import Events, joined, read_events
from ._native import BatchError
from ._problems import IN_LINES, Learns, Said, Statement
from ._read import as_array


class HostConstraint(SkipsBadBatches, Learns):
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
        self.loss = math.nan
        """The unbiased loss of the last batch that had one."""
        self._called, self._monitor = name, Statement(constraint) if monitor else None

    def _state(self) -> State:
        return State() if self._memory is None else unpack_state(self._memory)

    def push(self, *events: Any) -> tuple[float, NDArray[Any]]:
        """The size of the push, and its rows for :func:`libmode._constraint.outgoing`, (3, n).

        The events are the arrays of the batch, followed by the arrays of the reference events, if there are any.
        """
        count, state = len(Events._fields), self._memory
        batch, reference, constraint = Events(*events[:count]), events[count:], self._constraint
        score = batch.score
        where = [] if state is None else [training_step(state)]
        if reference:
            where.append(f"events from {len(score)} on are reference events")
        try:
            every = read_events(as_array, *batch)
            if reference:
                every = joined(
                    every, Events(*reference), constraint.labels, as_array, _filled, _concatenated, check_reference
                )
            pushed = constraint.direction(state, every, len(score))
        except BatchError as error:
            self._skip(error)
            return 0.0, np.outer([0.0, 1.0, 0.0], np.ones(score.size))
        except ValueError as error:
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        self._succeed()
        self.loss = pushed.loss
        if self._monitor is not None and self._monitor.is_due():
            assert state is not None
            self._monitor.see(every, pushed, state, self)
        return pushed.size, pushed.rows


def _filled(score: NDArray[Any], value: int, like: NDArray[Any]) -> NDArray[Any]:
    return np.full(len(score), value, like.dtype)


def _concatenated(_: str, batch: NDArray[Any], reference: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([batch, reference])


@dataclass(frozen=True)
class FunctionConstraint:
    """The arguments of a function that constrains, whose caller keeps the state. Equal ones share compiled programs."""

    options: tuple[tuple[str, Any], ...]
    arguments: tuple[tuple[str, Any], ...]  #: the others of :class:`Constraint`
    on_bad_batch: OnBadBatch
    logits: bool = False  #: of outputs of a softmax, whose odds the core gets

    def push(self, *events: Any) -> tuple[float, NDArray[Any]]:
        """As :meth:`HostConstraint.push`."""
        return self.on_host(None).push(*events)

    def push_from(self, *events: Any) -> tuple[float, NDArray[Any], NDArray[Any]]:
        """As :meth:`push`, with the state before the batch after the events, and the state after it at the end."""
        *arrays, before = events
        state = np.array(before, np.float64)
        host = self.on_host(state)
        host._constraint.continue_after(number(state, "steps"))
        return *host.push(*arrays), state

    def on_host(self, memory: NDArray[np.float64] | None) -> HostConstraint:
        """The constraint with this state; raises the errors of the arguments."""
        constraint = Constraint(dict(self.options), **dict(self.arguments), said=IN_LINES)
        constraint.logits |= self.logits
        host = HostConstraint(
            constraint, name="mode_constraint", on_bad_batch=self.on_bad_batch, memory=memory, said=IN_LINES
        )
        host._counts = ""
        return host
