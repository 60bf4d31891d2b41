"""The options and the state of a constraint, for all frameworks. The core finds the push and updates the state.

The push is proportional to the residual of the batch plus the sum of all earlier residuals (the method of multipliers;
M. Hestenes, J. Optim. Theory Appl. 4 (1969) 303). So small pushes with little noise make the mean residual 0. No batch
counts more than the average of 200: a growing residual would push further. In the tail of the scores the law multiplies
the gradient itself: docs/how-it-works.md has the law.
"""

from __future__ import annotations

import ctypes
import math
import threading
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._convergence import Convergence, convergence, number
from ._evaluate import NUMPY, Kind, direction
from ._events import Events
from ._messages import SIGMOID, level_of_the_user, reworded, shown
from ._native import address
from ._options import check
from ._problems import Said, TrainingWarning
from ._read import flag, positive, whole
from ._typing import Unpack
from .option_types import LossOptions

#: The share of a batch in the averages of a state.
RATE = 1 / 200

#: The default strength of a function without a state.
WITHOUT_STATE = 10.0

# After this number of batches with predictions that look like scores, a warning says that they are scores.
LIKE_SCORES = 20
_ROUNDING_OF_SUMS = 0.02  # of probabilities in half precision
_FROM_LOGITS = "give from_logits=True for raw outputs, or use score_range=None"


class Rho(NamedTuple):
    """rho = D N / (B n): D is the unbiased loss, B its bias, n the events of a batch, and N the events of a later test.

    A test with N events sees no dependence if rho is at most 1. Squeezing the scores does not change rho.
    """

    value: float
    error: float  #: standard error, from the scatter of the batches


class State(NamedTuple):
    """The state of a constraint: averages over 200 batches, and sums and tables for each category of each label.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.jax import State, mode_constraint
    >>> rng, state = np.random.default_rng(1), State.start()  # for one background label
    >>> label, mass, score = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000), rng.random(4_000)
    >>> same, state = mode_constraint(score, label, mass, order=1, state=state)
    >>> int(state.steps), int(state.memory()[1]), state.dependence(10_000)  # nothing was differentiated
    (0, 0, Rho(value=nan, error=nan))
    >>> state.convergence(tolerance=10_000).flat  # None before the first batch
    """

    version: Any = 0.0  #: of the layout; 0 before the first batch
    steps: Any = 0.0  #: the number of batches
    norm: Any = 0.0  #: the norm of the direction before smoothing
    loss: Any = 0.0  #: the unbiased loss
    bias: Any = 0.0  #: the bias of the plain loss
    events: Any = 0.0  #: the effective events of a batch, (sum w)^2 / sum w^2
    square: Any = 0.0  #: the square of the loss
    factor: Any = 0.0  #: of the push, 1 unless a tolerance lowers it; 0 before the first batch
    masses: Any = 0.0  #: the number of variables of mass in the first batch
    categories: Any = 0.0  #: the number of categories; 0: none
    sums: Any = ()  #: sums of residuals and tables for the tail, of each label and category; () before the first batch

    @classmethod
    def start(cls, labels: int = 1, categories: int | None = None) -> State:
        """State() with the final length of ``sums`` for these numbers of background labels and categories.

        ``jax.lax.scan`` needs it, whose carry must keep its shape.
        """
        size = _native.state_size(whole("labels", labels, 1), checked_categories(categories))
        return cls(sums=np.zeros(size - NUMBERS))

    def dependence(self, tolerance: float) -> Rho:
        """rho for N = tolerance."""
        unit = self.bias * self.events / tolerance
        if not unit > 0:  # before the first batch, and if the polynomial fits every response
            return Rho(math.nan, math.nan)
        # The sum of the squares of the shares of all batches: the share of a new one is 1/steps, and at least the rate.
        first, limit = min(self.steps, 1 / RATE), RATE / (2 - RATE)
        share = limit + (1 / first - limit) * (1 - RATE) ** (2 * (self.steps - first))
        spread = max(self.square - self.loss**2, 0.0)
        error = math.sqrt(spread * share / (1 - share)) if share < 1 else math.inf
        return Rho(self.loss / unit, error / unit)

    def memory(self) -> NDArray[np.float64]:
        """The state as one array."""
        sums = self.sums if len(self.sums) else State.start().sums
        return np.concatenate([np.ravel(number) for number in (*self[:NUMBERS], sums)])

    def convergence(
        self, tolerance: float | None = None, training_events: float | None = None, **options: Unpack[LossOptions]
    ) -> Convergence:
        """What batches show of the response at each cut, for the constraint's ``training_events`` and other options."""
        categories = int(self.categories) or None
        constraint = Constraint(
            {"order": 1, **options}, tolerance=tolerance, categories=categories, training_events=training_events
        )
        return constraint.verdict(self.memory())


