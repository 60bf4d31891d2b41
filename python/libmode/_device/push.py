"""The push of a constraint, and what it remembers: core/direction.go and libmode._constraint as a few operations.

Weights are divided by twice the sum of their sizes, so that sums up to both ends of a tie are the rank q of its middle.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._constraint import NUMBERS
from .._events import Events
from .constants import Constants, constants_of, kept, on
from .events import matrix
from .loss import binned, changes, doubled, filled
from .plan import Plan
from .sums import of_cells

# internal/push of the core: the cosines of ranks, on how many cells; ranges of scores, and the events of each.
_COSINES, _CELLS, _PARTS, _IN_PART = 12, 32, 16, 20

FUNCTIONS = _COSINES**2

# What is rounding, of the norm, of a rank, and of the variance of one score; so near to a limit a score gets no push.
_LEAST_NORM, _EDGE, _LEAST_SPREAD, _LEAST_PLACE = 1e-12, 1e-12, 1e-14, 1e-6

# The law: the push of a batch, what one of so many events adds to the sum, and its least share in the averages.
_PROPORTIONAL, _INTEGRAL, _EVENTS, _RATE = 4.0, 0.02, 1024, 1 / 200


class Pushed(NamedTuple):
    """What a batch is pushed with."""

    push: Tensor  #: (batch,), to be multiplied with the norm of what comes in and ``size``
    slope: Tensor  #: (batch,) of the scores of pushed events by their logits, of either sign; 0 for others
    size: Tensor  #: (), 0 for a batch that has no loss
    loss: Tensor  #: ()
    events: Tensor  #: () how many there are that would be pushed in a batch of all
    good: Tensor  #: () whether the batch has a loss


def push(
    plan: Plan, state: Tensor, events: Events, logits: bool, batch: int, relative_strength: float | None
) -> Pushed:
    """The push of the first ``batch`` of events (n,); the state (7 + functions,) is brought up to date."""
    if logits:
        events = events._replace(score=torch.sigmoid(events.score))
    score, weight, n, order, numbers = events.score, events.weight, len(events.score), plan.order, state[:NUMBERS]
    width = plan.score_range[1] - plan.score_range[0]
    k, own = constants_of(score, plan), _constants_of(score, 1.0 if logits else width)
    rows = matrix(plan, k, events)
    real = rows - k.center
    place = real[1] if width == 1 else real[1] / width
    weights = real[3] / torch.linalg.vector_norm(rows[3:5].expand(2, 2, -1), 1, (0, 1, 2), dtype=torch.float64)
    size, sign = (weights, real[5]) if weight is None else (weights.abs(), weights.sign())
    of = binned(plan, k, rows, real, weights)
    along = filled([of.step, *(of.moments.fit * of.step), size], [of.step, of.square, of.step], [size])
    sums = doubled(k, of.ranks, of.bin, along)
    ranks = sums[order + 1]  # of the scores, and in row 2 of the masses
    change, variance = changes(of, sums[: order + 1, 0], sums[:3, 1])
    bias = of.moments.of_event[-1] * variance
    unbiased = change - bias

    # Sums of products of events, of which the single numbers are made.
    slope = torch.ops.aten.sigmoid_backward(sign, place)
    every = torch.stack([of.step * real[0], size, weights, sign, unbiased, bias, place, slope, real[5]])[:, :n]
    products = every[:4] @ every[2:].T

    # Minus the gradient as a push of logits, times the number of bins: see internal/push of the core for what is done.
    cells = torch.bucketize(ranks, own.cells, right=True, out_int32=True)
    edges = own.parts.index_select(0, torch.bucketize(products[2, 0], own.squares, out_int32=True))
    part = torch.searchsorted(edges[0], ranks[0], right=True, out_int32=True)
    per_logit = torch.ops.aten.logit_backward(of.square, ranks[0], 1e-16).sqrt()
    direction = per_logit * (unbiased if plan.unbiased else change)
    of_parts = of_cells(own.of_parts, part, torch.stack([direction, size]))
    direction = torch.addcmul(direction, size, (of_parts[0] / of_parts[1]).index_select(0, part), value=-1)
    direction = direction if weight is None else direction * sign
    cell = torch.add(cells[0], cells[2], alpha=_CELLS)

    # The numbers: averages first, which change with a batch that has a loss.
    good = of.moments.good.all()
    numbers[0].add_(good)
    norm = torch.linalg.vector_norm(direction)
    factors = torch.cat([products.view(-1), norm[None], of.moments.bins[None], numbers[:1], k.minus])
    found = factors.index_select(0, own.factors.view(-1)).view(-1, 3).pow(own.powers).prod(1)
    averaged = torch.lerp(numbers[1:6], found[:5], found[10].clamp(min=_RATE))
    torch.where(good, averaged, numbers[1:6], out=numbers[1:6])
    residual = torch.mv(own.functions, of_cells(own.of_cells, cell, direction))
    residual = residual / torch.addcmul(own.least_norm, found[5], torch.maximum(found[0], averaged[0]))
    residual = torch.where(good, residual, own.zero)  # minus r

    # The law: what is pushed with, and what is remembered.
    gain = _PROPORTIONAL if relative_strength is None else relative_strength
    coefficients = torch.add(state[NUMBERS:], residual, alpha=-gain)
    if relative_strength is None:
        state[NUMBERS:].sub_(residual, alpha=_INTEGRAL * math.sqrt(batch / _EVENTS))

    at = torch.mv(own.at_cells, coefficients).index_select(0, cell) * weights
    at = at if logits else torch.ops.aten.logit_backward(at, place, _LEAST_PLACE)
    spread = torch.fmin(torch.dot(found[6:10], own.spread), found[9])  # squared, at most 1, times the number of events
    if batch < n:
        spread = spread * found[9] / sign[:batch].abs().sum().clamp(min=1)
    slope = sign if logits else slope if width == 1 else slope * width
    size = torch.where(good, spread.sqrt(), own.zero)
    return Pushed(at[:batch].to(score.dtype), slope[:batch], size, found[1], found[9], good)


@kept
def _constants_of(_: torch.dtype, device: torch.device, width: float) -> Constants:
    """Those of an interval of scores of this width, 1 for logits."""
    cell = (torch.arange(_CELLS, dtype=torch.float64) + 0.5) / _CELLS
    cosines = torch.cos(math.pi * cell[:, None] * torch.arange(_COSINES))
    cosines[:, 1:] *= math.sqrt(2)
    functions = torch.kron(cosines, cosines)  # of mass and score
    counts = range(_PARTS, 0, -1)
    parts = [[*(j / count - _EDGE for j in range(1, count)), *[math.inf] * (_PARTS - count)] for count in counts]
    # What each number is a product of, as places in the products of push(), 7 a row, and in what is put after them.
    squares, sum_, count, loss, bias, mean, slope = 14 + 0, 14 + 6, 21 + 1, 2, 3, 7 + 4, 14 + 5
    norm, bins, steps, minus = 28, 29, 30, 31
    made: list[Any] = [
        [(norm, 1), (bins, -1)],
        *([(loss, 1), (bins, -1)], [(bias, 1), (bins, -1)], [(sum_, 2), (squares, -1)]),
        *([(loss, 2), (bins, -2)], [(bins, 1), (count, 0.5)]),
        *([(mean, 1), (slope, -2), (count, 1)], [(mean, 2), (slope, -2), (count, 1)], [(slope, -1), (count, 1)]),
        *([(count, 1)], [(steps, -1)]),
    ]
    full = [[*one, *[(minus, 0.0)] * (3 - len(one))] for one in made]
    return Constants(
        cells=on(device, [j / _CELLS - _EDGE for j in range(1, _CELLS)]),  # the ranks at which they begin
        parts=on(device, parts),  # the same of 16, 15, ..., 1 ranges, and the sums of squares above which one is less
        squares=on(device, [(1 + _EDGE) / (4 * _IN_PART * count) for count in counts[:-1]]),
        of_parts=on(device, [[0.0] * _PARTS, [1e-300] * _PARTS]),
        of_cells=on(device, torch.zeros(_CELLS * _CELLS)),
        zero=on(device, 0.0),
        least_norm=on(device, _LEAST_NORM),
        functions=on(device, functions.T.contiguous()),
        at_cells=on(device, functions * (2 / width)),  # 2: by what weights were divided
        factors=on(device, [[place for place, _ in one] for one in full], torch.int32),
        powers=on(device, [[power for _, power in one] for one in full]),
        spread=on(device, [0.5, -1.0, -0.5, _LEAST_SPREAD]),
    )
