"""What goes wrong in a training without an error: each problem with its test and its sentence, and when it is said."""

from __future__ import annotations

import logging
import math
import sys
import warnings
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._events import Events
from ._messages import level_of_the_user, line_of_the_user
from ._read import is_background

if TYPE_CHECKING:
    from ._constraint import Constraint, Rho, State
    from ._convergence import Convergence
    from ._native import ModePushed
    from ._options import Options

EVERY = 20  # calls from one look to the next
PATIENCE = 5  # looks in a row with the same problem before the warning
MOST_WAITING = 20  # calls without a backward pass
LEAST_SPREAD = 0.01  # standard deviation of the logits of scores
LEAST_AUC = 0.014  # distance from 0.5, as for two Gaussians 0.05 standard deviations apart
LEAST_EVENTS = 10  # in a bin
LARGEST_LOGIT = 500.0  # in trainings that become flat, logits stay below 100
OTHER_GRADIENT = 0.1  # relative spread of gradient over score, which is constant for a binary cross entropy
_LEAST_SCORE = 1e-3  # the gradients of smaller scores may be rounded
_RATE = EVERY / 200  # the share of a look in the averages of the AUC, and of the events that pass a cut
_SIGNIFICANT = 5.0  # errors of a fall of the AUC
_LAST_RANK = 0.5  # background event above the last cut that the ranks of a batch reach: the highest rank is 1 - 1/(2n)
# Before so many batches and background events an evaluation may lie between the first epochs.
FEWEST_BATCHES, FEWEST_EVENTS = 300, 100_000
USUAL_TOLERANCE = 100_000.0  #: the background events of a later test, for rho without a tolerance
_EPOCHS = 1.5  # of the first evaluation of a training that is not evaluated after each epoch

_LOG = logging.getLogger("libmode")
_LOG_ODDS = "If the score is one logit of a softmax, give the layer all of them instead, shape (n, k)"


class TrainingWarning(UserWarning):
    """A training goes wrong without an error.

    Examples
    --------
    >>> import warnings
    >>> import torch
    >>> from libmode import TrainingWarning
    >>> from libmode.torch import MoDeLoss
    >>> warnings.simplefilter("error", TrainingWarning)  # now it ends the training
    >>> mode, label, mass = MoDeLoss(order=0), torch.zeros(100), torch.rand(100)
    >>> for step in range(100):
    ...     loss = mode(torch.full((100,), 0.5), label, mass)
    Traceback (most recent call last):
        ...
    libmode.TrainingWarning: the scores of a batch are nearly equal (mean 0.5, standard deviation ...
    """

    __module__ = "libmode"  # the name by which it is imported, and so printed


class Problem(NamedTuple):
    """A test of what a look at a batch, or at a training, has found, and its sentence, with the facts as f."""

    test: Callable[[Any], bool]
    sentence: str


