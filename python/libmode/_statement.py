"""What a constraint says of its training, unasked and once: whether the response has become flat."""

from __future__ import annotations

import logging
import math
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._constraint import USUAL_TOLERANCE, Constraint, Dependence, State, state_of
from ._convergence import LIMIT, SIGNIFICANT, Convergence, Sample, convergence, share_of
from ._events import Events, is_background
from ._loops import Lines
from ._monitor import Monitor, TrainingWarning

LARGEST_LOGIT = 500.0  # those of trainings that become flat stay below 100
_LEAST_SCORE = 1e-3  # gradients of smaller ones may be rounded
_OTHER_GRADIENT = 0.1  # relative spread of gradient over score, which a binary cross entropy keeps constant
_LAST_RANK = 0.5  # background event above the last cut that the ranks of a batch reach: the highest rank is 1 - 1/(2n)
_OF_A_LOOK = 0.05  # the share of a look in the average of events that pass

_LOG = logging.getLogger("libmode")


class Learns:
    """The part of a layer that tells what its state knows."""

    _constraint: Constraint
    _statement: Statement | None
    #: Returns what the batches have taught.
    _state: Callable[[], State]

    @property
    def dependence(self) -> Dependence:
        """rho and its error; NaN before the first batch."""
        return self._state().dependence(self._constraint.tolerance or USUAL_TOLERANCE)

    @property
    def convergence(self) -> Convergence:
        """rho at each cut."""
        found = None if self._statement is None else self._statement.found()
        return found or self._state().convergence(self._constraint.tolerance or USUAL_TOLERANCE)


