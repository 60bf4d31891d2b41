"""The push of a constraint, and what it remembers: core/direction.go and libmode._constraint as a few operations.

Weights are divided by twice the sum of their sizes, so that sums up to both ends of a tie are the rank q of its middle.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from .._constraint import INTEGRAL, PROPORTIONAL, RATE
from .constants import Constants, constants_of, on
from .events import matrix
from .loss import binned, changes, filled
from .middles import doubled
from .plan import Plan

# internal/push of the core: the cosines of ranks, on how many cells; and ranges of scores of which each has so many events.
_COSINES, _CELLS, _PARTS, _IN_PART = 12, 32, 16, 20

#: How many there are of mass and score.
FUNCTIONS = _COSINES**2

# core/direction.go: what is rounding. A score nearer to a limit than the latter, where that of a network is saturated,
# gets no push.
_LEAST_NORM, _LEAST_SLOPE = 1e-12, 1e-6
_EDGE = 1e-12  # by how much rounded ranks may be too low
_LEAST_SPREAD = 1e-14  # squared: what rounding leaves of the variance of one score


class State(NamedTuple):
    """The buffers, which a batch changes."""

    numbers: Tensor  #: (8,) libmode._constraint.State
    sums: Tensor  #: (functions,)


class Pushed(NamedTuple):
    """What a batch is pushed with."""

    push: Tensor  #: (batch,), to be multiplied with the norm of what comes in and ``size``
    by_logit: Tensor  #: (batch,) how fast scores of pushed events move with their logits, of either sign; 0 for others
    size: Tensor  #: (), 0 for a batch that has no loss
    loss: Tensor  #: ()
    events: Tensor  #: () how many there are that would be pushed in a batch of all
    good: Tensor  #: () whether the batch has a loss


class _Constants(NamedTuple):
    cells: Tensor  #: (31,) the ranks at which they begin
    parts: Tensor  #: (16, 15) the same of 16, 15, ..., 1 ranges of scores
    squares: Tensor  #: (15,) the sums of squared weights above which there is one range less
    of_parts: Tensor  #: (2, 16) 0, and next to 0
    of_cells: Tensor  #: (1024,) 0
    zero: Tensor  #: ()
    least: Tensor  #: () what a norm is added to
    functions: Tensor  #: (144, 1024)
    at_cells: Tensor  #: (1024, 144) the same, times what weights were divided by
    factors: Tensor  #: (numbers, 3) the places of what is multiplied
    powers: Tensor  #: (numbers, 3)
    spread: Tensor  #: (4,) with which terms make its square


def push(
    plan: Plan,
    state: State,
    pred: Tensor,
    mass: Tensor,
    weight: Tensor | None,
    label: Tensor | None,
    *,
    logits: bool,
    batch: int,
    relative_strength: float | None,
) -> Pushed:
    """The push of the first ``batch`` of events (n,), after the state, which is brought up to date."""
    score = torch.sigmoid(pred) if logits else pred
    k, own = constants_of(plan, score), _constants_of(plan, score, logits)
    rows = matrix(plan, k, score, mass, weight, label)
    real = rows - k.centre
    n, width = len(score), plan.score_range[1] - plan.score_range[0]
    place = real[1] if width == 1 else real[1] / width
    weights = real[3] / torch.linalg.vector_norm(rows[3:5].expand(2, 2, -1), 1, (0, 1, 2), dtype=torch.float64)
    size, sign = (weights, real[5]) if weight is None else (weights.abs(), weights.sign())
    of = binned(plan, k, rows, real, weights)
    order = plan.order
    along = filled([of.step, *(of.moments.fit * of.step), size], [of.step, of.square], [size])
    sums = doubled(k, of.ranks, of.bin, along)
    change, variance = changes(of, sums[: order + 1, 0], sums[:2, 1], True)
    bias = of.moments.of_event[-1] * variance
    unbiased = 1 - (change - bias)

    # Sums of products of events, of which all single numbers are made.
    slope = torch.ops.aten.sigmoid_backward(sign, place)
    loss = of.step * real[0]
    every = torch.stack([loss, size, weights, sign, unbiased, bias, place, slope, real[5]])[:, :n]
    products = every[:4] @ every[2:].T

    cell, direction = _direction(own, of.square, unbiased if plan.unbiased else 1 - change, sums[order + 1], size, sign, products[2, 0], weight)
    good = of.moments.good.all()
    found = _numbers(k, own, state, products, direction, of.moments.bins, good)
    residual = torch.mv(own.functions, torch.index_add(own.of_cells, 0, cell, direction))
    unit = torch.addcmul(own.least, state.numbers[1], found[5])
    residual = torch.where(good, residual / unit, own.zero)

    # The law: what is pushed with, and what is remembered.
    gain = PROPORTIONAL if relative_strength is None else relative_strength
    coefficients = torch.add(state.sums, residual, alpha=-gain)
    if relative_strength is None:
        state.sums.sub_(residual, alpha=INTEGRAL)
    at = torch.mv(own.at_cells, coefficients).index_select(0, cell) * weights
    at = at if logits else torch.ops.aten.logit_backward(at, place, _LEAST_SLOPE)
    spread = torch.fmin(torch.dot(found[6:10], own.spread), found[9])  # at most 1, times the number of events
    if batch < n:
        spread = spread * found[9] / sign[:batch].abs().sum()
    size = torch.where(good, spread.sqrt(), own.zero)
    by_logit = sign if logits else slope if width == 1 else slope * width
    return Pushed(at[:batch].to(score.dtype), by_logit[:batch], size, found[1], found[9], good)


def _direction(
    own: _Constants, square: Tensor, change: Tensor, ranks: Tensor, size: Tensor, sign: Tensor, squares: Tensor, weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The cell of each event, and minus the gradient of the loss as a push of logits, times the number of bins.

    See internal/push of the core for what is taken out, and why.
    """
    cells = torch.bucketize(ranks, own.cells, right=True, out_int32=True)
    edges = own.parts.index_select(0, torch.bucketize(squares, own.squares, out_int32=True))
    part = torch.searchsorted(edges[0], ranks[0], right=True, out_int32=True)
    scaled = torch.ops.aten.logit_backward(square, ranks[0], 1e-16).sqrt() * change
    sums = torch.index_add(own.of_parts, 1, part, torch.stack([scaled, size]))
    means = (sums[0] / sums[1]).index_select(0, part)
    direction = torch.addcmul(scaled, size, means, value=-1)
    return torch.add(cells[0], cells[2], alpha=_CELLS), direction if weight is None else direction * sign