# Of a batch: said if they last for PATIENCE looks.
OF_A_BATCH = {
    "collapsed": Problem(
        lambda f: f.collapsed,
        "the scores of a batch are nearly equal (mean {f.mean:.3g}, standard deviation {f.spread:.1e}): the network "
        "has collapsed to a constant. Lower the strength or the learning rate, or give reference events",
    ),
    "given up": Problem(
        lambda f: not f.collapsed and abs(f.auc - 0.5) < LEAST_AUC,
        "signal and background have the same scores (signal has the higher one in {f.auc:.1%} of the pairs): the "
        "classifier has stopped separating them, and the cross entropy of equal classes is 0.693 = ln 2. Lower the "
        f"strength or the learning rate. {_LOG_ODDS}",
    ),
    "signal lost": Problem(
        lambda f: f.best - f.now > max(0.5 * f.best, _SIGNIFICANT * f.error),
        "the AUC of the batches has fallen from {f.highest:.3f} to {f.lower:.3f}. If only the mass separates the "
        "signal, this is the price of flatness; otherwise lower the strength or the learning rate{f.tolerance} or "
        f"raise the order. {_LOG_ODDS}",
    ),
    "inactive": Problem(
        lambda f: bool(f.inactive) and not f.collapsed,
        f"the constraint has done nothing for {EVERY * PATIENCE} batches: {{f.inactive}}",
    ),
    "few events": Problem(
        lambda f: f.per_bin < LEAST_EVENTS,
        "{f.bins} bins have {f.per_bin:.3g} background events each: the loss of a batch is noise. Give fewer bins, or "
        "leave bins out (libmode then chooses their number by the events), larger batches or reference events",
    ),
    "bias": Problem(
        lambda f: not f.unbiased and f.bias > f.loss,
        "the plain loss of a batch is {f.plain:.2e}, of which {f.bias:.2e} is the noise of a finite batch: training on "
        "it squeezes the scores. Leave out unbiased=False, or use larger batches",
    ),
    "logits": Problem(
        lambda f: max(-f.low, f.high) > LARGEST_LOGIT,
        "the logits of background in a batch reach from {f.low:.4g} to {f.high:.4g}: they run away. Lower the learning "
        "rate, give the loss weights with a mean of 1, or scale the inputs",
    ),
    "softmax": Problem(
        lambda f: f.of_gradient > OTHER_GRADIENT,
        "one of several logits is constrained, and your loss is no binary cross entropy of it: a selection by a "
        "softmax depends on the other logits, which nothing keeps flat. Give the layer all logits, shape (n, k), z = "
        "constraint(z, label, mass), or the log odds of signal, z[:, 1] - z[:, 0] for two classes",
    ),
}
# One logit of a softmax makes these too. A high rate at the start of a training makes them for some 200 batches.
_BY_ONE_LOGIT, _LONG = ("given up", "signal lost"), 3 * PATIENCE

_FEW = "few of a category"  # said beside other things

# Of a training: the first that is found is said.
AT_THE_END = {
    _FEW: Problem(
        lambda f: f.few is not None,
        "{f.few[0]:.0f} of {f.training.batches} batches had events enough of category {f.few[1]} of background label "
        "{f.few[2]} for bins, and nothing keeps it flat in the others. Use larger batches, give reference events, or "
        "let it share a category",
    ),
    "evaluation": Problem(
        lambda f: f.evaluated.flat is False and f.training.flat is True,
        "the response to background is flat in training mode and not in evaluation mode: {f.evaluated}. Lower the "
        "dropout, or train the last epochs without it and with BatchNorm in evaluation mode",
    ),
    "not flat": Problem(
        lambda f: f.judged.flat is False,
        "the response to background is not flat: {f.judged}. Train for more batches, at a learning rate that falls to "
        "0 in the end; a training that goes on needs the state of the layer too",
    ),
    "tight cut": Problem(
        lambda f: f.passing + 2 * math.sqrt(f.passing * _RATE) < _LAST_RANK,
        "batches do not reach a cut that keeps half of the signal: {f.passing:.2g} of the background events of a batch "
        "pass it. The layer sees ranks within a batch, and the response to so tight a cut may not be flat. Give "
        "reference events, or larger batches",
    ),
    "zero": Problem(
        lambda f: f.judged.zero is not None,
        "the dependence that the order allows reaches 0 near the mass {f.judged.zero[0]:.4g}, at a background "
        "efficiency of {f.judged.zero[1]:.2g}: nothing controls the response there. Give max_slope, a lower order or a "
        "mass_range that ends before",
    ),
    "peak": Problem(
        lambda f: f.judged.peak is not None,
        "the selected spectrum has a maximum near the mass {f.judged.peak[0]:.4g} that the spectrum before has not, at "
        "a background efficiency of {f.judged.peak[1]:.2g}: the order allows it. Lower the order, or give max_slope, "
        "unless your fit absorbs it",
    ),
}


class Said:
    """The warnings of one object: each thing once."""

    def __init__(self) -> None:
        self._calls, self._things = 0, set[str]()

    def due(self, thing: str) -> bool:
        """Counts a call. Returns whether it should look for this thing: a look takes up to a fifth of a loss."""
        self._calls += 1
        return thing not in self._things and (self._calls <= 10 or self._calls % EVERY == 0)

    def has_said(self, thing: str) -> bool:
        """Whether it has warned of this thing before."""
        return thing in self._things

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        """Warns, unless it has warned of this thing before."""
        if thing not in self._things:
            self._things.add(thing)
            warnings.warn(sentence, category, stacklevel=level_of_the_user())