class Statement:
    """Follows the training and the evaluation of one constraint."""

    def __init__(self, monitor: Monitor, constraint: Constraint) -> None:
        self.dropout = False  # whether the network of the training has it
        self._owner = 0  # id of the object whose end is waited for; a copy has another
        self._monitor, self._constraint, self._lines = monitor, constraint, Lines()
        self._state: NDArray[np.float64] | None = None
        self._samples: list[Sample] = []
        self._low, self._high = math.inf, -math.inf
        self._final, self._evaluated, self._of_evaluation = False, constraint.start(), list[Sample]()
        self._categories = False
        self._looks, self._passing = 0, np.zeros(len(constraint.labels))

    def see(self, events: Events, slope: NDArray[Any], state: NDArray[np.float64], owner: object) -> None:
        """Takes note of a batch of a training and its state; ``slope`` is 0 for events that are not moved.

        When the owner is deleted, the statement warns if the response is not flat.
        """
        if self._owner != id(owner):
            self._owner = id(owner)
            weakref.finalize(owner, self._say_at_the_end)
        self._lines.trains()
        self._state, self._samples = state, self._samples_of(events, slope)
        self._categories = events.category is not None
        self._see_tight_cut(events)
        if self._constraint.from_logits:
            logits = events.score[: len(slope)][slope != 0]
            if len(logits):
                low, high = float(logits.min()), float(logits.max())
                self._low, self._high = min(self._low, low), max(self._high, high)
                self._monitor.watch(
                    "logits",
                    max(-low, high) > LARGEST_LOGIT,
                    f"the logits of background in a batch reach from {low:.4g} to {high:.4g}: they run away. Lower the "
                    "learning rate, give the loss weights with a mean of 1, or scale the inputs",
                )

    def goes_on(self) -> None:
        """Takes note that a training runs whose batches and state stay on a device."""
        self._lines.trains()

    def take(self, state: NDArray[np.float64]) -> None:
        """Takes the state of such a training; a batch has as many events as the average of its batches."""
        if state[0] > 0:
            events = state_of(state).events
            self._state, self._samples = state.copy(), [Sample(events, events)]

    def _see_tight_cut(self, events: Events) -> None:
        """Averages how many background events of a batch pass the cut that half of its signal passes."""
        signal = None if events.label is None else ~is_background(events.label, self._constraint.labels)
        if signal is None or not signal.any():
            return
        passes = events.score >= np.median(events.score[signal])
        passing = [np.count_nonzero(passes & (events.label == label)) for label in self._constraint.labels]
        self._looks += 1
        self._passing += max(1 / self._looks, _OF_A_LOOK) * (passing - self._passing)

    def _samples_of(self, events: Events, slope: NDArray[Any]) -> list[Sample]:
        moved, found = slope != 0, []
        for label in self._constraint.labels:
            of_label = np.ones(len(events.score), bool) if events.label is None else events.label == label
            own, every = of_label[: len(moved)] & moved, of_label
            found.append(Sample(float(own.sum()), float(every.sum())))
            if events.label is None:
                break
        return found

    def trains(self) -> None:
        """The training goes on, with another network than that which was evaluated."""
        self._final, self._evaluated = False, self._constraint.start()
        self._of_evaluation = []

    def ends(self) -> None:
        """Warns if the response is not flat. A validation in the loop of the epochs says nothing."""
        if self._state is not None and not self._lines.in_loop():
            self._final = True
            self.say()

    def found(self) -> Convergence | None:
        """Of the training, None before the first look."""
        return None if self._state is None else self._of(self._state, self._samples, evaluated=False)

    def _of(self, state: NDArray[np.float64], samples: list[Sample], evaluated: bool) -> Convergence:
        tolerance = self._constraint.tolerance or USUAL_TOLERANCE
        struct = self._constraint.options.struct
        return convergence(
            state,
            samples,
            order=struct.order,
            tolerance=tolerance,
            bins=max(struct.bins, int(struct.n_edges) - 1, 0),
            joint=bool(struct.joint),
            evaluated=evaluated,
        )

    def say(self) -> None:
        """Says what is wrong."""
        found = self.found()
        if found is None or found.flat is None:
            return
        reach = f". The logits of background reach from {self._low:.3g} to {self._high:.3g}"
        text = str(found) + reach * (self._low <= self._high)
        _LOG.info("%s: %s", "flat" if found.flat else "not flat", text)
        if not found.flat:
            self._monitor.say(
                f"not flat after {found.batches}",  # a training that goes on gets its own answer
                f"the response to background has not become flat: {text}. Train for more batches, at a learning rate "
                "that falls to 0 in the end; a training that goes on needs the state of the layer too",
            )
            return
        self._say_tight_cut()
        if self._categories and (rho := self._of_categories(found)):
            self._monitor.say(
                "categories",
                "the response to background is flat in all categories together, and not in each: rho of all cuts is "
                f"{rho[0]:.3g} +- {rho[1]:.2g}, and flat is at most 1. One push serves all categories: give each its "
                "own labels, background_label=(0, 1), and it gets a push of its own",
            )
        elif self._of_evaluation:
            self._say_evaluated(found)
        elif self.dropout:
            self._monitor.say(
                "dropout",
                "the response to background is flat with dropout, and evaluation has none: call the layer in "
                "evaluation mode too, constraint(score, label, mass) with the scores of validation events, and it "
                "warns if they are not flat",
            )

    def _say_tight_cut(self) -> None:
        """Warns if half of the signal passes a cut that the ranks of a batch do not reach."""
        if not self._looks:
            return
        label = int(np.argmin(self._passing))
        passing, count = self._passing[label], self._samples[label].count
        if passing + 2 * math.sqrt(passing * share_of(self._looks, _OF_A_LOOK)) < _LAST_RANK:
            self._monitor.say(
                "tight cut",
                f"batches do not reach a cut that keeps half of the signal: {passing:.2g} of their {count:.0f} "
                "background events pass it. The layer sees ranks within a batch, and the response to so tight a cut "
                "may not be flat. Give reference events, or larger batches",
            )

    def _of_categories(self, found: Convergence) -> Dependence | None:
        """The dependence over all cuts, which sees each category by itself, if it is beyond what events can teach."""
        assert self._state is not None
        rho, error = state_of(self._state).dependence(found.tolerance)
        taught = found.tolerance / found.events
        return Dependence(rho, error) if rho > LIMIT * (1 + taught) and rho - 1 - taught > SIGNIFICANT * error else None

    def _say_at_the_end(self) -> None:
        """As :meth:`say`, of an object that is gone: where warnings are errors, nobody could catch this one."""
        try:
            self.say()
        except TrainingWarning as warning:
            print(f"libmode.TrainingWarning: {warning}", file=sys.stderr)

    def evaluate(self, events: Events) -> None:
        """Measures events with the scores of evaluation."""
        training = self.found()
        if training is None or not training.flat:
            return
        found = self._constraint.direction(self._evaluated, events, len(events.score))
        self._of_evaluation = self._samples_of(events, found.slope)
        if self._final:
            self._say_evaluated(training)

    def _say_evaluated(self, training: Convergence) -> None:
        found = self._of(self._evaluated, self._of_evaluation, evaluated=True)
        further = found.rho - training.rho > SIGNIFICANT * np.hypot(found.error, training.error)
        at = np.flatnonzero(found.excess & further)
        if len(at):
            cut = at[np.argmax(found.rho[at])]
            both = [f"{one.rho[cut]:.3g} +- {one.error[cut]:.2g}" for one in (training, found)]
            self._monitor.say(
                "evaluation",
                "the response to background is flat in training mode and not in evaluation mode: at a background "
                f"efficiency of {found.efficiency[cut]:.2g} rho is {both[0]} in training and {both[1]} in evaluation. "
                "Lower the dropout, or train the last epochs without it and with BatchNorm in evaluation mode",
            )

    def compare(self, logit: NDArray[Any], weight: NDArray[Any] | None, gradient: NDArray[Any]) -> None:
        """Looks whether the gradient by one of several logits of background is that of a binary cross entropy."""
        score = self._constraint.scores(logit.astype(float))
        clear = score > _LEAST_SCORE
        if not clear.any():
            return
        with np.errstate(all="ignore"):
            ratios = [gradient[clear].astype(float) / score[clear]]
            if weight is not None:
                ratios.append(ratios[0] / weight[clear])
            spread = min(float(np.std(ratio) / abs(np.mean(ratio))) for ratio in ratios)
        self._monitor.watch(
            "softmax",
            spread > _OTHER_GRADIENT,
            "one of several logits is constrained, and your loss is no binary cross entropy of it: a selection by a "
            "softmax depends on the other logits, which nothing keeps flat. Give the layer all logits, shape (n, k), "
            "z = constraint(z, label, mass), or the log odds of signal, z[:, 1] - z[:, 0] for two classes",
        )