def _numbers(k: Constants, own: _Constants, state: State, products: Tensor, direction: Tensor, bins: Tensor, good: Tensor) -> Tensor:
    """The numbers of the batch, of which those that are averaged come first; the averages are brought up to date."""
    numbers = state.numbers
    numbers[0].add_(good)
    norm = torch.linalg.vector_norm(direction)
    every = torch.cat([products.view(-1), norm[None], bins[None], numbers[:1], k.minus])
    found = every.index_select(0, own.factors.view(-1)).view(-1, 3).pow(own.powers).prod(1)
    averaged = torch.lerp(numbers[1:6], found[:5], found[10].clamp(min=RATE))
    torch.where(good, averaged, numbers[1:6], out=numbers[1:6])
    return found


def _constants_of(plan: Plan, like: Tensor, logits: bool) -> _Constants:
    make = _made if type(like) is not Tensor and not isinstance(like, torch.nn.Parameter) else _kept
    return make(plan.score_range, like.device, logits)


def _made(score_range: tuple[float, float], device: torch.device, logits: bool) -> _Constants:
    cell = (torch.arange(_CELLS, dtype=torch.float64) + 0.5) / _CELLS
    cosines = torch.cos(math.pi * cell[:, None] * torch.arange(_COSINES))
    cosines[:, 1:] *= math.sqrt(2)
    functions = torch.kron(cosines, cosines)  # of mass and score
    infinite = [math.inf] * _PARTS
    parts = [[j / count - _EDGE for j in range(1, count)] + infinite for count in range(_PARTS, 0, -1)]
    fewer = [(1 + _EDGE) / (4 * _IN_PART * count) for count in range(_PARTS, 1, -1)]
    width = 1.0 if logits else score_range[1] - score_range[0]
    # The products of push(), 7 a row, and what is put after them.
    squares, sum_, count, loss, bias, mean, slope = 14 + 0, 14 + 6, 21 + 1, 2, 3, 7 + 4, 14 + 5
    norm, bins, steps, minus = 28, 29, 30, 31
    made: list[list[tuple[int, float]]] = [
        [(norm, 1), (bins, -1)],
        [(loss, 1), (bins, -1)],
        [(bias, 1), (bins, -1), (minus, 1)],
        [(sum_, 2), (squares, -1)],
        [(loss, 2), (bins, -2)],
        [(bins, 1), (count, 0.5)],  # 5
        [(mean, 1), (slope, -2), (count, 1)],
        [(mean, 2), (slope, -2), (count, 1)],
        [(slope, -1), (count, 1)],
        [(count, 1)],
        [(steps, -1)],  # 10
    ]
    full = [[*one, *[(minus, 0.0)] * (3 - len(one))] for one in made]
    return _Constants(
        cells=on(device, [j / _CELLS - _EDGE for j in range(1, _CELLS)]),
        parts=on(device, [row[: _PARTS - 1] for row in parts]),
        squares=on(device, fewer),
        of_parts=on(device, [[0.0] * _PARTS, [1e-300] * _PARTS]),
        of_cells=on(device, torch.zeros(_CELLS * _CELLS)),
        zero=on(device, 0.0),
        least=on(device, _LEAST_NORM),
        functions=on(device, functions.T.contiguous()),
        at_cells=on(device, functions * (2 / width)),
        factors=on(device, [[place for place, _ in one] for one in full], torch.int32),
        powers=on(device, [[power for _, power in one] for one in full]),
        spread=on(device, [0.5, -1.0, -0.5, _LEAST_SPREAD]),
    )


_kept = lru_cache(maxsize=16)(_made)
