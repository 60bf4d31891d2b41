"""Whether the response is flat at each cut, from the tables for the tail in the state of a constraint.

For each threshold of the scores the core keeps averages of the relative residual: coefficients of functions of the
mass, see core/constraint/tail.go. One average covers the last 25,600 background events, in which a network at the end
of a training hardly changes. Over a longer time, a residual that swings around 0 would cancel. But the noise of so few
events hides a small residual that lasts. So there are two tests: the square of that average, and its product with the
average over ten times as many events, which has a third of the noise. A residual counts if either test sees it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._native import state_fields

# As in core/constraint: the functions and the averages of the tail.
_FUNCTIONS, _OF_ONE = (24, 25, 27), (24, 5, 3)  # of one, two and three masses: all, and for each mass
_THRESHOLDS, _HIGHEST = 16, 7.0
_OF_A_BATCH, _IN_RECENT, _IN_MEAN, _FEWEST = 512, 50, 500, 50

_MOST_BINS, _IN_A_BIN = 24, 8  # if no number of bins is asked for

_LOGIT = np.linspace(0, _HIGHEST, _THRESHOLDS)  # log(q/(1 - q)) of the rank q of each threshold

#: The background efficiency at each threshold.
EFFICIENCY: NDArray[np.float64] = 1 / (1 + np.exp(_LOGIT))

# A network can learn the fluctuations of T training events. A test with N other events then finds rho = N/T.
LIMIT = 2.25  # times 1 + N/T: a cut with a larger 1 + rho is not flat, with 1.5 times the residual from both statistics
SIGNIFICANT = 3.0  # standard errors of rho above 1 + N/T
LEAST_PASSING = 1  # background event of a batch passes a cut; with fewer, the ranks of a batch do not reach the cut


@dataclass(frozen=True)
class Sample:
    """The numbers of background events of one part in a batch: with a push, and all, also reference events."""

    moved: float
    count: float


@dataclass(frozen=True, eq=False)
class Convergence:
    """rho at cuts with background efficiencies from 1/2 to 1/1000. A test sees no dependence if rho is at most 1.

    rho is the squared residual beyond its noise, over the squared residual that statistics alone give a test with N =
    ``tolerance`` background events. Both are sums over cosines of the rank of the mass, 24 for one mass. The residual
    of such a test is ``sqrt(1 + rho)`` times its value from statistics.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.jax import State
    >>> State().convergence().flat  # None before the first batch
    """

    efficiency: NDArray[np.float64]  #: of the background at each cut, (16,)
    rho: NDArray[np.float64]  #: (16,), NaN if unknown, as at cuts that no event of most batches passes
    error: NDArray[np.float64]  #: standard error of rho, (16,)
    significance: NDArray[np.float64]  #: of rho above 1 + N/T, in standard errors
    tolerance: float  #: N
    events: float  #: T, the background events of the training sample; inf if unknown
    batches: int  #: the number of batches
    category: int | None = None  #: the least flat category, which these numbers are of; None without categories

    @property
    def flat(self) -> bool | None:
        """Whether no residual is above its value from the statistics of test and training; None without batches."""
        return None if np.isnan(self.rho).all() else not self.excess.any()

    @property
    def excess(self) -> NDArray[np.bool_]:
        """The cuts that are not flat."""
        return (self.rho > self.limit) & (self.significance > SIGNIFICANT)

    @property
    def limit(self) -> float:
        """The largest rho of a flat cut, where 1 + rho is 2.25 times 1 + N/T."""
        return LIMIT * (1 + self.tolerance / self.events) - 1

    @property
    def worst(self) -> int:
        """The cut with the most significant rho."""
        return int(np.argmax(np.nan_to_num(self.significance, nan=-math.inf)))

    def __str__(self) -> str:
        if self.flat is None:
            return f"rho is not known after {self.batches} batches"
        at, cuts = self.worst, self.efficiency[self.excess]
        text = f"after {self.batches} batches rho is {self.rho[at]:.3g} +- {self.error[at]:.2g} at a background "
        text += f"efficiency of {self.efficiency[at]:.2g}"
        if self.category is not None:
            text += f" in category {self.category}"
        text += f". Up to {self.limit:.3g} counts as flat for a test with "
        text += f"{self.tolerance:,.0f} background events"
        if self.events < math.inf:
            text += f" after a training with {float(f'{self.events:.2g}'):,.0f}"
        if len(cuts):
            text += ". Cuts that are not flat have background efficiencies of " + ", ".join(f"{e:.2g}" for e in cuts)
        return text


def convergence(
    state: NDArray[np.float64],
    samples: Sequence[Sample],
    *,
    order: int,
    tolerance: float,
    bins: int = 0,
    joint: bool = False,
    evaluated: bool = False,
    categories: int = 0,
) -> Convergence:
    """The convergence of the part, a category of a label, that is least flat.

    bins : the bins of each mass; 0 stands for as many as the events of a batch allow
    evaluated : whether one network has scored all batches of the state
    """
    every = [_of_part(state, k, sample, order, tolerance, bins, joint, evaluated) for k, sample in enumerate(samples)]
    worst = max(range(len(every)), key=lambda k: np.nan_to_num(every[k].significance, nan=-math.inf).max())
    return replace(every[worst], category=worst % categories if categories else None)


def usual_samples(state: NDArray[np.float64], moved: float = 1.0) -> list[Sample]:
    """The mean sample of the batches for each part of a state, of which this share is pushed."""
    _, stride, *_ = first = state_fields()["batches"]
    samples = []
    for part in range((state.size - first.offset) // stride):
        count = number(state, "seen", part) / max(number(state, "batches", part), 1)
        samples.append(Sample(moved * count, count))
    return samples


def field(state: NDArray[np.float64], name: str, part: int = 0) -> NDArray[np.float64]:
    """A table in the state of a constraint; a number has the shape (1, 1)."""
    offset, stride, rows, columns = state_fields()[name]
    offset += part * stride
    return state[offset : offset + rows * columns].reshape(rows, columns)


def number(state: NDArray[np.float64], name: str, part: int = 0) -> float:
    """A number in the state of a constraint."""
    return float(field(state, name, part)[0, 0])


def _of_part(
    state: NDArray[np.float64],
    part: int,
    sample: Sample,
    order: int,
    tolerance: float,
    bins: int,
    joint: bool,
    evaluated: bool,
) -> Convergence:
    if not state.any() or not number(state, "batches", part):
        unknown = np.full(_THRESHOLDS, np.nan)
        return Convergence(EFFICIENCY, unknown, unknown, unknown, tolerance, math.inf, 0)
    batches, masses = number(state, "batches", part), int(number(state, "masses"))
    recent, mean, marks = (field(state, name, part) for name in ("recent", "mean", "marks"))
    behind, seen, sightings = (number(state, name, part) for name in ("known", "seen", "sightings"))
    different = seen * len(np.unique(marks)) / sightings if sightings > 0 else math.inf
    if not (behind > 0 and sample.moved > 0):
        unknown = np.full(_THRESHOLDS, np.nan)
        return Convergence(EFFICIENCY, unknown, unknown, unknown, tolerance, different, int(batches))
    rate = max(min(sample.moved / _OF_A_BATCH / _IN_MEAN, 1 / _FEWEST), 1 / batches)
    effective = sample.count * behind / min(sample.count / rate, different)  # as in tail.go
    functions = _FUNCTIONS[masses - 1]
    # The residual of several masses is the mean over the masses, and has no products of their functions.
    bins = bins or min(_MOST_BINS, max(int(sample.count) // _IN_A_BIN, order + 2))
    of_one = min(_OF_ONE[masses - 1], bins)
    freedom = functions - order - 1.0 if joint else masses * (of_one - order - 1.0)
    freedom = max(freedom, 1.0)
    noise = freedom * (1 - EFFICIENCY) / EFFICIENCY / effective / (1 if joint else masses**2)
    noise = np.where(sample.count * EFFICIENCY >= LEAST_PASSING, noise, np.nan)
    size = sample.moved / _OF_A_BATCH
    of_mean, of_recent = (mean, min(size / _IN_MEAN, 1 / _FEWEST)), (recent, min(1.0, size / _IN_RECENT))
    scale, taught = tolerance / effective, tolerance / different * (sample.count / effective)
    judge = partial(_judged, batches=batches, noise=noise, scale=scale, taught=taught, freedom=freedom)
    if evaluated:
        rho, error, significance = judge(of_mean, of_mean)
    else:
        lasting, swinging = judge(of_recent, of_mean), judge(of_recent, of_recent)
        swings = swinging[2] > np.maximum(lasting[2], SIGNIFICANT)
        rho, error, significance = np.where(swings, swinging, lasting)
    return Convergence(EFFICIENCY, rho, error, significance, tolerance, different, int(batches))


_Average = tuple[NDArray[np.float64], float]  # and the share of a batch in the average


def _judged(
    recent: _Average,
    other: _Average,
    *,
    batches: float,
    noise: NDArray[np.float64],
    scale: float,
    taught: float,
    freedom: float,
) -> NDArray[np.float64]:
    """rho from the product of two averages, its error, and its significance above 1 + taught.

    In units of the noise of a batch, the product of averages a and b of one residual has the mean t + s_ab and the
    variance (s_aa s_bb + s_ab^2 + t (s_aa + s_bb + 2 s_ab))/freedom. Here t is the squared residual, and s_ab the
    :func:`overlap` of a and b. If the residual was larger in the past, b has it, and its product with the noise of a
    counts.
    """
    (a, of_a), (b, of_b) = recent, other
    s_aa, s_bb, s_ab = (overlap(batches, *rates) for rates in ((of_a, of_a), (of_b, of_b), (of_a, of_b)))
    excess = (a * b).sum(axis=0) / noise - s_ab
    past = 0.0 if a is b else (b**2).sum(axis=0) / noise - s_bb

    def error(t: Any) -> NDArray[np.float64]:
        variance = s_aa * s_bb + s_ab**2 + np.maximum(t, past) * s_aa + t * (s_bb + 2 * s_ab)
        of_rho: NDArray[np.float64] = scale * np.sqrt(variance / freedom)
        return of_rho

    rho = scale * excess
    return np.array([rho, error(np.maximum(excess, 0)), (rho - 1 - taught) / error((1 + taught) / scale)])


def overlap(batches: float, rate: float, other: float | None = None) -> float:
    """The sum over the batches, at least 1, of the product of a batch's shares in two averages.

    The share of a new batch is ``1/batches``, and at least the rate. Without another rate both averages are the same.
    """
    other = rate if other is None else other
    first = min(batches, 1 / min(rate, other))  # up to here all batches have the same share in the longer average
    limit = rate * other / (rate + other - rate * other)
    return limit + (1 / first - limit) * math.pow((1 - rate) * (1 - other), batches - first)