class _InLines(Said):
    """The warnings of functions: each thing once for a line of the program, until the filters of warnings change."""

    def __init__(self) -> None:
        self._filters: dict[tuple[str, str, int], Any] = {}

    def due(self, thing: str) -> bool:
        return True

    def has_said(self, thing: str) -> bool:
        return False

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        level = level_of_the_user()
        frame = sys._getframe(level - 1)
        line, filters = (thing, frame.f_code.co_filename, frame.f_lineno), warnings.filters
        before, content = self._filters.get(line, (None, None))
        if before is not filters or content != list(filters):
            self._filters[line] = filters, list(filters)
            warnings.warn(sentence, category, stacklevel=level)


IN_LINES = _InLines()


class Monitor:
    """Looks at every twentieth batch, and warns once of each problem."""

    def __init__(self, of_loss: bool = False) -> None:
        self._tolerance = "" if of_loss else ", give MoDeConstraint a tolerance,"
        self.where: tuple[str, int] | None = None  # the line of the last call, for a warning that no line causes
        self.calls = 0
        self._in_a_row: dict[str, int] = {}
        self._said: set[str] = set()
        self._looks, self._auc, self._variance = 0, 0.0, 0.0
        self._best, self._best_variance = 0.0, 0.0

    def due(self) -> bool:
        """Counts a call. Returns whether to look at it."""
        self.calls += 1
        return self.calls % EVERY == 0

    def look(
        self,
        score: NDArray[Any],
        background: NDArray[np.bool_] | None,
        *,
        loss: float,
        bias: float,
        events: float,
        bins: int | None,
        unbiased: bool,
        inactive: str = "",
    ) -> None:
        """Looks at scores, (n,), with a mask of background (None if unknown), and at their unbiased loss and bias.

        ``unbiased`` and ``bins`` are options, and ``inactive`` is the reason why a constraint does nothing.
        """
        if score.itemsize < 4:
            score = score.astype(np.float32)
        mean, spread = float(score.mean(dtype=np.float64)), float(score.std(dtype=np.float64))
        slope = mean * (1 - mean) if score.min() >= 0 and score.max() <= 1 else 1.0
        of_scores = {"mean": mean, "spread": spread, "collapsed": spread < LEAST_SPREAD * slope}
        of_loss = {"loss": loss, "bias": bias, "plain": loss + bias, "unbiased": unbiased}
        of_bins = {"bins": bins, "per_bin": events / bins if bins else math.inf}
        self.watch("collapsed", "inactive", "few events", "bias", inactive=inactive, **of_scores, **of_loss, **of_bins)
        if background is not None and 0 < np.count_nonzero(background) < len(score):
            self._watch_auc(*_auc(score, background), bool(of_scores["collapsed"]))

    def _watch_auc(self, auc: float, variance: float, collapsed: bool) -> None:
        """Watches for an AUC of 0.5, and for the loss of half of the highest AUC above 0.5."""
        self._looks += 1
        rate = max(1 / self._looks, _RATE)
        self._auc += rate * (auc - self._auc)
        self._variance = (1 - rate) ** 2 * self._variance + rate**2 * variance
        now = abs(self._auc - 0.5)  # signal can have the lower scores
        if self._looks >= PATIENCE and now > self._best:
            self._best, self._best_variance = now, self._variance
        facts: dict[str, Any] = {"best": self._best, "now": now, "highest": 0.5 + self._best, "lower": 0.5 + now}
        facts["tolerance"] = self._tolerance
        error = math.sqrt(self._variance + self._best_variance)
        self.watch(*_BY_ONE_LOGIT, auc=auc, collapsed=collapsed, error=error, **facts)

    def watch(self, *problems: str, **seen: Any) -> None:
        """Warns of each of these problems that has lasted for PATIENCE looks in a row."""
        facts = SimpleNamespace(**seen)
        for what in problems:
            problem = OF_A_BATCH[what]
            self._in_a_row[what] = self._in_a_row.get(what, 0) + 1 if problem.test(facts) else 0
            if self._in_a_row[what] >= (_LONG if what in _BY_ONE_LOGIT else PATIENCE):
                self.say(what, problem.sentence.format(f=facts))

    def say(self, what: str, sentence: str) -> None:
        """Warns, once."""
        if what not in self._said and not (what in _BY_ONE_LOGIT and "softmax" in self._said):
            self._said.add(what)
            sentence += ". (monitor=False turns such warnings off.)"
            if self.where is None:
                warnings.warn(sentence, TrainingWarning, stacklevel=level_of_the_user())
            else:
                warnings.warn_explicit(sentence, TrainingWarning, *self.where)


