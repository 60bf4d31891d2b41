"""What a constraint adds to the gradient of a classifier, up to its size: by NumPy, once for all frameworks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._evaluate import Result, evaluate
from ._options import Options, check
from ._shown import shown

#: Of how many background events :attr:`Dependence.value` tells where no tolerance is given.
USUAL_TOLERANCE = 100_000.0

ScoreTransform = Literal["odds"] | None

#: The c of W(s) = c s / (1 + c - s), for scores from 0 to 1: nearly c times the odds, and finite.
ODDS = 0.3

# Bins of mass where none are asked for, and how many events each needs. In half as many bins as the loss has
# otherwise there is half of the noise, which in batches is what the strength is spent on.
_BINS, _IN_BIN = 16, 8

# Ranges of scores, in each of which the direction has the mean 0, see _without_squeeze.
_PARTS = 8


class Direction(NamedTuple):
    """Where a batch is pushed, and the dependence that it is pushed against."""

    grad: NDArray[Any]  #: (n,), of the loss by the predictions of the batch, without those of reference events
    norm: float  #: of the same by the logits
    spread: float  #: of the logits of background events: their standard deviation, at most 1
    loss: float  #: MoDe of W(s), unbiased
    bias: float  #: of a finite batch, by which the plain loss is larger
    events: float  #: (sum w)^2 / sum w^2 of the background


class Dependence(NamedTuple):
    """rho = D N / (B n): D the unbiased loss, B its bias, n the events counted, N those that are to see nothing.

    At most 1 where the dependence cannot be told from none by N events. It does not change where scores are squeezed.
    """

    value: float
    error: float  #: standard error, from the scatter of the batches


class State(NamedTuple):
    """What is remembered from batch to batch: averages over batches of some 10 N events, or all so far.

    Examples
    --------
    >>> import jax
    >>> import numpy as np
    >>> from libmode.jax import State, mode_constraint
    >>> rng = np.random.default_rng(1)
    >>> label, mass, score = rng.integers(0, 2, 4_000), rng.uniform(50, 300, 4_000), rng.random(4_000)
    >>> def loss(score, state):
    ...     score, state = mode_constraint(score, label, mass, order=1, tolerance=10_000, state=state)
    ...     return ((score - label) ** 2).mean(), state
    >>> step, state = jax.jit(jax.grad(loss, has_aux=True)), State()
    >>> for _ in range(3):
    ...     gradient, state = step(score, state)
    >>> int(state.steps)
    3
    >>> rho, error = state.dependence(10_000)  # of 10,000 events
    >>> print(f"{rho:.1f}")
    -0.2
    """

    steps: float = 0.0  #: the number of batches
    norm: float = 0.0  #: of the gradient by the logits, over 200 batches
    spread: float = 1.0  #: of the logits of the last batch
    loss: float = 0.0  #: unbiased
    bias: float = 0.0  #: of the plain loss
    events: float = 0.0  #: of a batch, (sum w)^2 / sum w^2
    square: float = 0.0  #: of the loss
    share: float = 0.0  #: the sum of the squares of the shares that the batches have in the averages
    factor: float = 1.0  #: of the relative strength

    def dependence(self, tolerance: float) -> Dependence:
        """For N = tolerance."""
        if not self.steps:
            return Dependence(math.nan, math.nan)
        unit = self.bias * self.events / tolerance
        spread = max(self.square - self.loss**2, 0.0)
        error = math.sqrt(spread * self.share / (1 - self.share)) if self.share < 1 else math.inf
        return Dependence(self.loss / unit, error / unit)


class Constraint:
    """The options of a constraint, checked, and what a batch makes of them."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        relative_strength: float,
        tolerance: float | None,
        score_transform: ScoreTransform,
        from_logits: bool,
    ) -> None:
        self._made_of = partial(
            Constraint,
            dict(options),
            relative_strength=relative_strength,
            tolerance=tolerance,
            score_transform=score_transform,
            from_logits=from_logits,
        )
        self.relative_strength = positive("relative_strength", relative_strength)
        self.tolerance = None if tolerance is None else positive("tolerance", tolerance)
        self.from_logits = from_logits
        if from_logits and "score_range" in options:
            raise ValueError(
                f"score_range = {options['score_range']} and from_logits = True: the scores of logits are from 0 to 1"
            )
        if score_transform not in ("odds", None):
            raise ValueError(f"score_transform = {score_transform!r}: must be 'odds' or None")
        self._options = check("mode", options)
        self.labels = self._options.labels
        self.score_range = self._options.score_range
        self._transforms = score_transform is not None
        if self._transforms and self.score_range is None:
            raise ValueError(
                "score_range = None: score_transform = 'odds' needs limits of the scores; give None for it too"
            )
        self.bins = options.get("bins") if isinstance(options.get("bins"), int) else None
        self.unbiased = bool(options.get("unbiased", True))
        transformed = {**options, "score_range": (0.0, 1.0)} if self._transforms else dict(options)
        self._of_few = self._of_many = check("mode", transformed)
        if not {"bins", "edges", "knots", "joint"} & set(options) and options.get("binning", "quantile") == "quantile":
            self._of_many = check("mode", {**transformed, "bins": _BINS})

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return self._made_of, ()

    def direction(
        self, pred: Any, mass: Any, weight: Any, label: Any, category: Any = None, count: int | None = None
    ) -> Direction:
        """The direction for arrays as :func:`libmode.mode_evaluate` takes them, pred of shape (n,).

        ``count`` is how many of the events are those of the batch; those after it are reference events.
        Raises what that raises, about the predictions as they are given.
        """
        others = mass, weight, label, category
        score = self.scores(pred)
        background = np.arange(len(score)) if label is None else np.flatnonzero(self.background(label))
        of_background = score[background]
        enough = len(of_background) >= _BINS * _IN_BIN * len(self.labels)
        found = self._of_scores(self._of_many if enough else self._of_few, score, *others)
        weights = np.ones(len(background)) if weight is None else np.asarray(weight, np.float64)[background]
        takes_part = self._options.inside(mass[background]) & (weights != 0)
        background, weights = background[takes_part], weights[takes_part]
        weights /= np.abs(weights).max()  # no scale of weights matters
        of_background = score[background]
        slope = self._slope(of_background)
        of_logits = _without_squeeze(found.grad[background] * slope, of_background, weights)
        spread = 1.0 if self.score_range is None else _spread(of_background, slope, weights)
        if count is not None:  # the events of the batch come first
            own = np.searchsorted(background, count)
            background, of_logits, slope = background[:own], of_logits[:own], slope[:own]
        grad = found.grad[:count]  # 0 but for background
        grad[background] = of_logits if self.from_logits else of_logits / np.maximum(slope, _LEAST_SLOPE)
        return found._replace(grad=grad, norm=math.sqrt(float(of_logits @ of_logits)), spread=spread)

    def background(self, label: NDArray[Any]) -> NDArray[np.bool_]:
        """Which events have a background label."""
        found: NDArray[np.bool_] = label == self.labels[0]
        for other in self.labels[1:]:
            found |= label == other
        return found

    def scores(self, pred: Any) -> Any:
        """The scores of predictions."""
        return sigmoid(pred) if self.from_logits else pred

    def _of_scores(self, options: Options, score: Any, *others: Any) -> Direction:
        if self.score_range is None or not self._transforms:
            found = evaluate(options, score, *others)
            return self._found(found.grad, found)
        low, high = self.score_range
        inside = (score >= low) & (score <= high)
        if not inside.all():
            evaluate(self._options, score, *others)  # which raises, unless these events take no part
            score = np.where(inside, score, low)
        scaled = (score - low) / (high - low)
        slope = ODDS * (1 + ODDS) / (1 + ODDS - scaled) ** 2
        found = evaluate(options, np.minimum(ODDS * scaled / (1 + ODDS - scaled), 1), *others)
        return self._found(found.grad * slope / (high - low), found)

    def _found(self, grad: NDArray[Any], of: Result) -> Direction:
        return Direction(grad, 0.0, 1.0, of.loss if self.unbiased else of.loss - of.bias, of.bias, of.events)

    def by_logit(self, pred: Any) -> Any:
        """How fast predictions move with their logits, for arrays of any framework."""
        return 1.0 if self.from_logits else self._slope(pred)

    def _slope(self, score: Any) -> Any:
        """How fast scores move with their logits: s (1 - s) for those from 0 to 1, 1 where they have no limits."""
        if self.score_range is None:
            return 0 * score + 1
        low, high = self.score_range
        return (score - low) * (high - score) / (high - low)

    def after(self, state: State, found: Direction) -> State:
        """What is remembered after a batch.

        The factor follows rho, by at most e while the averages forget what they knew, which damps the
        oscillations of such a controller (J. Platt and A. Barr, Constrained differential optimization,
        1987), from 1 down to where MoDe's part is as large as that of the classifier. It is no larger
        than 1, since no training that we saw needs more and many do not survive it.
        """
        wanted = self.tolerance or USUAL_TOLERANCE
        pace = min(found.events / (10 * wanted), 1.0)
        first = 1 / (state.steps + 1)
        rate = max(first, pace)

        def mean(old: float, new: float, rate: float = rate) -> float:
            return old + rate * (new - old)

        now = State(
            steps=state.steps + 1,
            norm=mean(state.norm, found.norm, max(first, _OF_NORM)),
            spread=found.spread,
            loss=mean(state.loss, found.loss),
            bias=mean(state.bias, found.bias),
            events=mean(state.events, found.events),
            square=mean(state.square, found.loss**2),
            share=(1 - rate) ** 2 * state.share + rate**2,
            factor=state.factor,
        )
        if self.tolerance is None:
            return now
        rho = now.dependence(self.tolerance).value
        moved = state.factor * math.exp(pace * max(-1.0, min(1.0, rho - 1)))
        return now._replace(factor=min(1.0, max(moved, 1 / self.relative_strength)))

    def per_norm(self, state: State) -> float:
        """What MoDe's gradient is multiplied with, over the norm of the one that comes in.

        The norm of its own is an average, so that the noise of one batch does not set the strength. Where
        the logits are nearer than 1 to each other, the network has learned nothing yet or is about to forget
        it: the same push would move events past more others, so that noise is what trains. It gets less there.
        """
        return self.relative_strength * state.factor * state.spread / state.norm if state.norm > 0 else 0.0


