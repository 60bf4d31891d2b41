"""The settings and the state of a constraint, for all frameworks. The core finds the push and updates the state.

docs/how-it-works.md has the law.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._evaluate import NUMPY, Kind, push_apply, push_rows
from ._events import Events
from ._messages import SIGMOID, level_of_the_user, reworded
from ._native import address, call
from ._options import OF_LAYER, Options, check
from ._problems import Said, TrainingWarning
from ._read import whole

_STEPS = 1  # the place in a state, as in mode.h
_ROUNDING_OF_SUMS = 0.02  # of probabilities in half precision
_FROM_LOGITS = "give from_logits=True for raw outputs, or use score_range=None"


class State(NamedTuple):
    """What a constraint remembers from batch to batch, for functions that remember nothing.

    Examples
    --------
    >>> import jax
    >>> import numpy as np
    >>> from libmode.jax import State, mode_constraint
    >>> rng = np.random.default_rng(1)
    >>> label, mass, score = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000), rng.random(4_000)
    >>> def loss(score, state):
    ...     score, state = mode_constraint(score, label, mass, order=1, state=state)
    ...     return ((score - label) ** 2).mean(), state
    >>> _, state = jax.grad(loss, has_aux=True)(score, State.start())
    >>> int(state.steps)
    1
    """

    numbers: Any = ()  #: as the core reads them; () before the first batch

    @classmethod
    def start(cls, labels: int = 1, categories: int | None = None) -> State:
        """State() with the final length of ``numbers`` for these numbers of background labels and categories.

        ``jax.lax.scan`` needs it, whose carry must keep its shape.
        """
        options = {"order": 0, "background_label": range(whole("labels", labels, 1))}
        return cls(np.zeros(check("mode", options, categories=categories or 0).state_size))

    @property
    def steps(self) -> Any:
        """The number of batches."""
        return self.numbers[_STEPS] if len(self.numbers) else 0.0


def training_step(memory: NDArray[Any]) -> str:
    """The part of a message with the training step of a state."""
    return f"in training step {memory[_STEPS]:.0f}"


class Lock:
    """A lock between threads, ``held``. Copies of its owner have one of their own."""

    def __init__(self) -> None:
        self.held = threading.RLock()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


class Constraint:
    """The checked settings of a constraint, and the push of a batch."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        said: Said | None = None,
        owner: Callable[..., Any] | None = None,
        **settings: Any,
    ) -> None:
        self.options, self.odds = check("mode", options, owner, **settings), False
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
        self.size = self.options.state_size
        self.lock = Lock()  # threads that share a layer take turns
        self._named = "background_label" in options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and (self.options, self.odds) == (other.options, other.odds)

    def __hash__(self) -> int:
        return hash(self.options)

    @cached_property
    def _of_logits(self) -> Options:
        """The options for scores that are logits."""
        return self.options if self.from_logits else self.options.changed(from_logits=True)

    def direction(self, state: Any, events: Events, count: int, kind: Kind = NUMPY) -> tuple[Any, Any]:
        """The lesson and the rows of the first ``count`` of checked events, see :func:`libmode._evaluate.push_rows`.

        The scores of the events are predictions. The state does not change.
        """
        options = self._of_logits if self.odds else self.options
        with self.lock.held:
            try:
                return push_rows(options, events, count, state, self.said, kind)
            except ValueError as error:
                raise reworded(error, {} if self._limits_given else {SIGMOID: _FROM_LOGITS}) from None

    def apply(self, gradient: Any, rows: Any, lesson: Any, state: Any, norms: Any = None, kind: Kind = NUMPY) -> Any:
        """The gradient with the push, by the rows and the lesson of a batch, which the state then remembers."""
        if kind is NUMPY:
            rows, lesson = np.ascontiguousarray(rows), np.ascontiguousarray(lesson, np.float64)
            gradient = None if gradient is None else np.ascontiguousarray(gradient, rows.dtype).reshape(-1)
        with self.lock.held:
            now = None
            if state is not None:  # the core goes on after an interrupt, and the state must not change
                now = kind.doubles(self.size)
                now[:] = state
            result = push_apply(gradient, rows, lesson, now, norms, kind)
            if state is not None:
                state[:] = now
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

    def look_at_rows(self, score: NDArray[Any], named: int) -> None:
        """Raises ValueError for rows that are no outputs of a softmax, and warns if options leave classes out."""
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
        if not self._named and score.shape[1] > named:
            warnings.warn(
                f"score has {score.shape[1]} classes, and {score.shape[1] - named} of them take no part: flat becomes "
                f"the ratio of signal to class {self.labels[0]}, and not a cut on the probability of signal. Name all "
                "classes of background, for instance background_label=(0, 1)",
                TrainingWarning,
                stacklevel=level_of_the_user(),
            )

    def start(self) -> NDArray[np.float64]:
        """The state before the first batch, as one array."""
        return np.zeros(self.size)

    def check_state(self, state: NDArray[np.float64]) -> None:
        """Raises ValueError if an array is no state of this constraint."""
        if state.shape != (self.size,):
            counts = f"{len(self.labels)} labels and {self.settings['categories']} categories"
            raise ValueError(f"state has length {state.size}, and must have {self.size} for {counts}")
        call("mode_state_check", self.options, address(state), held=state)

    def scores(self, pred: Any) -> Any:
        """The scores of predictions."""
        return sigmoid(pred) if self.odds or self.from_logits else pred


def sigmoid(logit: Any) -> Any:
    """The probabilities for an array of logits, for monitors."""
    return 0.5 + 0.5 * np.tanh(0.5 * np.asarray(logit, np.float64))