def _auc(score: NDArray[Any], background: NDArray[np.bool_]) -> tuple[float, float]:
    """The area under the ROC curve, by the mean rank of the signal, and its variance without separation."""
    ordered, signal = np.sort(score[background]), np.sort(score[~background])  # searchsorted is faster on these
    below = np.searchsorted(ordered, signal).sum() + np.searchsorted(ordered, signal, "right").sum()
    n, m = len(ordered), len(signal)
    return float(below) / (2 * n * m), (n + m + 1) / (12 * n * m)


def look(monitor: Monitor, constraint: Constraint, events: Events, pushed: ModePushed, scale: float = math.nan) -> None:
    """Lets the monitor look at the arrays of a batch with its reference events; a scale of NaN is unknown."""
    inactive = ""
    if not pushed.push.any():
        inactive = "its push is 0, as with no more bins than order + 1, through which every response can be fitted"
    elif scale == 0:
        inactive = "its push is scaled by the gradient of your loss by the background, which is 0"
    monitor.look(
        constraint.scores(events.score),
        None if events.label is None else is_background(events.label, constraint.labels),
        loss=pushed.loss,
        bias=pushed.bias,
        events=pushed.events,
        bins=constraint.bins,
        unbiased=constraint.unbiased,
        inactive=inactive,
    )


class Learns:
    """The part of a layer that reports its state."""

    if TYPE_CHECKING:  # get_type_hints of a layer could not find them: _constraint imports this file
        _constraint: Constraint
        _statement: Statement | None
        _state: Callable[[], State]

    @property
    def dependence(self) -> Rho:
        """rho and its error; NaN before the first batch."""
        return self._state().dependence(self._constraint.tolerance or USUAL_TOLERANCE)

    @property
    def convergence(self) -> Convergence:
        """What the batches, or later ones in evaluation mode, show of the response at each cut."""
        training = self._constraint.verdict(self._state().memory())
        evaluated = None if self._statement is None else self._statement.evaluated()
        return training if evaluated is None or evaluated.flat is None else evaluated


