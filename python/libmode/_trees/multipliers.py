"""Gradient and Hessian of cross entropy and MoDe by the margins of boosted trees: by NumPy, once for all libraries."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._constraint import either
from .._evaluate import Result, evaluate
from .._events import Events
from .._messages import shown
from .._native import BatchError
from .._options import check
from .._problems import Said
from .._read import finite, flag

ScoreTransform = Literal["odds"] | None

# The c of W(s) = c s / (1 + c - s), for scores from 0 to 1: nearly c times the odds, and finite.
_ODDS = 0.3
_TAIL = 0.02  # the c of a look at the tail, which settles last

# Where the user asks for no bins and there are many events, there are more bins than in the loss by default: each round
# sees all events, and the loss does not see what a tree does inside a bin.
_MOST_BINS, _IN_BIN = 128, 250

# A round adds the gradient to the sum over earlier rounds, divided by inertia (1 + rounds/150): 9 times the gradient in
# a whole training. With 12 times the AUC of order 0 on the simple model was 0.79, not 0.82. With 30 times the trees
# followed the noise of each event in the end: AUCs fell from 0.88 to 0.6. The first rounds add most, so that the push
# settles in time, and with early stopping even more.
_USUAL_ROUNDS, _LEAST_INERTIA = 500, 4


def pace(rounds: int, stopped: bool = False) -> dict[str, Any]:
    """The divisor of the push, with which it settles within so many rounds, and the rounds after which it slows down.

    The push is faster if early stopping waits for it.
    """
    in_all, slower_after = (12, 40) if stopped else (9, 150)
    inertia = max(slower_after / in_all * math.log1p(rounds / slower_after), _LEAST_INERTIA)
    return {"inertia": inertia, "slower_after": slower_after}


# The training looks at the dependence every so many rounds. From the 60th round on, the push has settled when two looks
# in a row see at most 0.7 of its value by chance, or ten looks at most that value. The dependence of some trainings,
# with weights of both signs for instance, stays between the two for hundreds of rounds.
_LOOK_EVERY, _FAR_BELOW, _LOOKS_FAR_BELOW, _LOOKS_BELOW, _EARLIEST = 5, 0.7, 2, 10, 60
_MARGIN = 1.3  # up to which the dependence of a training is no reason for a warning
_FEW_ROUNDS = 150  # the least number of rounds that an error advises
# The push over the step that the classifier's part of the Hessian allows in one round.
_GAIN = 20.0

_LEAST_HESS = 1e-16  # as in XGBoost

# With weights of this size, XGBoost's least gain of a split, 1e-6, corresponds to a thousandth of an event.
_SMALL_WEIGHT = 1e-3

# Small moves in standard deviations of the scores, and the least move that single precision resolves.
_SMALL, _LEAST_MOVE = 0.25, 1e-6


#: The gradient and the Hessian of an objective by the margins, of sums over the events, each of shape (n,).
Pushed = tuple[NDArray[Any], NDArray[Any]]


class Settings(NamedTuple):
    """The checked arguments of an objective, without its arrays."""

    loss_weight: float | None
    tolerance: float | None
    score_transform: ScoreTransform
    background_only: bool
    options: Mapping[str, Any]
    inertia: float = pace(_USUAL_ROUNDS)["inertia"]
    slower_after: float = pace(_USUAL_ROUNDS)["slower_after"]
    prior: float = 0.0  #: what margins have been shifted by, for classes of other weights than in the training


def checked(loss_weight: Any, tolerance: Any, score_transform: Any, background_only: Any, options: Any) -> Settings:
    """The settings of an objective; TypeError or ValueError for bad values."""
    loss_weight, tolerance = either(loss_weight, tolerance, "loss_weight")
    known = score_transform is None or isinstance(score_transform, str) and score_transform == "odds"
    if not known:  # pandas.NA is neither equal nor different
        raise ValueError(f"score_transform = {shown(score_transform)}: must be 'odds' or None")
    loss = check("mode", options)
    if loss.score_range != (0, 1):
        raise ValueError(f"score_range = {shown(options['score_range'])}: the scores of boosted trees are from 0 to 1")
    background_only = flag("background_only", background_only)
    if not background_only and loss.labels != (0,):
        raise ValueError(
            f"background_label = {shown(options['background_label'])} and background_only = False: every event takes "
            "part, leave background_label out"
        )
    return Settings(loss_weight, tolerance, score_transform, background_only, options)


#: Takes sums over the events of this worker, and returns those over the events of all.
Total = Callable[..., Any]
#: Takes scores of shape (n,), and ``grad``, ``hess``, ``loss_alone`` and ``smoothing`` as evaluate does.
Evaluation = Callable[..., Result]


class Alone:
    """The one process of a training, which has all events."""

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """For what a worker does without the others: an error of one becomes an error of all."""
        yield

    def total(self, *sums: Any) -> Any:
        """Sums over the events of all workers, from sums over the events of this one."""
        return sums

    def evaluation(self, options: Mapping[str, Any], events: Events, at: NDArray[Any], said: Said) -> Evaluation:
        """The loss of the events at these places, whose masses and weights stay."""
        for tried in (_with_bins(options, np.asarray(events.mass)[at]), options):
            own = check("mode", tried)
            try:
                evaluate(own, *events, grad=False, said=said)  # its errors name places among all events
                break
            except BatchError:  # bins that nobody asked for must not be too narrow
                if tried is options:
                    raise
        # A round evaluates only the events that take part: background alone takes half of the time.
        some = events.where(at)
        if len(own.labels) == 1:
            some = some._replace(label=None)
        return lambda score, **wanted: evaluate(own, *some._replace(score=score), said=said, **wanted)


class Boosting:
    """The objective of a training: cross entropy, and the push that keeps the background smooth in the mass."""

    loss = np.nan
    """MoDe of the last round, of the transformed scores; NaN before the first."""
    rounds = 0
    """The rounds so far in which the push grew; a fixed loss_weight has no push."""
    settled: int | None = None
    """The number of rounds after which the push had settled: a test with the training events sees no dependence.

    None before. 0 with a fixed loss_weight.
    """
    dependence = np.nan
    """The dependence of the training events on the mass at the last look, over its value by chance."""
    events = np.nan
    """The effective number of background events of the training."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.fixed = settings, settings.loss_weight is not None
        self._workers = Alone()

    def begin(self, events: Events, target: NDArray[Any]) -> None:
        """Begins a training with these events, whose label is for ``background_label``, and their targets, 0 and 1."""
        settings, self._target = self.settings, target
        self._weight, self._size = events.weight, None if events.weight is None else np.abs(events.weight)
        self._total = sum(sums_of_weights(self._target, self._weight, self._workers.total))
        mean = 1.0 if self._weight is None else mean_size(self._weight, self._workers.total)
        if mean < _SMALL_WEIGHT:
            warnings.warn(
                f"the mean absolute weight is {mean:.3g}, and trees may stop splitting: min_child_weight, "
                "min_sum_hessian_in_leaf and XGBoost's least gain of a split, 1e-6, are in units of the weights. "
                "Divide the weights by this mean",
                stacklevel=2,
            )
        labels = check("mode", settings.options).labels
        takes_part = np.ones(len(self._target), bool) if events.label is None else np.isin(events.label, labels)
        self._at = np.flatnonzero(takes_part)
        self._evaluate = self._workers.evaluation(settings.options, events, self._at, Said())
        self._sum: NDArray[Any] | float = 0.0  # the part of the push from earlier rounds
        self.loss = self.dependence = np.nan
        self.rounds = self._looks_far_below = self._looks_below = 0
        self.settled = 0 if self.fixed else None

    def derivatives(self, margin: NDArray[Any]) -> Pushed:
        """The derivatives by margins of shape (n,), log(p/(1 - p)), to which trees add."""
        margin, at = margin.astype(float) - self.settings.prior, self._at
        prob = expit(margin)  # single precision would make ties of margins above 15
        slope = expit(-margin)
        slope *= prob  # dp/dmargin
        score, first, second = self._transformed(prob[at], slope[at])
        # In place: new pages for 10^6 events would take 4 of some 20 ms outside the loss.
        grad, hess = np.subtract(prob, self._target, out=prob), slope
        if self._size is not None:
            grad *= self._weight
            hess *= self._size
        result = self._evaluate(score, hess=True, loss_alone=True)
        self.loss, seen = result.loss, result.grad
        curve = result.hess * first**2
        if self.settings.loss_weight is not None:
            scale = self.settings.loss_weight * self._total
            force = scale * seen
            curve = np.maximum(curve, self._of_small_moves(score) * first**2)
        else:
            scale, force = self._force(float(hess[at].sum(dtype=float)), curve, seen, score)
        grad[at] += (force * first).astype(grad.dtype, copy=False)
        # The scores are curved functions of the margins, too.
        hess[at] += (scale * curve + np.maximum(force * second, 0)).astype(hess.dtype, copy=False)
        return grad, np.maximum(hess, _LEAST_HESS, out=hess)

    def _of_small_moves(self, score: NDArray[Any]) -> NDArray[Any] | float:
        """The bound of the curvature for moves as small as the scores' spread, which keeps scores from jumping."""
        count, total = self._workers.total(len(score), score.sum(dtype=float))
        (squares,) = self._workers.total(((score - total / count) ** 2).sum(dtype=float))
        size = float(np.sqrt(squares / count)) * _SMALL
        if size <= _LEAST_MOVE:
            return 0.0
        return np.asarray(self._evaluate(score, grad=False, hess=True, loss_alone=True, smoothing=size).hess)

    def _force(
        self, of_classifier: float, curve: NDArray[Any], seen: NDArray[Any], score: NDArray[Any]
    ) -> tuple[float, NDArray[Any]]:
        """The factor of the bound of the curvature, and the gradient that pushes the scores: docs/trees.md.

        A fixed loss_weight that flattens as much would need small steps, and the classifier could not learn.
        """
        of_classifier, of_mode = self._workers.total(of_classifier, curve.sum(dtype=float))
        if not of_mode > 0:  # all scores are equal
            return 0.0, np.zeros_like(seen)
        scale = float(of_classifier / of_mode)
        now = _GAIN * scale * seen
        tolerance = self.settings.tolerance
        if tolerance is None or not self._dependence(score) * tolerance <= self.events:  # true for NaN
            slower = 1 + self.rounds / self.settings.slower_after
            self._sum = self._sum + now / (self.settings.inertia * slower)
        self.rounds += 1
        if self.rounds % _LOOK_EVERY == 0:
            self._look(score, tolerance)
        return scale, now + self._sum

    def _dependence(self, score: NDArray[Any]) -> float:
        """The plain loss over its mean by chance; trees that know the training events by heart are below 1."""
        result = self._evaluate(score, grad=False)
        plain = result.loss + result.bias if self.settings.options.get("unbiased", True) else result.loss
        self.events = result.events
        return plain / result.bias if result.bias > 0 else np.nan

    def _look(self, score: NDArray[Any], tolerance: float | None) -> None:
        """Notes whether the push has settled: a test with these events, or ``tolerance`` events, sees no dependence."""
        self.dependence = self._dependence(score)
        by_tolerance = 0.0 if tolerance is None else self.events / tolerance
        far_below, below = max(_FAR_BELOW, by_tolerance), max(1.0, by_tolerance)
        if self.dependence <= below and self.settings.score_transform:
            prob = score * (1 + _ODDS) / (_ODDS + score)
            tail = np.minimum(_TAIL * prob / (1 + _TAIL - prob), 1)
            self.dependence = max(self.dependence, self._dependence(tail))
        self._looks_far_below = self._looks_far_below + 1 if self.dependence <= far_below else 0
        self._looks_below = self._looks_below + 1 if self.dependence <= below else 0
        enough = self._looks_far_below >= _LOOKS_FAR_BELOW or self._looks_below >= _LOOKS_BELOW
        if self.settled is None and enough and self.rounds >= _EARLIEST:
            self.settled = self.rounds

    def unsettled(self) -> str | None:
        """A sentence if the push has not settled, or if the training depends on the mass again; None otherwise."""
        allowed = 1.0 if self.settings.tolerance is None else max(1.0, self.events / self.settings.tolerance)
        if self.dependence <= _MARGIN * allowed:
            return None
        seen = f"the background of the training depends on the mass {self.dependence:.2f} times as much as by chance"
        rounds = f"Give about {max(_FEW_ROUNDS, 2 * self.rounds)} rounds"
        if self.settled is not None:
            if math.isnan(self.dependence):  # of a fixed loss_weight
                return None
            return f"the push had settled by round {self.settled}, but in round {self.rounds} {seen} again. {rounds}"
        if math.isnan(self.dependence):
            seen = "the dependence of the training on the mass is not known"
        return f"the push has not settled in {self.rounds} rounds: {seen}. {rounds}"

    def _transformed(self, prob: NDArray[Any], slope: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The scores that the loss sees, with their first and second derivatives by the margin."""
        if self.settings.score_transform is None:
            return prob, slope, slope * (1 - 2 * prob)
        rest = 1 + _ODDS - prob
        by_prob = _ODDS * (1 + _ODDS) / rest**2
        first = by_prob * slope
        return np.minimum(_ODDS * prob / rest, 1), first, first * (1 - 2 * prob + 2 * slope / rest)


def _with_bins(options: Mapping[str, Any], mass: NDArray[Any]) -> dict[str, Any]:
    """The options, with a number of bins for background events of these masses if the options leave the bins open."""
    has_bins = options.get("bins") is not None or options.get("edges") is not None or bool(options.get("joint", False))
    mass_range = options.get("mass_range")
    ranges = [mass_range] if mass_range is None or np.isscalar(mass_range[0]) else mass_range
    low, high = np.array([(-np.inf, np.inf) if one is None else one for one in ranges], float).T
    columns = np.atleast_2d(mass.T).T  # also of no events, of which evaluate has an error
    inside = ((columns >= low) & (columns <= high)).sum(axis=0)
    more = min(_MOST_BINS, int(inside.min()) // _IN_BIN)
    if has_bins or options.get("binning", "quantile") != "quantile" or more <= 32:
        return dict(options)
    return {**options, "bins": more}


def mean_size(weight: NDArray[Any], total: Total = lambda *sums: sums) -> float:
    """The mean of abs(w) over the events with a weight other than 0; the mean of w could be 0 or negative."""
    size, count = total(np.abs(weight).sum(dtype=float), np.count_nonzero(weight))
    return float(size) / float(count)


def refuse_missing(mass: NDArray[Any], at: NDArray[Any], options: Mapping[str, Any]) -> None:
    """ValueError for the first mass at these places that is missing, if none may be."""
    known = np.isfinite(mass[at]).all(axis=tuple(range(1, np.ndim(mass))))
    if not known.all() and options.get("missing", "error") == "error":
        place = at[int(np.argmin(known))]
        raise ValueError(
            f"mass[{place}] = {mass[place]}: every mass must be finite; leave such events out, or give "
            'missing="ignore" and NaN for a missing mass'
        )


def targets(label: Any) -> NDArray[np.float32]:
    """Labels as numbers 0 and 1; raises ValueError for others, with the first of them."""
    labels = np.asarray(label)
    bad = np.flatnonzero((labels != 0) & (labels != 1))
    if len(bad):
        raise ValueError(f"label[{bad[0]}] = {labels[bad[0]]}: must be 1 for signal or 0 for background")
    return labels.astype(np.float32)


def sums_of_weights(
    target: NDArray[Any], weight: NDArray[Any] | None, total: Total = lambda *sums: sums
) -> tuple[float, float]:
    """The sums over background and signal; ValueError if a weight is not finite or a sum is not positive."""
    if weight is not None:
        finite("weight", weight)
    chosen = [target == label for label in (0, 1)]
    counts = total(*map(np.count_nonzero, chosen))
    sums = counts if weight is None else total(*(weight.sum(where=of, dtype=float) for of in chosen))
    for label, name in enumerate(("background", "signal")):
        if counts[label] == 0:
            raise ValueError(
                f"none of the {int(sum(counts))} events is {name} (label {label}): both classes are needed"
            )
        if not sums[label] > 0:
            raise ValueError(f"the weights of the class of {name} sum to {float(sums[label]):g}: must be positive")
    return float(sums[0]), float(sums[1])
