"""The statement of a constraint about its training: a warning, once, if the response has not become flat."""

from __future__ import annotations

import logging
import math
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._constraint import USUAL_TOLERANCE, Constraint, Dependence, State
from ._convergence import SIGNIFICANT, Convergence, Sample, convergence, number, overlap, usual_samples
from ._events import Events, is_background
from ._loops import Lines
from ._messages import line_of_the_user
from ._monitor import Monitor, TrainingWarning

LARGEST_LOGIT = 500.0  # in trainings that become flat, logits stay below 100
_LEAST_SCORE = 1e-3  # the gradients of smaller scores may be rounded
_OTHER_GRADIENT = 0.1  # relative spread of gradient over score, which is constant for a binary cross entropy
_LAST_RANK = 0.5  # background event above the last cut that the ranks of a batch reach: the highest rank is 1 - 1/(2n)
_ENOUGH = 0.5  # of the batches must have events enough of a category
_SHARE = 0.05  # of a look in the average number of background events that pass the cut

_LOG = logging.getLogger("libmode")


class Learns:
    """The part of a layer that reports its state."""

    _constraint: Constraint
    _statement: Statement | None
    _state: Callable[[], State]

    @property
    def dependence(self) -> Dependence:
        """rho and its error; NaN before the first batch."""
        return self._state().dependence(self._constraint.tolerance or USUAL_TOLERANCE)

    @property
    def convergence(self) -> Convergence:
        """rho at each cut."""
        measured = None if self._statement is None else self._statement.convergence()
        return measured or self._state().convergence(self._constraint.tolerance or USUAL_TOLERANCE)


