"""The settings and the state of a constraint, for all frameworks. The core finds the push and updates the state.

docs/how-it-works.md has the law.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._evaluate import NUMPY, Call, Kind
from ._events import Events, joined, read_events
from ._messages import SIGMOID, reworded
from ._native import BatchError, address, call
from ._options import OF_LAYER, Options, check
from ._problems import EVERY, Monitor, OnBadBatch, Said, SkipsBadBatches
from ._read import as_array, whole

_STEPS = 1  # the place in a state, as in mode.h
_ROUNDING_OF_SUMS = 0.02  # of probabilities in half precision
_FROM_LOGITS = "give from_logits=True for raw outputs, or use score_range=None"


class State(NamedTuple):
    """What a constraint remembers from batch to batch, for functions that remember nothing.

    Examples
    --------
    >>> from libmode.jax import State  # mode_constraint has a whole step
    >>> float(State.start(labels=2).steps)
    0.0
    """

    numbers: Any = ()  #: as the core reads them; () before the first batch

    @classmethod
    def start(cls, labels: int = 1, categories: int | None = None) -> State:
        """State() with the final length of ``numbers`` for these numbers of background labels and categories.

        ``jax.lax.scan`` needs it, whose carry must keep its shape.
        """
        labels = whole("labels", labels, 1)
        options = {"order": 0, "background_label": range(labels), "categories": categories}
        return cls(np.zeros(Constraint(options).size))

    @property
    def steps(self) -> Any:
        """The number of batches."""
        return self.numbers[_STEPS] if len(self.numbers) else 0.0


def training_step(memory: NDArray[Any]) -> str:
    """The part of a message with the training step of a state."""
    return f"in training step {memory[_STEPS]:.0f}"


class Constraint:
    """The checked settings of a constraint, and the push of a batch."""

    def __init__(self, options: Mapping[str, Any], *, said: Said | None = None, owner: Any = None) -> None:
        self.options, self.odds = check("mode", options, owner, OF_LAYER), False
        """Whether the scores are log odds of outputs of a softmax, which are logits."""
        self.settings = {name: self.options.values[name] for name in OF_LAYER}
        self.from_logits: bool = self.settings["from_logits"]
        self.labels, self.said = self.options.labels, said or Said()
        self._limits_given = self.options.values["score_range"] != (0, 1)
        if self.from_logits and self._limits_given:
            raise ValueError(
                f"score_range = {self.options.values['score_range']} and from_logits = True: leave score_range out, "
                "which is (0, 1) for logits"
            )
        self.size = self.options.state_size  # of the state, which begins with zeros
        self._turns = threading.RLock()  # of threads that share a layer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and (self.options, self.odds) == (other.options, other.odds)

    def __hash__(self) -> int:
        return hash(self.options)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_turns": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _turns=threading.RLock())  # for threads that share the copy

    @cached_property
    def _of_logits(self) -> Options:
        """The options for scores that are logits."""
        return self.options if self.from_logits else self.options.changed(from_logits=True)

    def direction(self, state: Any, events: Events, count: int, kind: Kind = NUMPY) -> tuple[Any, Any]:
        """The lesson, (size,), and the rows, (4, count), of the first ``count`` of checked events.

        The scores of the events are predictions. The state does not change.
        """
        ready = Call(self._of_logits if self.odds else self.options, events, kind, count)
        rows, lesson = kind.empty((4, count), dtype=ready.arrays.score.dtype), kind.empty(self.size, dtype=kind.double)
        before = None if state is None else kind.address(state)
        with self._turns:
            try:
                ready.run("mode_push_rows", self.said, before, kind.address(rows), kind.address(lesson))
            except ValueError as error:
                raise reworded(error, {} if self._limits_given else {SIGMOID: _FROM_LOGITS}) from None
        return lesson, rows

    def apply(self, gradient: Any, rows: Any, lesson: Any, state: Any, norms: Any = None, kind: Kind = NUMPY) -> Any:
        """The gradient with the push, by the rows and the lesson of a batch, which the state then remembers."""
        if kind is NUMPY:
            rows, lesson = np.ascontiguousarray(rows), np.ascontiguousarray(lesson)
            lesson = lesson.view(np.float64)  # JAX has it as words
            gradient = None if gradient is None else np.ascontiguousarray(gradient, rows.dtype).reshape(-1)
        result = None if gradient is None else kind.like(gradient)
        memory = (None if one is None else kind.address(one) for one in (gradient, result, state, norms))
        found = rows.shape[1], kind.types[rows.dtype], kind.address(rows), kind.address(lesson), len(lesson)
        with self._turns:
            call("mode_push_apply", None, *found, *memory)
        return result

    def skipped(self, like: Any, count: int) -> tuple[NDArray[np.float64], Any]:
        """The lesson and the rows of a batch that is skipped, whose gradient stays as it is."""
        rows = np.zeros((4, count), like)
        rows[1] = 1
        return np.zeros(self.size), rows

    def classes(self, signal: int, shape: tuple[Any, ...]) -> tuple[int, list[int]]:
        """The columns of signal and of the background classes, for outputs of a softmax of shape (n, k).

        Their odds are logits for all that follows.
        """
        if self._limits_given:
            raise ValueError(
                f"score_range = {self.options.values['score_range']} and score of shape {shape}: leave score_range out "
                "for outputs of a softmax"
            )
        self.odds = True
        if len(shape) != 2 or not -shape[1] <= signal < shape[1]:
            raise ValueError(
                f"score has shape {shape}: expected (n,), (n, 1), or (n, k) of a softmax with a class {signal}"
            )
        column, background = signal % shape[1], sorted({*self.labels})
        if column in background or not 0 <= background[0] <= background[-1] < shape[1]:
            labels = ", ".join(map(str, background))
            raise ValueError(
                f"background_label = {labels} and signal = {signal}: the {shape[1]} columns of score are classes 0, 1 "
                "and so on: one is signal, and others are background"
            )
        return column, background

    def look_at_rows(self, score: NDArray[Any]) -> None:
        """Raises ValueError for rows that are no outputs of a softmax."""
        sums = score.sum(axis=1, dtype=float)
        far = np.abs(sums - 1) > _ROUNDING_OF_SUMS
        if self.from_logits and not far.any() and np.all(score >= 0):
            raise ValueError(
                "from_logits = True, and the rows of score are from 0 to 1 with sums of 1, as rows of a softmax are: "
                "give from_logits=False, or take the softmax out of the network"
            )
        if not self.from_logits and far.any():
            row = int(far.argmax())
            raise ValueError(
                f"score[{row}] has the sum {sums[row]:.3g}: rows of (n, k) must be probabilities of a softmax, with "
                "sums of 1. Give from_logits=True for logits; labels that do not exclude each other need a layer each"
            )

    def check_state(self, state: NDArray[np.float64]) -> None:
        """Raises ValueError if an array is no state of this constraint."""
        if state.shape != (self.size,):
            counts = f"{len(self.labels)} labels and {self.settings['categories']} categories"
            raise ValueError(f"state has length {state.size}, and must have {self.size} for {counts}")
        call("mode_state_check", self.options, address(state))

    def scores(self, pred: Any) -> Any:
        """The scores of predictions."""
        return sigmoid(pred) if self.odds or self.from_logits else pred


def sigmoid(logit: Any) -> Any:
    """The probabilities for an array of logits, for monitors."""
    return 0.5 + 0.5 * np.tanh(0.5 * np.asarray(logit, np.float64))


class HostConstraint(SkipsBadBatches):
    """A constraint whose batches come to the host as NumPy arrays."""

    _gets = "no gradient of MoDe"

    def __init__(
        self, constraint: Constraint, *, name: str, on_bad_batch: OnBadBatch, memory: NDArray[np.float64] | None = None,
        monitor: bool = False, said: Said | None = None,
    ) -> None:  # fmt: skip
        self._set_on_bad_batch(on_bad_batch, said)
        self._constraint, self._memory = constraint, memory
        self._called, self._monitor = name, Monitor() if monitor else None

    def direction(self, *events: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """The lesson and the rows of a batch.

        The events are the arrays of the batch, followed by the arrays of the reference events, if there are any.
        """
        constraint, count, state = self._constraint, len(Events._fields), self._memory
        batch, reference, score = Events(*events[:count]), events[count:], events[0]
        try:
            every = read_events(as_array, *batch)
            if reference:
                every = joined(every, Events(*reference), constraint.labels, as_array, np)
            found = constraint.direction(state, every, len(score))
        except BatchError as error:
            self._skip(error)
            return constraint.skipped(score.dtype, score.size)
        except ValueError as error:
            where = [] if state is None else [training_step(state)]
            where += [f"events from {len(score)} on are reference events"] if reference else []
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
