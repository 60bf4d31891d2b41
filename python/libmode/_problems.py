"""What goes wrong in a training without an error: each problem with its test and its sentence, and when it is said."""

from __future__ import annotations

import logging
import math
import sys
import warnings
import weakref
from collections.abc import Callable
from ctypes import Structure
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._events import Events
from ._messages import level_of_the_user, line_of_the_user
from ._read import is_background

if TYPE_CHECKING:
    from ._constraint import Constraint, Rho, State
    from ._convergence import Convergence
    from ._options import Options

EVERY = 20  # calls from one look to the next
SELDOM = 100  # calls from one look at the masses to the next, after the first ten
PATIENCE = 5  # looks in a row with the same problem before the warning
MOST_WAITING = 20  # calls without a backward pass
SATURATED = 1 - 1e-6  # the mean of scores that a sigmoid in float32 no longer tells apart
LEAST_SPREAD = 0.01  # standard deviation of the logits of scores
_RATE = EVERY / 400  # the share of a look in the average of the events that pass a cut
_LAST_RANK = 0.5  # background event above the last cut that the ranks of a batch reach: the highest rank is 1 - 1/(2n)
# Before these numbers of batches and background events an evaluation may lie between the first epochs.
FEWEST_BATCHES, FEWEST_EVENTS = 300, 100_000
_EPOCHS = 1.5  # the fewest epochs of a training whose number of events is known, before an evaluation can be its end
USUAL_TOLERANCE = 100_000.0  #: the background events of a later test, for rho without a tolerance

_LOG = logging.getLogger("libmode")


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


def _advice(constraint: Constraint) -> str:
    """What helps where the response is not flat."""
    if constraint.strength is not None:
        return "Raise the strength, or leave it out, and the layer finds it"
    struct = constraint.options.struct
    bounds = ["max_slope"] * math.isfinite(struct.max_slope) + ["monotonic"] * struct.monotonic
    if bounds:
        return (
            f"{' and '.join(bounds)} may forbid what the classifier wants, and then more batches do not help: loosen "
            "the bound, or compare with a training without it"
        )
    return (
        "Train for more batches, at a learning rate that falls to 0 in the end; a training that goes on needs the "
        "state of the layer too"
    )


class Said:
    """The warnings of one object: each thing once, or once for each line of the program that calls."""

    def __init__(self, in_lines: bool = False) -> None:
        self._calls, self._things, self._in_lines = 0, set[str](), in_lines
        self._filters: dict[str, Any] = {}

    def due(self, thing: str) -> bool:
        """Counts a call. Returns whether to look for this thing: a look takes the time of a loss of 1,000 events."""
        self._calls += 1
        return thing not in self._things and (self._in_lines or self._calls <= 10 or self._calls % SELDOM == 0)

    def warn(self, thing: str, sentence: str, category: type[Warning] = TrainingWarning, where: Any = None) -> None:
        """Warns, unless it has warned of this thing before, of the user's line or of ``where``."""
        if self._in_lines:
            thing = f"{thing} in {line_of_the_user()}"
            before, content = self._filters.get(thing, (None, None))
            if before is not warnings.filters or content != list(before):  # then it warns again, as Python does
                self._things.discard(thing)
                self._filters[thing] = warnings.filters, list(warnings.filters)
        if thing in self._things:
            return
        self._things.add(thing)
        if where is None:
            warnings.warn(sentence, category, stacklevel=level_of_the_user())
        else:
            warnings.warn_explicit(sentence, category, *where)


IN_LINES = Said(in_lines=True)


class Monitor(Said):
    """Looks at every twentieth batch, and warns once of each problem."""

    def __init__(self) -> None:
        super().__init__()
        self.where: tuple[str, int] | None = None  # the line of the last call, for a warning that no line causes
        self.calls = 0
        self._asleep = 0
        self._last, self._in_a_row = "", 0

    def is_due(self) -> bool:
        """Counts a call. Returns whether to look at it."""
        self.calls += 1
        return self.calls % EVERY == 0

    def sleeps(self, name: str) -> None:
        """Counts a call in evaluation mode for a gradient, before the first in training mode. Warns if that lasts."""
        self._asleep += 1
        if self._asleep == EVERY:
            self.say(
                "asleep",
                f"{name} is in evaluation mode, where it does nothing, and {EVERY} calls asked for a gradient: give "
                "train() before a training",
            )

    def look(self, score: NDArray[Any], inactive: str = "") -> None:
        """Looks at scores, (n,), and at the reason why a constraint does nothing. Warns of a problem that lasts."""
        score = score.astype(np.float64)
        mean, spread = float(score.mean()), float(score.std())
        what = "inactive" if inactive else ""
        sentence = f"the constraint has done nothing for {EVERY * PATIENCE} batches: {inactive}"
        inside = 0 <= score.min() <= score.max() <= 1
        if spread <= LEAST_SPREAD * (mean * (1 - mean) if inside else 1) or inside and mean > SATURATED:
            what = "collapsed"
            sentence = (
                f"the scores of a batch are nearly equal (mean {mean:.3g}, standard deviation {spread:.1e}): the "
                "network has collapsed to a constant. Lower the strength or the learning rate, or give reference events"
            )
        self._last, self._in_a_row = what, self._in_a_row + 1 if what == self._last else 1
        if what and self._in_a_row >= PATIENCE:
            self.say(what, sentence)

    def say(self, what: str, sentence: str) -> None:
        """Warns, once."""
        self.warn(what, f"{sentence}. (monitor=False turns such warnings off.)", TrainingWarning, self.where)