class Statement:
    """Follows the training and the evaluation of one constraint."""

    def __init__(self, monitor: Monitor, constraint: Constraint) -> None:
        self.dropout = False  # whether the network has dropout
        self._owner = 0  # id of the layer whose end makes the statement; a copy of the layer has another id
        self._monitor, self._constraint, self._lines = monitor, constraint, Lines()
        self._state: NDArray[np.float64] | None = None
        self._samples: list[Sample] = []
        self._called_at = ("libmode", 0)
        self._low, self._high = math.inf, -math.inf
        self._final, self._evaluated, self._of_evaluation = False, constraint.start(), list[Sample]()
        self._looks, self._passing = 0, np.zeros(len(constraint.labels))

    def see(self, events: Events, slope: NDArray[Any], state: NDArray[np.float64], owner: object) -> None:
        """Takes note of a batch and of the state after it; ``slope`` is 0 for events that get no push.

        The end of the owner, the layer, makes the statement.
        """
        if self._owner != id(owner):
            self._owner = id(owner)
            weakref.finalize(owner, self._say_at_the_end)
        self._lines.trains()
        self._called_at = line_of_the_user()
        self._state, self._samples = state, self._count(events, slope, state)
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

    def _see_tight_cut(self, events: Events) -> None:
        """Averages the number of background events of a batch that pass a cut with a signal efficiency of one half."""
        signal = None if events.label is None else ~is_background(events.label, self._constraint.labels)
        if signal is None or not signal.any():
            return
        passes = events.score >= np.median(events.score[signal])
        passing = [np.count_nonzero(passes & (events.label == label)) for label in self._constraint.labels]
        self._looks += 1
        self._passing += max(1 / self._looks, _SHARE) * (passing - self._passing)

    def _count(self, events: Events, slope: NDArray[Any], state: NDArray[np.float64]) -> list[Sample]:
        """The numbers of events of each background label; with categories their mean, as one batch may have few."""
        moved, samples = slope != 0, list[Sample]()
        if self._constraint.categories:
            usual, few = usual_samples(state, len(moved) / len(events.score)), self._few(state)
            return [Sample(0.0, 0.0) if part in few else one for part, one in enumerate(usual)]
        for label in self._constraint.labels:
            of_label = np.ones(len(events.score), bool) if events.label is None else events.label == label
            samples.append(Sample(float((of_label[: len(moved)] & moved).sum()), float(of_label.sum())))
            if events.label is None:
                break
        return samples

    def trains(self) -> None:
        """The training goes on, and changes the network that was evaluated."""
        self._final, self._evaluated = False, self._constraint.start()
        self._of_evaluation = []

    def ends(self) -> None:
        """Warns if the response is not flat, but not for a validation in the loop of the epochs."""
        if self._state is not None and not self._lines.in_loop():
            self._final = True
            self.say()

    def convergence(self) -> Convergence | None:
        """The convergence of the training; None before the first look."""
        return None if self._state is None else self._judge(self._state, self._samples, evaluated=False)

    def _judge(self, state: NDArray[np.float64], samples: list[Sample], evaluated: bool) -> Convergence:
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
            categories=self._constraint.categories,
        )

    def say(self) -> None:
        """Warns of the first problem."""
        training = self.convergence()
        if self._state is not None:
            self._say_few(self._state)
        if training is None or training.flat is None:
            return
        reach = f". The logits of background reach from {self._low:.3g} to {self._high:.3g}"
        text = str(training) + reach * (self._low <= self._high)
        _LOG.info("%s: %s", "flat" if training.flat else "not flat", text)
        if not training.flat:
            self._monitor.say(
                f"not flat after {training.batches}",  # a training that goes on gets another statement
                f"the response to background has not become flat: {text}. Train for more batches, at a learning rate "
                "that falls to 0 in the end; a training that goes on needs the state of the layer too",
            )
            return
        self._say_tight_cut()
        if self._of_evaluation:
            self._say_evaluated(training)
        elif self.dropout:
            self._monitor.say(
                "dropout",
                "the response to background is flat with dropout, and evaluation has none: call the layer in "
                "evaluation mode too, constraint(score, label, mass) with the scores of validation events, and it "
                "warns if they are not flat",
            )

    def _say_tight_cut(self) -> None:
        """Warns if the ranks of a batch do not reach a cut with a signal efficiency of one half."""
        if not self._looks:
            return
        label = int(np.argmin(self._passing))
        per_label = len(self._samples) // len(self._passing)
        passing, count = self._passing[label], sum(one.count for one in self._samples[label * per_label :][:per_label])
        if passing + 2 * math.sqrt(passing * overlap(self._looks, _SHARE)) < _LAST_RANK:
            self._monitor.say(
                "tight cut",
                f"batches do not reach a cut that keeps half of the signal: {passing:.2g} of their {count:.0f} "
                "background events pass it. The layer sees ranks within a batch, and the response to so tight a cut "
                "may not be flat. Give reference events, or larger batches",
            )

    def _few(self, state: NDArray[np.float64]) -> list[int]:
        """The parts of which most batches have too few events for bins."""
        parts = self._constraint.categories * len(self._constraint.labels)
        return [part for part in range(parts) if number(state, "batches", part) < _ENOUGH * number(state, "steps")]

    def _say_few(self, state: NDArray[np.float64]) -> None:
        """Warns of a category that is not kept flat, since it has few events."""
        for part in self._few(state):
            label, category = divmod(part, self._constraint.categories)
            self._monitor.say(
                "few of a category",
                f"{number(state, 'batches', part):.0f} of {number(state, 'steps'):.0f} batches had events enough of "
                f"category {category} of background label {self._constraint.labels[label]} for bins, and nothing keeps "
                "it flat in the others. Use larger batches, give reference events, or let it share a category",
            )

    def _say_at_the_end(self) -> None:
        """Calls :meth:`say` for a layer that is gone: where warnings are errors, no caller could catch this one."""
        self._monitor.where = self._called_at  # the line at which a layer ends may be one of weakref.py
        try:
            self.say()
        except TrainingWarning as warning:
            print(f"libmode.TrainingWarning: {warning}", file=sys.stderr)
        except RuntimeError as error:  # of a device, which an error of the training may have stopped
            _LOG.info("cannot read the state: %s", error)

    def evaluate(self, events: Events) -> None:
        """Measures the response to events whose scores are those of evaluation mode."""
        training = self.convergence()
        if training is None or not training.flat:
            return
        pushed = self._constraint.direction(self._evaluated, events, len(events.score))
        self._of_evaluation = self._count(events, pushed.slope, self._evaluated)
        if self._final:
            self._say_evaluated(training)

    def _say_evaluated(self, training: Convergence) -> None:
        evaluation = self._judge(self._evaluated, self._of_evaluation, evaluated=True)
        larger = evaluation.rho - training.rho > SIGNIFICANT * np.hypot(evaluation.error, training.error)
        cuts = np.flatnonzero(evaluation.excess & larger)
        if len(cuts):
            cut = cuts[np.argmax(evaluation.rho[cuts])]
            both = [f"{one.rho[cut]:.3g} +- {one.error[cut]:.2g}" for one in (training, evaluation)]
            self._monitor.say(
                "evaluation",
                "the response to background is flat in training mode and not in evaluation mode: at a background "
                f"efficiency of {evaluation.efficiency[cut]:.2g} rho is {both[0]} in training and {both[1]} in "
                "evaluation. Lower the dropout, or train the last epochs without it and with BatchNorm in evaluation "
                "mode",
            )

    def compare(self, logit: NDArray[Any], weight: NDArray[Any] | None, gradient: NDArray[Any]) -> None:
        """Watches whether the gradient by one of several logits is that of a binary cross entropy, for background."""
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
