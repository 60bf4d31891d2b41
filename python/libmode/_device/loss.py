"""The loss and its gradient, by running sums up to the middle of each event's tie, along several orders."""

from typing import NamedTuple

import torch
from torch import Tensor

from .._events import Events
from .bins import bins_of, merged
from .constants import Constants, constants_of
from .events import matrix
from .moments import Moments, moments_of
from .plan import Plan
from .sums import up_to


class Found(NamedTuple):
    """What is found for n events."""

    loss: Tensor  #: ()
    grad: Tensor  #: (n,) d loss/d score
    good: Tensor  #: (checks, bins) whether there is a loss


class Binned(NamedTuple):
    """The events in their bins, (N,) each: n, and two columns that are no events."""

    rank: Tensor  #: how many scores are not above its own
    bin: Tensor
    step: Tensor  #: e_i = -w_i/W_b
    square: Tensor  #: e_i^2
    moments: Moments


def loss_and_grad(plan: Plan, events: Events) -> Found:
    """The loss of tensors (n,) on one device, of one floating type but for the labels."""
    k, n = constants_of(events.score, plan), len(events.score)
    rows = matrix(plan, k, events)
    real = rows - k.center
    of = binned(plan, k, rows, real)
    sums = doubled(k, of, [of.step, *(of.moments.fit * of.step)], [of.step, of.square, of.step])
    change, variance = changes(of, sums[:, 0], sums[:3, 1])
    if plan.unbiased:
        change = torch.addcmul(change, of.moments.of_event[-1], variance, value=-1)
    step = of.step / of.moments.bins if plan.mean else of.step
    grad = torch.mul(step, change)[:n]
    return Found(torch.dot(grad, real[0, :n]), grad, of.moments.good)


def binned(plan: Plan, k: Constants, rows: Tensor, real: Tensor) -> Binned:
    """The events of a matrix in their bins; ``real`` is the same in double precision, less the centers of the rows."""
    n, (_, mass, weight, *_) = rows.shape[1] - 2, real
    ordered = torch.sort(rows[:2, :n], dim=1).values  # scores, and masses
    ranks = torch.searchsorted(ordered, rows[:2], right=True, out_int32=n * plan.most < 2**31)
    count = ranks[1, -1]
    bin_, total = bins_of(plan, k, mass, ranks[1], count, weight)
    largest = torch.linalg.vector_norm(real[:, :n], torch.inf, dim=1)
    if plan.merges:
        bin_, total = merged(plan, k, bin_, total)
    of_bin = total.index_select(0, bin_)
    step, alone = weight / of_bin, [largest]
    if plan.bins:
        alone.append(count * k.minus)
        if plan.weighted:  # the weights of a bin may all be 0
            alone.append(of_bin[:n].amax()[None])
    offset = mass - ordered[1, 0] if plan.order else step
    moments, square = moments_of(plan, k, bin_, step, offset, total, alone)
    return Binned(ranks[0], bin_, step, square, moments)


def changes(of: Binned, scores: Tensor, bins: Tensor) -> tuple[Tensor, Tensor]:
    """By how much J changes with the step of each event, per step, (N,), and what g is to multiply and be subtracted.

    scores : (order + 1, N) twice the sums of e, q_1 e, ... up to the middle of its tie, along the scores
    bins : (3, N) those of e, e^2 and e, bin after bin

    It is 2 (F_b - the fit) - g [2 S - 2 F T - e (1 - 2 F)], where own has 2 F - 1, T - 2 S and 2 F, and the step is -e.
    """
    own = of.moments.of_event[1:4] - bins
    change = torch.addcdiv(own[2], scores[0], of.moments.bins)
    for q, sums in zip(of.moments.fit, scores[1:], strict=False):
        change = torch.addcmul(change, q, sums)
    return change, torch.addcmul(own[1], own[0], of.moments.of_event[0] + of.step)


def doubled(k: Constants, of: Binned, scores: list[Tensor], bins: list[Tensor]) -> Tensor:
    """Twice the sums, (rows, 2, N), of values along the scores, and of others along the bins and scores in them.

    They are those below each event's tie, and those up to its end. Both orders stand one after the other in one list of
    keys, which is sorted once. A column that is no event is the first of each, with values of 0. Where one order has
    fewer rows, its first stands for those that nobody asks for.
    """
    n, most = len(of.rank), max(len(scores), len(bins))
    orders = ([*rows, *[rows[0]] * (most - len(rows))] for rows in (scores, bins))
    rows = list(zip(*orders, strict=True))
    kind = torch.int32 if n * (len(k.empty) + 1) < 2**31 else torch.int64
    key = torch.addcmul(of.rank.to(kind), of.bin.to(kind), k.blocks.to(kind), value=n)  # ranks are below n
    keys, order = torch.sort(key.view(-1))
    ends = torch.searchsorted(keys[1:], key + k.pair.to(kind), out_int32=kind is torch.int32)
    values = torch.stack([row for of_order in rows for row in of_order]).view(len(rows), -1)
    return up_to(values, order, ends).sum(1)