# The share of a batch in the average of the norm.
_OF_NORM = 1 / 200

# Of scores that are 0 or 1 in their type; their logits move no further, and what they get does not matter.
_LEAST_SLOPE = 1e-6


def _spread(score: NDArray[Any], slope: NDArray[Any], weight: NDArray[np.float64]) -> float:
    """The standard deviation of logits, by that of scores and their mean slope; at most 1."""
    share = np.abs(weight) / np.abs(weight).sum()
    of_scores, per_logit = math.sqrt(float((score - score @ share) ** 2 @ share)), float(slope @ share)
    return of_scores / per_logit if of_scores < per_logit else 1.0


def _without_squeeze(grad: NDArray[Any], score: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[Any]:
    """The gradient by the logits of background events that take part, without what would move equal scores together.

    A loss of the CDFs falls too where scores are squeezed, signal and background alike, which makes nothing
    flatter. That part is the mean gradient at a score (the derivative of the integrand J by the score, since
    sum_b f_b r_b = J'/2); it is taken out as its mean over each of eight ranges of scores with equal sums of the
    absolute weights. An event's gradient has its weight as a factor, and what is taken out of it has too: the
    mean is that of the gradient per weight.
    """
    size = np.abs(weight)
    parts = max(1, min(_PARTS, int(size.sum() ** 2 / (size @ size)) // 20))
    order = score.argsort(kind="stable")
    below = np.append(0, size[order].cumsum())
    # Equal scores are in one range, so that it does not matter whether an event is one or two of half the weight.
    place = np.searchsorted(score[order], score)
    part = np.minimum(parts * below[place] / below[-1], parts - 1).astype(int)
    sums, sizes = (np.bincount(part, values, parts) for values in (grad * np.sign(weight), size))
    per_weight = sums / np.where(sizes > 0, sizes, 1)
    result: NDArray[Any] = (grad - weight * per_weight[part]).astype(grad.dtype)
    return result


def sigmoid(logit: Any) -> Any:
    """Probabilities of logits, an array."""
    return 0.5 + 0.5 * np.tanh(0.5 * logit)


def positive(name: str, value: Any) -> float:
    """``value`` as a number; raises TypeError or ValueError for what is none, or not positive and finite."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {shown(value)}: must be a number") from None
    except OverflowError:  # an integer
        raise ValueError(f"{name} = {shown(value)}: is too large for double precision") from None
    if not (0 < number < math.inf):
        raise ValueError(f"{name} = {shown(value)}: must be positive and finite")
    return number
