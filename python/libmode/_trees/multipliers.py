"""Gradient and Hessian of cross entropy and MoDe by the margins of boosted trees: by NumPy, once for all libraries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .._evaluate import NUMPY, derivatives
from .._events import Events
from .._messages import shown
from .._native import BatchError
from .._options import Options, check
from .._problems import Said
from .._read import each_of, finite, flag
from ..metrics._judge import Check, Judge

# MoDe is applied to W(s) = c s / (1 + c - s) of scores from 0 to 1, about c times the odds, and finite: so tight cuts
# count more.
_ODDS = 0.3
_TAIL = 0.02  # the c of a look at the tail, which settles last

# Where the user asks for no bins and there are many events, there are more bins than in the loss by default: each round
# sees all events, and the loss does not see what a tree does inside a bin.
_MOST_BINS, _IN_BIN = 128, 250

# A round adds the gradient to the sum over earlier rounds, divided by inertia (1 + rounds/150): 9 times the gradient in
# a whole training. With 12 times the AUC of order 0 on the simple model was 0.79, not 0.82. With 30 times the trees
# followed the noise of each event in the end: AUCs fell from 0.88 to 0.6. The first rounds add most, so that the push
# settles in time, and even more if early stopping waits for it.
_USUAL, _STOPPED, _LEAST_INERTIA = (9, 150), (12, 40), 4

# The training looks at the dependence every so many rounds. From the 60th round on, the push has settled when two looks
# in a row see at most 0.7 of its value by chance, or ten looks at most that value. The dependence of some trainings,
# with weights of both signs for instance, stays between the two for hundreds of rounds.
_LOOK_EVERY, _FAR_BELOW, _LOOKS_FAR_BELOW, _LOOKS_BELOW, _EARLIEST = 5, 0.7, 2, 10, 60
_MARGIN = 1.3  # up to which the dependence of a training is no reason for a warning
_FEW_ROUNDS = 150  # the least number of rounds that an error advises
# The push over the step that the classifier's part of the Hessian allows in one round.
_GAIN = 20.0

_LEAST_HESS = 1e-16  # as in XGBoost


class Settings(NamedTuple):
    """The checked arguments of an objective, without its arrays."""

    background_only: bool
    given: Mapping[str, Any]  #: options of the loss
    of_check: Any = None  #: the arguments of check, if events judge the training
    rounds: int = 500  #: within which the push settles
    stopped: bool = False  #: whether early stopping waits for the push
    prior: float = 0.0  #: what margins have been shifted by, for classes of other weights than in the training

    @property
    def options(self) -> Options:
        """All options of the loss."""
        return check("mode", self.given)

    def taking_part(self, events: Events) -> NDArray[np.bool_]:
        """A mask of the events that the loss sees, all of them without labels."""
        if events.label is None:
            return np.ones(len(events.score), bool)
        return np.isin(events.label, self.options.labels)

    def judge(self, events: Events) -> Judge:
        """The judge of events, which are all background if the loss sees all of them."""
        label = events.label if self.background_only else None
        return Judge(self.of_check, label, events.mass, events.weight, events.category)


def checked(background_only: Any, options: Mapping[str, Any]) -> Settings:
    """The settings of an objective; TypeError or ValueError for bad values."""
    loss = check("mode", options)
    if loss.values["score_range"] != (0, 1):
        raise ValueError(f"score_range = {loss.values['score_range']}: the scores of boosted trees are from 0 to 1")
    background_only = flag("background_only", background_only)
    if not background_only and loss.labels != (0,):
        raise ValueError(
            f"background_label = {shown(options['background_label'])} and background_only = False: every event takes "
            "part, leave background_label out"
        )
    return Settings(background_only, options)


class Boosting:
    """The objective of a training: cross entropy, and the push that keeps the background smooth in the mass."""

    loss = np.nan  #: MoDe of the last round, of the scores W(s); NaN before the first
    rounds = 0  #: in which the push grew, so far
    settled: int | None = None  #: the rounds after which a test with the training events saw no dependence
    dependence = np.nan  #: of the training events on the mass at the last look, over its value by chance

    def __init__(self, settings: Settings, events: Events | None = None) -> None:
        self.settings = settings
        if events is not None:
            self._begin(events)

    def _begin(self, events: Events) -> None:
        """Begins a training with these events: targets 0 and 1 as scores, and labels unless all of them take part."""
        self._target, self._weight = events.score, events.weight
        self._total = sum(sums_of_weights(events.score, events.weight))
        self._at, self._said = np.flatnonzero(self.settings.taking_part(events)), Said()
        asked = self.settings.options
        for options in (_with_bins(asked, events.mass[self._at]), asked):
            self._options = options
            try:
                derivatives(options, events, NUMPY, self._said, grad=False)  # its errors name places of all
                break
            except BatchError:  # bins that nobody asked for must not be too narrow
                if options is asked:
                    raise
        # A round evaluates only the events that take part: background alone takes half of the time.
        self._seen = events.where(self._at)
        if len(self._options.labels) == 1:
            self._seen = self._seen._replace(label=None)
        in_all, self._slower_after = _STOPPED if self.settings.stopped else _USUAL
        self._inertia = max(
            self._slower_after / in_all * math.log1p(self.settings.rounds / self._slower_after), _LEAST_INERTIA
        )
        self._sum: NDArray[Any] | float = 0.0  # the part of the push from earlier rounds
        self.loss = self.dependence = np.nan
        self.rounds = self._looks_far_below = self._looks_below = 0
        self.settled = None

    def _mode(self, score: NDArray[Any], **wanted: Any) -> tuple[Any, Any, Any]:
        """The loss of the events that take part, its gradient and its bound of the curvature by the scores."""
        return derivatives(self._options, self._seen._replace(score=score), NUMPY, self._said, **wanted)

    def __call__(self, margin: NDArray[Any], data: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """The first and second derivatives, (n,), by margins (n,), log(p/(1 - p)), to which trees add."""
        finite("margin", margin, "a finite number; the training diverged, and a lower learning rate may help")
        margin, at = margin.astype(float) - self.settings.prior, self._at
        prob = expit(margin)  # single precision would make ties of margins above 15
        slope = expit(-margin)
        slope *= prob  # dp/dmargin
        score, first, second = _transformed(prob[at], slope[at])
        # In place: new pages for 10^6 events would take 4 of some 20 ms outside the loss.
        grad, hess = np.subtract(prob, self._target, out=prob), slope
        if self._weight is not None:
            grad *= self._weight
            hess *= np.abs(self._weight)
        result, seen, curve = self._mode(score, hess=True)
        self.loss, curve = result.loss, curve * first**2
        scale, force = self._force(float(hess[at].sum() / curve.sum()) if curve.any() else 0.0, seen, score)
        grad[at] += (force * first).astype(grad.dtype, copy=False)
        # The scores are curved functions of the margins, too.
        hess[at] += (scale * curve + np.maximum(force * second, 0)).astype(hess.dtype, copy=False)
        return grad, np.maximum(hess, _LEAST_HESS, out=hess)

    def _force(self, scale: float, seen: NDArray[Any], score: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """The factor of the bound of the curvature, and the gradient that pushes the scores: docs/trees.md.

        A fixed factor of the loss that flattens as much would need small steps, and the classifier could not learn.
        """
        if not scale > 0:  # all scores are equal
            return 0.0, np.zeros_like(seen)
        now = _GAIN * scale * seen
        self._sum = self._sum + now / (self._inertia * (1 + self.rounds / self._slower_after))
        self.rounds += 1
        if self.rounds % _LOOK_EVERY == 0:
            self._look(score)
        return scale, now + self._sum

    def _dependence(self, score: NDArray[Any]) -> float:
        """The plain loss over its mean by chance; trees that know the training events by heart are below 1."""
        result, *_ = self._mode(score, grad=False, quality=True)
        plain = result.loss + result.bias if self._options.values["unbiased"] else result.loss
        return plain / result.bias if result.bias > 0 else np.nan

    def _look(self, score: NDArray[Any]) -> None:
        """Notes whether the push has settled: a test with these events sees no dependence."""
        self.dependence = self._dependence(score)
        if self.dependence <= 1:
            prob = score * (1 + _ODDS) / (_ODDS + score)
            tail = np.minimum(_TAIL * prob / (1 + _TAIL - prob), 1)
            self.dependence = max(self.dependence, self._dependence(tail))
        self._looks_far_below = self._looks_far_below + 1 if self.dependence <= _FAR_BELOW else 0
        self._looks_below = self._looks_below + 1 if self.dependence <= 1 else 0
        enough = self._looks_far_below >= _LOOKS_FAR_BELOW or self._looks_below >= _LOOKS_BELOW
        if self.settled is None and enough and self.rounds >= _EARLIEST:
            self.settled = self.rounds


def _transformed(prob: NDArray[Any], slope: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The scores W(p) that the loss sees, with their first and second derivatives by the margin."""
    rest = 1 + _ODDS - prob
    first = _ODDS * (1 + _ODDS) / rest**2 * slope
    return np.minimum(_ODDS * prob / rest, 1), first, first * (1 - 2 * prob + 2 * slope / rest)