class Learns:
    """The part of a layer that reports its state."""

    if TYPE_CHECKING:  # get_type_hints of a layer could not find them: _constraint imports this file
        _constraint: Constraint
        _monitor: Statement | None
        _state: Callable[[], State]

    @property
    def dependence(self) -> Rho:
        """rho and its error; NaN before the first batch."""
        return self._state().dependence(self._constraint.tolerance or USUAL_TOLERANCE)

    @property
    def convergence(self) -> Convergence:
        """What the batches, or later ones in evaluation mode, show of the response at each cut."""
        training = self._constraint.verdict(self._state().memory())
        return training if self._monitor is None else self._monitor.judged(training)


class Statement(Monitor):
    """Follows the training and the evaluation of one constraint too, and says its problem at the end."""

    def __init__(self, constraint: Constraint) -> None:
        super().__init__()
        self._owner = 0  # id of the layer whose end makes the statement; a copy of the layer has another id
        self._constraint, self._evaluated = constraint, constraint.start()
        self._state: NDArray[np.float64] | None = None
        self._called_at = ("libmode", 0)
        self._evaluated_at: int | None = None  # the calls before the last evaluation
        self._ended = False
        self._looks, self._passing = 0, np.zeros(len(constraint.labels))

    def see(self, events: Events, pushed: Structure, state: Any, owner: object, scale: float = math.nan) -> None:
        """Looks at a batch with its reference events, and at the state after it; a scale of NaN is unknown."""
        inactive, constraint = "", self._constraint
        if not pushed.rows[0].any():
            inactive = "its push is 0, as with no more bins than order + 1, through which every response can be fitted"
        elif scale == 0:
            inactive = "its push is scaled by the gradient of your loss by the background, which is 0"
        self.look(constraint.scores(events.score), inactive)
        self._state = state
        self._called_at = line_of_the_user()
        if self._owner != id(owner):
            self._owner = id(owner)
            weakref.finalize(owner, self._conclude_at_the_end)
        if events.label is None:
            return
        signal = ~is_background(events.label, constraint.labels)
        if signal.any():  # the background events of a batch that pass a cut with a signal efficiency of one half
            passes = events.score >= np.median(events.score[signal])
            passing = [np.count_nonzero(passes & (events.label == label)) for label in constraint.labels]
            self._looks += 1
            self._passing += max(1 / self._looks, _RATE) * (passing - self._passing)

    def trains(self) -> None:
        """The training goes on, and changes the network that was evaluated."""
        self._ended, self._evaluated = False, self._constraint.start()

    def ends(self) -> None:
        """Says the problem, unless this evaluation looks like one between epochs."""
        between = self._evaluated_at not in (None, self.calls)  # a training between two evaluations: one of the epochs
        self._evaluated_at, self._ended = self.calls, False
        if self._state is None or between:
            return
        training = self._constraint.verdict(self._state)
        if training.training_events:
            enough = training.events >= _EPOCHS * training.training_events
        else:
            enough = training.batches >= FEWEST_BATCHES and training.events >= FEWEST_EVENTS
        self._ended = enough
        if enough:
            self.conclude()

    def judged(self, training: Convergence) -> Convergence:
        """What the events show that were evaluated after the training, if they say more."""
        evaluated = self._constraint.verdict(self._evaluated, training.tolerance)
        return training if evaluated.flat is None else evaluated

    def conclude(self) -> None:
        """Warns of the first problem."""
        if self._state is None:
            return
        training = self._constraint.verdict(self._state)
        judged = self.judged(training)
        _LOG.info("%s", judged)
        options = ", ".join(f"{name}={value!r}" for name, value in self._constraint.options.of_check().items())
        options += ", category=category" * bool(self._constraint.categories)
        settles = f". Other events settle it: libmode.metrics.check(score, label, mass, {options})"
        for what, sentence in self._problems(self._state, training, judged).items():
            self.say(what, sentence + settles)

    def _problems(self, state: NDArray[Any], training: Convergence, judged: Convergence) -> dict[str, str]:
        """The problems at the end of a training, each with its sentence."""
        problems = {}
        if few := self._constraint.few(state):
            problems["few"] = (
                f"{few[0]:.0f} of {training.batches} batches had events enough of category {few[1]} of background "
                f"label {few[2]} for bins, and nothing keeps it flat in the others. Use larger batches, give reference "
                "events, or let it share a category"
            )
        passing = float(self._passing.min()) if self._looks else math.nan
        if judged.flat is False and training.flat is True:
            problems["evaluation"] = (
                f"the response to background is flat in training mode and not in evaluation mode: {judged}. Lower the "
                "dropout, or train the last epochs without it and with BatchNorm in evaluation mode"
            )
        elif judged.flat is False:
            problems["not flat"] = f"the response to background is not flat: {judged}. {_advice(self._constraint)}"
        elif passing + 2 * math.sqrt(2 * passing * _RATE) < _LAST_RANK:
            problems["tight cut"] = (
                f"batches do not reach a cut that keeps half of the signal: {passing:.2g} of the background events of "
                "a batch pass it. The layer sees ranks within a batch, and the response to so tight a cut may not be "
                "flat. Give reference events, or larger batches"
            )
        elif judged.zero is not None:
            problems["zero"] = (
                f"the dependence that the order allows reaches 0 near the mass {judged.zero[0]:.4g}, at a background "
                f"efficiency of {judged.zero[1]:.2g}: nothing controls the response there. Give max_slope, a lower "
                "order or a mass_range that ends before"
            )
        if judged.peak is not None:
            problems["peak"] = (
                f"the selected spectrum has a maximum near the mass {judged.peak[0]:.4g} that the spectrum before has "
                f"not, at a background efficiency of {judged.peak[1]:.2g}: the order allows it, and monotonic=True "
                "too. Lower the order, or give max_slope, unless your fit absorbs it"
            )
        return problems

    def _conclude_at_the_end(self) -> None:
        """Calls :meth:`conclude` for a layer that is gone. No caller could catch a warning that is an error."""
        self.where = self._called_at  # the line at which a layer ends may be one of weakref.py
        try:
            self.conclude()
        except TrainingWarning as warning:
            print(f"libmode.TrainingWarning: {warning}", file=sys.stderr)

    def evaluate(self, events: Events) -> None:
        """Measures the response to events with scores of evaluation mode."""
        self._constraint.direction(self._evaluated, events, len(events.score))
        if self._ended:
            self.conclude()


