"""Warnings about a training that fails without an error."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._constraint import Constraint, Direction
from ._front import Events
if TYPE_CHECKING:
    from ._constraint import Constraint, Direction
    from ._front import Events

from ._user import level_of_the_user

EVERY = 20  # calls from one look to the next
PATIENCE = 5  # looks in a row at which something is wrong before it is said

LEAST_SPREAD = 0.01  # of scores, in terms of their logits
LEAST_SEPARATION = 0.05  # of signal and background, in standard deviations of the scores
LEAST_EVENTS = 10  # a bin


class TrainingWarning(UserWarning):
    """A training goes wrong in a way that raises no error.

    Examples
    --------
    >>> import warnings
    >>> import torch
    >>> from libmode import TrainingWarning
    >>> from libmode.torch import MoDeLoss
    >>> warnings.simplefilter("error", TrainingWarning)  # now it ends the training
    >>> mode, label, mass = MoDeLoss(), torch.zeros(100), torch.rand(100)
    >>> for step in range(100):
    ...     loss = mode(torch.full((100,), 0.5), label, mass)
    Traceback (most recent call last):
        ...
    libmode.TrainingWarning: the scores of a batch differ by next to nothing (mean 0.5, standard deviation ...
    """

    __module__ = "libmode"  # the name by which it is imported, and so printed


class Monitor:
    """Looks at every twentieth batch, and says each thing that is wrong once."""

    def __init__(self) -> None:
        self._calls = 0
        self._in_a_row: dict[str, int] = {}
        self._said: set[str] = set()

    def due(self) -> bool:
        """Counts a call, and says whether it is one to look at."""
        self._calls += 1
        return self._calls % EVERY == 0

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
    ) -> None:
        """Looks at a batch.

        score : (n,), of the classifier
        background : (n,), None where the labels are not known
        loss, bias, events : of :func:`libmode.mode_evaluate`, the loss unbiased
        bins : that the user asked for, None for as many as the events are enough for
        unbiased : whether the bias is subtracted from the loss
        """
        score = np.asarray(score, np.float64)
        spread, mean = float(score.std()), float(score.mean())
        inside = score.min() >= 0 and score.max() <= 1
        slope = mean * (1 - mean) if inside else 1.0
        collapsed = spread < LEAST_SPREAD * slope
        self._watch(
            "collapsed",
            collapsed,
            f"the scores of a batch differ by next to nothing (mean {mean:.3g}, standard deviation {spread:.1e}): the "
            "network gives every event the same one. Lower the strength or the learning rate, or give reference events",
        )
        if background is not None and background.any() and not background.all():
            apart = abs(float(score[~background].mean() - score[background].mean()))
            self._watch(
                "given up",
                not collapsed and apart < LEAST_SEPARATION * spread,
                f"signal and background have the same scores (their means differ by {apart:.1e}, they spread by "
                f"{spread:.1e}): the classifier has been given up, as a cross entropy of {math.log(2):.3f} = ln 2 for "
                "classes of equal weight says too. Lower the strength or the learning rate",
            )
        per_bin = events / bins if bins else math.inf
        self._watch(
            "few events",
            per_bin < LEAST_EVENTS,
            f"{bins} bins have {per_bin:.3g} background events each: the loss of a batch is noise. Give fewer bins, or "
            "no number (then as many as the events are enough for), larger batches or reference events",
        )
        self._watch(
            "bias",
            not unbiased and bias > loss,
            f"the plain loss of a batch is {loss + bias:.2e}, of which {bias:.2e} is the noise of a finite batch: "
            "training on it squeezes the scores. Leave out unbiased=False, or use larger batches",
        )

    def _watch(self, what: str, wrong: bool, sentence: str) -> None:
        self._in_a_row[what] = self._in_a_row.get(what, 0) + 1 if wrong else 0
        if self._in_a_row[what] >= PATIENCE:
            self.say(what, sentence)

    def say(self, what: str, sentence: str) -> None:
        """Warns, unless it has been said."""
        if what not in self._said:
            self._said.add(what)
            sentence += ". (monitor=False turns such warnings off.)"
            warnings.warn(sentence, TrainingWarning, stacklevel=level_of_the_user())


def look(monitor: Monitor, constraint: Constraint, events: Events, found: Direction) -> None:
    """Lets the monitor look at the arrays of a batch, and of its reference events, and at what was found for them."""
    monitor.look(
        constraint.scores(events.score),
        None if events.label is None else constraint.background(events.label),
        loss=found.loss,
        bias=found.bias,
        events=found.events,
        bins=constraint.bins,
        unbiased=constraint.unbiased,
    )