def unsettled(of: Boosting) -> str | None:
    """A sentence if the push has not settled, or if the training depends on the mass again; None otherwise."""
    if of.dependence <= _MARGIN:
        return None
    seen = f"the background of the training depends on the mass {of.dependence:.2f} times as much as by chance"
    rounds = f"Give about {max(_FEW_ROUNDS, 2 * of.rounds)} rounds"
    if of.settled is not None:
        return f"the push had settled by round {of.settled}, but in round {of.rounds} {seen} again. {rounds}"
    if math.isnan(of.dependence):
        seen = "the dependence of the training on the mass is not known"
    return f"the push has not settled in {of.rounds} rounds: {seen}. {rounds}"


def _with_bins(options: Options, mass: NDArray[Any]) -> Options:
    """The options, with a number of bins for background events of these masses if the options leave the bins open."""
    values = options.values
    low, high = np.array([one or (-np.inf, np.inf) for one in each_of(values["mass_range"])]).T
    columns = np.atleast_2d(mass.T).T  # also of no events, of which evaluate has an error
    inside = ((columns >= low) & (columns <= high)).sum(axis=0)
    more = min(_MOST_BINS, int(inside.min()) // _IN_BIN)
    if values["bins"] or values["edges"] or values["joint"] or values["binning"] != "quantile" or more <= 32:
        return options
    return options.changed(bins=more)


def refuse_missing(mass: NDArray[Any], options: Options) -> None:
    """ValueError for the first mass that is missing, if none may be."""
    if options.values["missing"] == "error":
        advice = 'a finite number; leave such events out, or give missing="ignore" and NaN for a missing mass'
        finite("mass", mass, advice)


def sums_of_weights(target: NDArray[Any], weight: NDArray[Any] | None, said: str = "") -> tuple[float, float]:
    """The sums over background and signal; ValueError if a weight is not finite or a sum is not positive."""
    if weight is not None:
        finite("weight", weight)
    sums = []
    for label, name in enumerate(("background", "signal")):
        of = target == label
        if not of.any():
            raise ValueError(f"{said}none of the {len(target)} events is {name} (label {label}): both are needed")
        sums.append(float(np.count_nonzero(of) if weight is None else weight.sum(where=of, dtype=float)))
        if not sums[label] > 0:
            raise ValueError(f"{said}the weights of the class of {name} sum to {sums[label]:g}: must be positive")
    return sums[0], sums[1]


_MOST = 50_000  # the most events that are judged in a round, in some 30 ms


class Watched:
    """An evaluation set; ``by_sensitivity`` says whether the sensitivity, or else the logloss, stops the training."""

    def __init__(self, settings: Settings, events: Events, by_sensitivity: bool) -> None:
        self._settings, self._events, self._by_sensitivity = settings, events, by_sensitivity
        self._some: Any = slice(None)
        if (count := len(events.score)) > _MOST:
            self._some = np.random.default_rng(0).choice(count, _MOST, replace=False)

    @cached_property
    def _judge(self) -> Judge:
        return self._settings.judge(self._events.where(self._some))

    def values(self, margin: NDArray[Any]) -> list[tuple[str, float]]:
        """Pairs (name, value) for margins of shape (n,); smaller is better, and the last one stops the training."""
        self._margin, events = margin.astype(float), self._events
        self._check: Check | None = None
        losses = np.logaddexp(0, self._margin) - events.label * self._margin
        values = [("logloss", float(np.average(losses, weights=events.weight)))]
        if self._by_sensitivity:
            best = self.check().sensitivity
            values.append(("inverse_sensitivity", 1 / best if best > 0 else 1.0))  # unknown: as without a selection
        self.latest = values[-1][1]
        return values

    def check(self) -> Check:
        """The check of these events, or of some of them, after the last round."""
        if self._check is None:
            self._check = self._judge(self._margin[self._some])
        return self._check


class Stopping:
    """Stops when the last value of an evaluation set has not fallen for ``patience`` rounds.

    Rounds count after the push has settled. A round that is not flat counts only if no round is flat.
    """

    def __init__(self, patience: int, objective: Boosting, watched: Watched) -> None:
        self._patience, self._objective, self._watched = patience, objective, watched
        self.best: int | None = None
        self._is_flat, self._least = False, np.inf

    def over(self, iteration: int) -> bool:
        """Whether to stop after a round."""
        if self._objective.settled is None:
            return False
        value = self._watched.latest
        if value < self._least or not self._is_flat:
            is_flat = self._watched.check().flat is not False
            if self.best is None or is_flat > self._is_flat or is_flat == self._is_flat and value < self._least:
                self.best, self._is_flat, self._least = iteration, is_flat, value
        return self.best is not None and iteration - self.best >= self._patience
