"""The loss and its gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .bins import bins_of, merged
from .constants import Constants, constants_of
from .events import matrix
from .middles import doubled
from .moments import Moments, moments_of
from .plan import Plan


class Found(NamedTuple):
    """What is found for n events, of which only those that take part matter."""

    loss: Tensor  #: ()
    grad: Tensor  #: (n,) d loss/d score
    good: Tensor  #: (checks, bins) whether there is a loss; else it means nothing


class Binned(NamedTuple):
    """The events in their bins, (N,) each: n, and two columns that are no events."""

    ranks: Tensor  #: (scores and masses, N) how many are not above each
    bin: Tensor
    step: Tensor  #: e_i = -w_i/W_b
    square: Tensor  #: e_i^2
    moments: Moments


def loss_and_grad(plan: Plan, score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None) -> Found:
    """The loss of tensors (n,) on one device, of one floating type but for the labels."""
    k = constants_of(plan, score)
    rows = matrix(plan, k, score, mass, weight, label)
    real = rows - k.centre
    of = binned(plan, k, rows, real, real[2])
    rows_of_scores = [of.step, *(of.moments.fit * of.step)]
    rows_of_bins = [of.step, of.square] if plan.unbiased else [of.step]
    sums = doubled(k, of.ranks[0], of.bin, filled(rows_of_scores, rows_of_bins))
    change, variance = changes(of, sums[:, 0], sums[:, 1], plan.unbiased)
    if variance is not None:
        change = torch.addcmul(change, of.moments.of_event[-1], variance, value=-1)
    step = of.step / of.moments.bins if plan.mean else of.step
    grad = torch.addcmul(step, step, change, value=-1)[: len(score)]
    return Found(torch.dot(grad, real[0, : len(score)]), grad, of.moments.good)


def filled(*orders: list[Tensor]) -> list[tuple[Tensor, ...]]:
    """Rows with a value for each order; where one has fewer, its first stands for those that nobody asks for."""
    most = max(map(len, orders))
    return list(zip(*([*rows, *[rows[0]] * (most - len(rows))] for rows in orders), strict=True))


def binned(plan: Plan, k: Constants, rows: Tensor, real: Tensor, weight: Tensor) -> Binned:
    """The events of a matrix in their bins.

    real : the same in double precision, less the centres of the rows
    weight : (N,)
    """
    n, mass = rows.shape[1] - 2, k.rows.index("mass")
    ordered = torch.sort(rows[: mass + 1, :n], dim=1).values  # scores, and masses
    ranks = torch.searchsorted(ordered, rows[: mass + 1], right=True, out_int32=True)
    count = ranks[mass, -1]
    bin_, total = bins_of(plan, k, real[mass], ranks[mass], count, weight)
    largest = torch.linalg.vector_norm(real[:, :n], torch.inf, dim=1)
    if plan.merges:
        bin_, total = merged(k, bin_, total, largest[mass + 1] != rows[-1].amin())
    step = weight / total.index_select(0, bin_)
    offset = real[mass] - ordered[mass, 0] if plan.order else step
    moments, square = moments_of(plan, k, bin_, step, offset, total, count, largest)
    return Binned(ranks, bin_, step, square, moments)


def changes(of: Binned, scores: Tensor, bins: Tensor, unbiased: bool) -> tuple[Tensor, Tensor | None]:
    """By how much J changes with the step of each event about the middle of its tie, per step, (N,).

    scores : (order + 1, N) twice the sums of e, q_1 e, ... up to the middle, along the scores
    bins : (2, N) those of e and e^2, bin after bin

    Returns 1 less the change without the bias, and what is to be multiplied with g and added: the change is
    2 (F_b - the fit) - g [2 S - 2 F T - e (1 - 2 F)], where own has 1 - 2 F and 2 S - T, and the step is -e.
    """
    start = of.moments.of_event[1:3] if unbiased else of.moments.of_event[1:2]
    own = torch.sub(bins[: len(start)], start, alpha=2)
    change = torch.addcdiv(own[0], scores[0], of.moments.bins, value=-1)
    for q, sums in zip(of.moments.fit, scores[1:], strict=False):
        change = torch.addcmul(change, q, sums, value=-1)
    if not unbiased:
        return change, None
    return change, torch.addcmul(own[1], own[0], of.moments.of_event[0] + of.step)