#: The number of fields of a state that are single numbers.
NUMBERS = State._fields.index("sums")


def training_step(memory: NDArray[Any]) -> str:
    """The part of a message with the training step of a state, which may be corrupt."""
    return f"in training step {number(memory, 'steps'):.0f}"


def unpack_state(memory: NDArray[Any]) -> State:
    """The state from one array of its numbers and sums, as :meth:`Constraint.start` makes it."""
    return State._make([*memory[:NUMBERS].tolist(), memory[NUMBERS:]])


class Lock:
    """A lock between threads, ``held``. Copies of its owner have one of their own."""

    def __init__(self) -> None:
        self.held = threading.RLock()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


class Constraint:
    """The checked options of a constraint, and the push of a batch."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        strength: float | None = None,
        tolerance: float | None = None,
        from_logits: bool = False,
        categories: int | None = None,
        training_events: float | None = None,
        said: Said | None = None,
    ) -> None:
        self.strength, self.tolerance = either(strength, tolerance)
        self.categories = checked_categories(categories)
        self.options, self.from_logits = check("mode", options), flag("from_logits", from_logits)
        self.logits = self.from_logits  # what the core gets: of outputs of a softmax always the log odds
        self._limits_given = self.options.score_range != (0, 1)
        self.training_events = positive("training_events", training_events)
        if from_logits and self._limits_given:
            raise ValueError(
                f"score_range = {options['score_range']} and from_logits = True: leave score_range out, which is "
                "(0, 1) for logits"
            )
        self.labels, self.said = self.options.labels, said or Said()
        self.lock = Lock()  # from reading a state to writing it: threads that share a layer take turns
        self._named = "background_label" in options
        self._unsure, self._like_scores = from_logits, 0  # may be scores, and the batches that look like scores

    def direction(self, state: Any, events: Events, count: int, kind: Kind = NUMPY) -> ctypes.Structure:
        """The push of the first ``count`` of checked events, whose scores are predictions.

        It brings the state up to date, one array of the numbers of :class:`State` and its sums.
        """
        if self._unsure:
            self._look_for_scores(events.score)
        with self.lock.held:
            # The core goes on after an interrupt, and the state must not change.
            now = None if state is None else state.copy()
            steering = _native.ModeSteering(
                ctypes.sizeof(_native.ModeSteering),
                self.strength or 0.0,
                self.tolerance or 0.0,
                address(now),
                0 if now is None else now.size,
                count,
                self.logits,
                self.categories,
                self.training_events or 0.0,
            )
            try:
                pushed = direction(self.options, steering, events, now, self.said, kind)
            except ValueError as error:
                raise reworded(error, {} if self._limits_given else {SIGMOID: _FROM_LOGITS}) from None
            if state is not None:
                state[:] = now
        return pushed

    def verdict(self, state: NDArray[np.float64], tolerance: float = 0.0) -> Convergence:
        """What a state shows, for a search with ``tolerance`` events unless the constraint has its own number."""
        steering = {"tolerance": self.tolerance or tolerance, "categories": self.categories}
        return convergence(self.options.struct, state, self.training_events, **steering)

    def few(self, state: NDArray[np.float64]) -> tuple[float, int, int] | None:
        """Of the first category with too few events in most batches: its batches, its number and its label."""
        for part in range(self.categories * len(self.labels)):
            if 0 < (batches := number(state, "batches", part)) < 0.5 * number(state, "steps"):
                label, category = divmod(part, self.categories)
                return batches, category, self.labels[label]
        return None

    def classes(self, signal: int, shape: tuple[Any, ...]) -> tuple[int, list[int]]:
        """The columns of signal and of the background classes, for outputs of a softmax of shape (n, k).

        Their odds are logits for all that follows.
        """
        if self._limits_given:
            raise ValueError(
                f"score_range = {self.options.score_range} and score of shape {shape}: leave score_range out for "
                "outputs of a softmax"
            )
        self.logits = True
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

    def continue_after(self, steps: float) -> None:
        """Continues after ``steps`` batches. The next batch decides whether predictions look like scores."""
        self._like_scores = int(min(steps, LIKE_SCORES - 1)) if steps > 0 else 0  # the core finds a corrupt number

    def start(self) -> NDArray[np.float64]:
        """The state before the first batch, as one array."""
        return np.zeros(_native.state_size(len(self.labels), self.categories))

    def check_state(self, state: NDArray[np.float64]) -> None:
        """Raises ValueError if an array is no state of this constraint."""
        _native.call("mode_state_check", address(state), state.size, len(self.labels), self.categories)

    def _look_for_scores(self, pred: Any) -> None:
        """Warns at the twentieth batch of spread predictions from 0 to 1, if none was outside, as logits soon are."""
        low, high = (pred.min().item(), pred.max().item()) if len(pred) else (0.0, 0.0)
        self._like_scores += bool(high - low > 0.5)
        inside = low >= 0 and high <= 1
        self._unsure = bool(inside and self._like_scores < LIKE_SCORES)
        if inside and not self._unsure:
            warnings.warn(
                f"from_logits = True, and all predictions of {LIKE_SCORES} batches are from 0 to 1 (of the last "
                f"{low:.3g} to {high:.3g}), as probabilities are: give from_logits=False, or take the sigmoid out of "
                "the network",
                TrainingWarning,
                stacklevel=level_of_the_user(),
            )

    def scores(self, pred: Any) -> Any:
        """The scores of predictions."""
        return sigmoid(pred) if self.logits else pred


def outgoing(where: Any, norm: Any, incoming: Any, rows: Any, size: Any) -> tuple[Any, Any]:
    """The law's two lines, by functions of any framework: the gradient with the push, and the scale of the push."""
    push, multiplier, slope = rows
    scale = size * norm(incoming * slope)
    scale = where(scale - scale == 0, scale, 0.0)  # a GradScaler can make it infinite
    return multiplier * incoming + scale * push, scale


def sigmoid(logit: Any) -> NDArray[np.float64]:
    """The probabilities for an array of logits, for messages and monitors."""
    probability: NDArray[np.float64] = 0.5 + 0.5 * np.tanh(0.5 * np.asarray(logit, np.float64))
    return probability


def checked_categories(categories: Any) -> int:
    """The number of categories, 0 for None."""
    if categories is None:
        return 0
    return whole("categories", categories, 1)


def either(strength: Any, tolerance: Any) -> tuple[float | None, float | None]:
    """A fixed strength and a tolerance, at most one of them, as positive numbers or None."""
    fixed, limit = positive("strength", strength), positive("tolerance", tolerance)
    if fixed is not None and limit is not None:
        raise ValueError(
            f"strength = {shown(strength)} and tolerance = {shown(tolerance)}: a fixed strength ignores the tolerance; "
            "leave one of them out"
        )
    return fixed, limit