# Masses that are wrong: a missing mass often stands as -999, and 1 % of such events turn a line into a constant.
FAR = 5.0  # the range of all masses over the range of the bulk, at most
_SAMPLE, _LEAST = 1_000, 20  # events for the percentiles, and the least number of them
FAR_MASSES, _HALF = "far masses", "half masses"
_DIGITS = {"float16": 11, "bfloat16": 8}  # of the types of half precision, binary


def look_at_masses(said: Said, options: Options, mass: Any, label: Any) -> None:
    """Warns, once, if a few of the selected masses, (n,) or (d, n), are far from the others, or if they are labels."""
    label = None if label is None else np.asarray(label)
    for k, row in enumerate(np.atleast_2d(mass)):
        if not options.takes_default_range(k):
            continue
        low, high = row.min(initial=np.inf), row.max(initial=-np.inf)
        alike = label is None and len(row) >= _LEAST and low in (-1, 0) and high == 1
        if alike and ((row == low) | (row == high)).all():
            said.warn(
                FAR_MASSES,
                f"mass has only the values {low:g} and {high:g}, as labels have, and label is not given: "
                "a loss takes (score, mass, label=label). For two groups of events give edges between them",
            )
        elif sentence := far(row if label is None else row[is_background(label, options.labels)]):
            said.warn(FAR_MASSES, f"{sentence}: leave out events without a mass, and give mass_range")


def look_at_type(said: Said, kind: Any, mass: Any = None) -> None:
    """Warns, once, of masses of a type of half precision; ``mass`` has their values, if they are known."""
    name = str(kind).removeprefix("torch.")
    if name not in _DIGITS:
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
    percent = round((len(others) - 1) / 100)
    ends = percent, len(others) - 1 - percent
    first, last = np.partition(others, ends)[list(ends)].astype(np.float64)  # np.quantile takes as long as the loss
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