class Statement:
    """Follows the training and the evaluation of one constraint, and says its problem at the end."""

    def __init__(self, monitor: Monitor, constraint: Constraint) -> None:
        self._owner = 0  # id of the layer whose end makes the statement; a copy of the layer has another id
        self._monitor, self._constraint = monitor, constraint
        self._state: NDArray[np.float64] | None = None
        self._called_at = ("libmode", 0)
        self._evaluated = constraint.start()
        # An evaluation after which the training goes on is one of the loop over epochs.
        self._evaluations, self._evaluated_at, self._loop, self._ended = 0, 0, False, False
        self._looks, self._passing = 0, np.zeros(len(constraint.labels))

    def see(self, events: Events, slope: NDArray[Any], state: NDArray[np.float64], owner: object) -> None:
        """Takes note of a batch and of the state after it; ``slope`` is 0 for events that get no push."""
        self._state = state
        self._called_at = line_of_the_user()
        if self._owner != id(owner):
            self._owner = id(owner)
            weakref.finalize(owner, self._say_at_the_end)
        if events.label is not None:
            self._see_tight_cut(events, ~is_background(events.label, self._constraint.labels))
        logits = events.score[: len(slope)][slope != 0]
        if self._constraint.from_logits and len(logits):
            self._monitor.watch("logits", low=float(logits.min()), high=float(logits.max()))

    def _see_tight_cut(self, events: Events, signal: NDArray[np.bool_]) -> None:
        """Averages the number of background events of a batch that pass a cut with a signal efficiency of one half."""
        if signal.any():
            passes = events.score >= np.median(events.score[signal])
            passing = [np.count_nonzero(passes & (events.label == label)) for label in self._constraint.labels]
            self._looks += 1
            self._passing += max(1 / self._looks, _RATE / 2) * (passing - self._passing)

    def trains(self) -> None:
        """The training goes on, and changes the network that was evaluated."""
        self._ended, self._evaluated = False, self._constraint.start()

    def ends(self, after_training: bool = True) -> None:
        """Says the problem, unless this evaluation looks like one between epochs.

        after_training : whether the layer was in training mode, as after a loop that puts it back
        """
        training = None if self._state is None else self._constraint.verdict(self._state)
        if training is None:
            return
        fresh, self._evaluated_at = self._monitor.calls > self._evaluated_at, self._monitor.calls
        self._loop = self._loop or (fresh and self._evaluations > 0)
        between, again = self._loop and fresh, self._loop and after_training
        epochs = training.events / training.training_events if training.training_events else math.nan
        enough = training.batches >= FEWEST_BATCHES and training.events >= FEWEST_EVENTS and not epochs < _EPOCHS
        self._ended = not between and (enough or again or (self._evaluations == 0 and epochs >= _EPOCHS))
        self._evaluations += 1
        if self._ended:
            self.say()

    def evaluated(self) -> Convergence | None:
        """What the events show that were evaluated after the training; None without any."""
        search = 0.0 if self._state is None else self._constraint.verdict(self._state).tolerance
        shown = self._constraint.verdict(self._evaluated, search)
        return shown if shown.batches else None

    def say(self) -> None:
        """Warns of the first problem."""
        if self._state is None:
            return
        training, evaluated = self._constraint.verdict(self._state), self.evaluated()
        judged = training if evaluated is None or evaluated.flat is None else evaluated
        _LOG.info("%s", judged)
        passing = float(self._passing.min()) if self._looks else math.nan
        few = self._constraint.few(self._state)
        facts = SimpleNamespace(
            training=training, evaluated=evaluated or training, judged=judged, passing=passing, few=few
        )
        for what, problem in AT_THE_END.items():
            if problem.test(facts):
                order = self._constraint.options.struct.order
                settles = f". Other events settle it: libmode.metrics.check(score, label, mass, order={order})"
                self._monitor.say(what, problem.sentence.format(f=facts) + settles)
                if what != _FEW:
                    return

    def _say_at_the_end(self) -> None:
        """Calls :meth:`say` for a layer that is gone: where warnings are errors, no caller could catch this one."""
        self._monitor.where = self._called_at  # the line at which a layer ends may be one of weakref.py
        try:
            self.say()
        except TrainingWarning as warning:
            print(f"libmode.TrainingWarning: {warning}", file=sys.stderr)

    def evaluate(self, events: Events) -> None:
        """Measures the response to events whose scores are those of evaluation mode."""
        self._constraint.direction(self._evaluated, events, len(events.score))
        if self._ended:
            self.say()

    def compare(self, logit: NDArray[Any], weight: NDArray[Any] | None, gradient: NDArray[Any]) -> None:
        """Watches whether the gradient by one of several logits is that of a binary cross entropy, for background."""
        score = 0.5 + 0.5 * np.tanh(0.5 * logit.astype(float))
        clear = score > _LEAST_SCORE
        if clear.any():
            with np.errstate(all="ignore"):
                ratios = [gradient[clear].astype(float) / score[clear]]
                if weight is not None:
                    ratios.append(ratios[0] / weight[clear])
                spread = min(float(np.std(ratio) / abs(np.mean(ratio))) for ratio in ratios)
            self._monitor.watch("softmax", of_gradient=spread)


