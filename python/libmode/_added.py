"""What a constraint adds to the gradient of a batch, by NumPy: for frameworks whose compiled programs call back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import read
from ._bad_batches import OnBadBatch, SkipsBadBatches
from ._constraint import Constraint, Direction, ScoreTransform, State, positive
from ._front import Events, events_of, joined
from ._monitor import Monitor, look
from ._native import BatchError
from ._plain import plain


class Added(SkipsBadBatches):
    """A constraint where the core is called, which is on the host in compiled programs too.

    ``state`` is what it starts to remember from, None for one that remembers nothing; ``name`` is whose
    warnings it gives.
    """

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

    def push(
        self, score: Any, mass: Any, weight: Any, label: Any, category: Any, *reference: Any
    ) -> tuple[float, NDArray[Any]]:
        """What MoDe's gradient is multiplied with over the norm of the one that comes in, and that gradient.

        All are NumPy's arrays; the gradient has the shape and type of the scores. ``reference`` are the five arrays
        of further events, or nothing. Of a batch that has no loss, and that is not an error, the gradient is 0.
        """
        remembers, batch = self.state is not None, Events(score, mass, weight, label, category)
        after, grad = self._after(self.state or State(), remembers, batch, reference)
        if remembers:
            self.state = after
        return self.constraint.per_norm(after), grad

    def push_from(
        self, score: Any, mass: Any, weight: Any, label: Any, category: Any, state: NDArray[Any], *reference: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The state after the batch, (9,), given the one before, and the gradient."""
        before, batch = State(*state.tolist()), Events(score, mass, weight, label, category)
        after, grad = self._after(before, True, batch, reference)
        return np.asarray(after, state.dtype), grad

    def _after(
        self, state: State, remembers: bool, batch: Events, reference: tuple[Any, ...]
    ) -> tuple[State, NDArray[Any]]:
        try:
            found = self._direction(batch, reference)
        except BatchError as error:
            self._skip(error)
            return state, np.zeros_like(batch.score)
        except ValueError as error:
            where = [f"in training step {int(state.steps)}"] if remembers else []
            if reference:
                where.append(f"events from {len(batch.score)} on are those of reference")
            raise ValueError(f"{error} ({', '.join(where)})" if where else str(error)) from None
        grad = found.grad.reshape(batch.score.shape).astype(batch.score.dtype, copy=False)
        return self.constraint.after(state, found), grad

    def _direction(self, batch: Events, reference: tuple[Any, ...]) -> Direction:
        every = events_of(read, *batch)
        if reference:
            every = joined(every, Events(*reference), self.constraint.labels, read, _filled, _concatenated)
        found = self.constraint.direction(*every, count=len(batch.score))
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
    tolerance: Any = None,
    score_transform: ScoreTransform,
    from_logits: bool,
    on_bad_batch: OnBadBatch,
) -> Added:
    """That of a function with these arguments, the same one for the same arguments; it remembers nothing."""
    return _of_function(
        positive("relative_strength", relative_strength),
        None if tolerance is None else positive("tolerance", tolerance),
        score_transform,
        bool(from_logits),
        on_bad_batch,
        **plain("mode", {"order": 1, **options}),
    )


@lru_cache(maxsize=256)
def _of_function(
    relative_strength: float,
    tolerance: float | None,
    score_transform: ScoreTransform,
    from_logits: bool,
    on_bad_batch: OnBadBatch,
    **options: Any,
) -> Added:
    constraint = Constraint(
        options,
        relative_strength=relative_strength,
        tolerance=tolerance,
        score_transform=score_transform,
        from_logits=from_logits,
    )
    return Added(constraint, name="mode_constraint", on_bad_batch=on_bad_batch)
