"""Tensors that depend on the options alone."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .plan import PER_BIN, Plan

#: Effective events: those that a bin has, where bins are merged, and without which its variance is not known.
ENOUGH, FEWEST = 4.0, 1.05

_TINY = 1e-300
_ROUNDING = 1e-12  # of the comparison with ENOUGH, which is exact for weights of 1


class Constants(NamedTuple):
    """By what they are for."""

    # events.py, in the type of the events
    rows: tuple[str, ...]  #: of the matrix: names of arguments, or "one"
    one: Tensor  #: (1,)
    zero: Tensor  #: (1,)
    ends: Tensor  #: (rows, 2), the last two columns: below all scores and masses, and the mass below which all others are
    fill: Tensor  #: (rows, 1), of events that take no part: of high score and mass, and of weight 0
    centre: Tensor  #: (rows, 1)
    # bins.py
    thresholds: Tensor  #: the numbers of events from which on there is one bin more
    ranks: Tensor  #: (most,) 1, 2, ..., to be divided by the number of bins; the first below all
    edges: Tensor  #: (most,) the lower edges of the bins
    none: Tensor  #: (2, bins) 0
    empty: Tensor  #: (bins,) -W_b of a bin without events, as good as 0
    stretches: Tensor  #: (bins, nodes * nodes) whether a bin lies between two nodes
    apart: Tensor  #: (nodes, nodes) 0
    start: Tensor  #: (1, nodes) 1 for the first node
    # moments.py
    sums: Tensor  #: (2, powers, bins) what sums over the events of bins are added to: 0, but 1 for squares of no bin
    along: Tensor  #: (bins, 2 bins + 2) with what sums over bins are made: up to the middle of each, 1 + it, all, -all
    ones: Tensor  #: (bins,)
    minus: Tensor  #: (1,) -1
    bounds: Tensor  #: (checks, bins)
    # middles.py
    pair: Tensor  #: (2, 1, 1) 0, 1
    blocks: Tensor  #: (orders, 1) which multiples of the bin's number tell the orders apart


def constants_of(plan: Plan, like: Tensor) -> Constants:
    """The constants for events of the type, and on the device, of a tensor."""
    if type(like) is not Tensor and not isinstance(like, torch.nn.Parameter):  # as a fake one, which has no values
        return _made(plan, like.dtype, like.device)
    return _kept(plan, like.dtype, like.device)


@lru_cache(maxsize=64)
def _kept(plan: Plan, dtype: torch.dtype, device: torch.device) -> Constants:
    return _made(plan, dtype, device)


def on(device: torch.device, values: Any, dtype: torch.dtype = torch.float64) -> Tensor:
    """A constant tensor, for which the host does not wait."""
    tensor = torch.as_tensor(values, dtype=dtype)
    if device.type != "cuda":
        return tensor.to(device)
    return (tensor.pin_memory() if type(tensor) is Tensor else tensor).to(device, non_blocking=True)


def _made(plan: Plan, dtype: torch.dtype, device: torch.device) -> Constants:
    low, high = plan.score_range
    least, most = plan.least, plan.most
    columns, powers = most + 2, max(3, plan.order + 1)
    far = torch.tensor(3e38 if dtype is torch.float32 else 1e100, dtype=dtype)  # above all masses, its cube a number
    nearly, far = torch.nextafter(far, -far).item(), far.item()
    row = {
        "score": ([-math.inf, -math.inf], high, (low + high) / 2, (high - low) / 2),
        "scale": ([-math.inf, -math.inf], high, low, math.inf),
        "mass": ([-far, nearly], far, 0.0, far),
        "weight": ([0.0, 0.0], 0.0, 0.0, math.inf),
        "least": ([far, far], far, 0.0, math.inf),  # the weights once more, for the smallest
        "tiny": ([torch.finfo(dtype).tiny] * 2, 0.0, 0.0, math.inf),  # without which no weights have the sum 0
        "one": ([0.0, 0.0], 0.0, 0.0, math.inf),
    }
    names = ("score", "mass", "weight")
    if plan.constraint:
        names = ("score", "scale", "mass", "weight", "tiny", "one")
    elif plan.merges:
        names = ("score", "mass", "weight", "least")

    fewest = most if plan.edges is not None else plan.order + (1 if plan.bins else 2)
    checks = [row[name][3] for name in names] + [0.5 - fewest] + ([-plan.bins] if plan.bins else [])
    checks += [0.0, 1 / FEWEST if plan.unbiased or plan.constraint else 1e300]
    bounds = torch.tensor(checks, dtype=torch.float64)[:, None].repeat(1, columns)
    bounds[-1, 0] = 1.0
    sums = torch.zeros(2, powers, columns, dtype=torch.float64)
    sums[0, 1] = 1e-300  # not 0, by which would be divided
    sums[0, 1, 0] = 1.0
    nodes = torch.arange(columns)
    between = (nodes[:, None, None] >= nodes[None, :, None]) & (nodes[:, None, None] < nodes[None, None, :])
    one = torch.ones(columns, dtype=torch.float64)
    before = (nodes[:, None] < nodes[None, :]) + one.diag() / 2
    before[0] = 0
    plus_one = one.diag()
    plus_one[0] = 1
    total = one[:, None].clone()
    total[0] = 0
    return Constants(
        rows=names,
        one=on(device, [1.0], dtype),
        zero=on(device, [0.0], dtype),
        ends=on(device, [row[name][0] for name in names], dtype),
        fill=on(device, [[row[name][1]] for name in names], dtype),
        centre=on(device, [[row[name][2]] for name in names]),
        thresholds=on(device, [-1] * least + [PER_BIN * k for k in range(least + 1, most + 1)], torch.int32),
        ranks=on(device, [-1, *range(1, most)], torch.int32),
        edges=on(device, [-math.inf, *(plan.edges or ())[1:-1]]),
        none=on(device, torch.zeros(2, columns)),
        empty=on(device, [-_TINY] * columns),
        stretches=on(device, between.reshape(columns, -1).double() if plan.merges else []),
        apart=on(device, torch.zeros(columns, columns), torch.float32),
        start=on(device, torch.eye(1, columns), torch.float32),
        sums=on(device, sums),
        along=on(device, torch.cat([before, plus_one, -total, total], 1)),
        ones=on(device, one),
        minus=on(device, [-1.0]),
        bounds=on(device, bounds),
        pair=on(device, [[[0]], [[1]]], torch.int32),
        blocks=on(device, [[0], [1], [columns + 1]] if plan.constraint else [[0], [1]], torch.int32),
    )


#: How many weights are counted as less than one, so that W^2 >= ENOUGH sum w^2 is W > sqrt(sum w^2) of them.
SCALE = (1 + 2 * _ROUNDING) / ENOUGH