# Masses that are wrong: a missing mass often stands as -999, and 1 % of such events turn a line into a constant.
FAR = 5.0  # the range of all masses over the range of the bulk, at most
_SAMPLE, _LEAST = 1_000, 20  # events for the percentiles, and the least number of them
_THING, _HALF = "far masses", "half masses"
_DIGITS = {"float16": 11, "bfloat16": 8}  # of the types of half precision, binary


def look_at_masses(said: Said, options: Options, mass: Any, label: Any) -> None:
    """Warns, once, if a few of the selected masses, (n,) or (d, n), are far from the others, or if they are labels."""
    if options.loss != "mode" or not said.due(_THING):
        return
    mass, label = np.asarray(mass), None if label is None else np.asarray(label)
    for k, row in enumerate(mass if mass.ndim > 1 else (mass,)):
        if not options.takes_default_range(k):
            continue
        low, high = row.min(initial=np.inf), row.max(initial=-np.inf)
        alike = label is None and len(row) >= _LEAST and low in (-1, 0) and high == 1
        if alike and ((row == low) | (row == high)).all():
            said.warn(
                _THING,
                f"mass has only the values {low:g} and {high:g}, as labels have, and label is not given: "
                "a loss takes (score, mass, label=label). For two groups of events give binning='values'",
                TrainingWarning,
            )
        elif sentence := far(row if label is None else row[is_background(label, options.labels)]):
            said.warn(_THING, f"{sentence}: leave out events without a mass, and give mass_range", TrainingWarning)


def look_at_type(said: Said, kind: Any, mass: Any = None) -> None:
    """Warns, once, of masses of a type of half precision; ``mass`` has their values, if they are known."""
    name = str(kind).removeprefix("torch.")
    if name not in _DIGITS or said.has_said(_HALF):
        return
    what = f"mass is in {name}, of {_DIGITS[name]} binary digits"
    if mass is not None:
        mass = np.asarray(mass, np.float64)
        values = np.unique(mass[np.isfinite(mass)])
        top = float(np.abs(values).max(initial=0))
        step = 2.0 ** (math.floor(math.log2(top)) + 1 - _DIGITS[name]) if top > 0 else 0.0
        what += f": masses near {top:.6g} are {step:.3g} apart, and {mass.size} masses have {len(values)} values"
    said.warn(
        _HALF,
        f"{what}. Give the masses in float32, and keep them out of what casts inputs, such as FSDP's "
        "cast_forward_inputs or a training in half precision",
        TrainingWarning,
    )


def say_if_far(mass: NDArray[Any], remedy: str) -> bool:
    """Warns if a few masses, (n,), are far from the others, with advice to give ``remedy``. Returns whether it did."""
    if sentence := far(mass):
        advice = f"{sentence}: leave out events without a mass, and give {remedy}"
        warnings.warn(advice, stacklevel=level_of_the_user())
    return sentence is not None


def far(mass: NDArray[Any]) -> str | None:
    """A sentence about the few masses, (n,), that are far from the others; None if there are none."""
    mass = mass[np.isfinite(mass)]  # a missing mass is NaN
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    some = mass[:: max(1, len(mass) // _SAMPLE)]
    others = some[(some > low) & (some < high)]
    if len(others) < _LEAST:
        return None
    first, last = np.quantile(others.astype(np.float64), (0.01, 0.99))
    width = last - first
    if not 0 < FAR * width < float(high) - float(low):
        return None
    # The sentence names the masses beyond half of the way from the bulk to the end.
    end, bulk = (low, first) if first - low > high - last else (high, last)
    there = (mass - bulk) / (end - bulk) > 0.5
    count = int(np.count_nonzero(there))
    several = "" if (mass[there] == end).all() else "down to " if end == low else "up to "
    return (
        f"mass is {several}{end:.6g} for {count} of {len(mass)} events ({100 * count / len(mass):.2g} %): its range, "
        f"{low:.6g} to {high:.6g}, is {(float(high) - float(low)) / width:.0f} times that from the 1st to the 99th "
        f"percentile of the others, {first:.6g} to {last:.6g}"
    )
