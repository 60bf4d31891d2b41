"""Warnings about a training that fails without an error."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._events import is_background
from ._messages import level_of_the_user

if TYPE_CHECKING:
    from ._constraint import Constraint
    from ._events import Events
    from ._native import ModePushed

EVERY = 20  # calls from one look to the next
PATIENCE = 5  # looks in a row with the same problem before the warning

LEAST_SPREAD = 0.01  # standard deviation of the logits of scores
LEAST_AUC = 0.014  # distance from 0.5, as for two Gaussians 0.05 standard deviations apart
LEAST_EVENTS = 10  # in a bin
MOST_WAITING = 20  # calls without a backward pass

# Problems that one logit of a softmax makes too, where another strength is no answer.
_OF_SOFTMAX = "given up", "signal lost"
_LOG_ODDS = "If the score is one logit of a softmax, give the layer all of them instead, shape (n, k)"

# The share of a look in the average of the AUC, over 200 batches, and how significant its fall must be.
_RATE, _SIGNIFICANT = EVERY / 200, 5.0


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


class Monitor:
    """Looks at every twentieth batch, and warns once of each problem."""

    def __init__(self, of_loss: bool = False) -> None:
        self._of_loss = of_loss
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
        """Looks at scores, (n,), with a mask of background (None if unknown), and at their loss, bias and events.

        The loss is unbiased. ``unbiased`` is the option of the training, ``inactive`` the reason why a constraint does
        nothing, and ``bins`` the number in the options.
        """
        if score.itemsize < 4:
            score = score.astype(np.float32)
        mean = float(score.mean(dtype=np.float64))
        away = (score - score.dtype.type(mean)).ravel()
        spread = math.sqrt(float(away @ away) / len(away))
        slope = mean * (1 - mean) if score.min() >= 0 and score.max() <= 1 else 1.0
        collapsed = spread < LEAST_SPREAD * slope
        self.watch(
            "collapsed",
            collapsed,
            f"the scores of a batch are nearly equal (mean {mean:.3g}, standard deviation {spread:.1e}): the "
            "network has collapsed to a constant. Lower the strength or the learning rate, or give reference events",
        )
        if background is not None and 0 < np.count_nonzero(background) < len(score):
            self._watch_auc(*_auc(score, background), collapsed)
        self.watch(
            "inactive",
            bool(inactive) and not collapsed,
            f"the constraint has done nothing for {EVERY * PATIENCE} batches: {inactive}",
        )
        per_bin = events / bins if bins else math.inf
        self.watch(
            "few events",
            per_bin < LEAST_EVENTS,
            f"{bins} bins have {per_bin:.3g} background events each: the loss of a batch is noise. Give fewer bins, or "
            "leave bins out (libmode then chooses their number by the events), larger batches or reference events",
        )
        self.watch(
            "bias",
            not unbiased and bias > loss,
            f"the plain loss of a batch is {loss + bias:.2e}, of which {bias:.2e} is the noise of a finite batch: "
            "training on it squeezes the scores. Leave out unbiased=False, or use larger batches",
        )

    def _watch_auc(self, auc: float, variance: float, collapsed: bool) -> None:
        """Watches for an AUC of 0.5, and for the loss of half of the highest AUC above 0.5."""
        self.watch(
            "given up",
            not collapsed and abs(auc - 0.5) < LEAST_AUC,
            f"signal and background have the same scores (signal has the higher one in {auc:.1%} of the pairs): the "
            f"classifier has stopped separating them, and the cross entropy of equal classes is {math.log(2):.3f} = "
            f"ln 2. Lower the strength or the learning rate. {_LOG_ODDS}",
        )
        self._looks += 1
        rate = max(1 / self._looks, _RATE)
        self._auc += rate * (auc - self._auc)
        self._variance = (1 - rate) ** 2 * self._variance + rate**2 * variance
        now = abs(self._auc - 0.5)  # signal can have the lower scores
        if self._looks >= PATIENCE and now > self._best:
            self._best, self._best_variance = now, self._variance
        fall = self._best - now
        self.watch(
            "signal lost",
            fall > 0.5 * self._best and fall > _SIGNIFICANT * math.sqrt(self._variance + self._best_variance),
            f"the AUC of the batches has fallen from {0.5 + self._best:.3f} to {0.5 + now:.3f}. If only the mass "
            "separates the signal, this is the price of flatness; otherwise lower the strength or the learning rate"
            f"{', give MoDeConstraint a tolerance,' * (not self._of_loss)} or raise the order. {_LOG_ODDS}",
        )

    def watch(self, what: str, wrong: bool, sentence: str) -> None:
        """Warns of a problem that has lasted for PATIENCE looks in a row."""
        self._in_a_row[what] = self._in_a_row.get(what, 0) + 1 if wrong else 0
        if self._in_a_row[what] >= PATIENCE:
            self.say(what, sentence)

    def say(self, what: str, sentence: str) -> None:
        """Warns, once."""
        if what not in self._said and not (what in _OF_SOFTMAX and "softmax" in self._said):
            self._said.add(what)
            sentence += ". (monitor=False turns such warnings off.)"
            if self.where is None:
                warnings.warn(sentence, TrainingWarning, stacklevel=level_of_the_user())
            else:
                warnings.warn_explicit(sentence, TrainingWarning, *self.where)


def _auc(score: NDArray[Any], background: NDArray[np.bool_]) -> tuple[float, float]:
    """The area under the ROC curve, by the mean rank of the signal, and its variance without separation."""
    ordered, signal = (
        np.sort(score[background]),
        np.sort(score[~background]),
    )  # searchsorted is faster on ordered values
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
