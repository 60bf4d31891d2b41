"""Tensors that depend on the options alone, made once for each device."""

import math
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from .plan import PER_BIN, Plan

#: By what sums of weights are multiplied: that a bin has 4 effective events, W^2 >= 4 sum w^2, is W > sqrt(sum w^2)
#: then, rounded or not. So many have bins that are merged.
SCALE = (1 + 2e-12) / 4

# A bin with fewer effective events has no known variance: core/internal/walk/variance.go.
_FEWEST, _TINY = 1.05, 1e-300


Constants = SimpleNamespace  # tensors by name


def on(device: torch.device, values: Any, dtype: torch.dtype = torch.float64) -> Tensor:
    """A constant tensor, for which the host does not wait."""
    tensor = torch.as_tensor(values, dtype=dtype)
    if device.type == "cuda" and type(tensor) is Tensor:
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def constants_of(like: Tensor, plan: Plan) -> Constants:
    """Those of a plan for the type and device of a tensor; kept, but for a fake one, without values."""
    real = type(like) in (Tensor, torch.nn.Parameter)
    return (_cached if real else _made)(like.dtype, like.device, plan)


def _made(dtype: torch.dtype, device: torch.device, plan: Plan) -> Constants:
    """Columns are bins, of which the first and last have no events."""
    low, high = plan.score_range
    # A response of this order can be seen in more bins than it has coefficients.
    least, most, columns, powers = plan.order + 2, plan.most, plan.most + 2, max(3, plan.order + 1)
    # Above all masses, its cube a number, and the number before it.
    far, nearly = (2.0**127, 2.0**127 - 2.0**103) if dtype is torch.float32 else (2.0**333, 2.0**333 - 2.0**280)
    # Of each row of the matrix of events: the two columns that are no events, below all scores, the first below all
    # masses and the last above; what events have that take no part; what is subtracted; how large values may be then.
    row = {
        "score": ([-math.inf, -math.inf], high, (low + high) / 2, (high - low) / 2),
        "mass": ([-far, nearly], far, 0.0, far),
        "weight": ([0.0, 0.0], 0.0, 0.0, math.inf),
    }
    rows = ["score", "mass", "weight"]
    fewest = plan.fewest if plan.bins else most if plan.edges is not None else least
    checks = [row[name][3] for name in rows] + ([-plan.bins] if plan.bins else [])
    checks += ([-2 * _TINY] if plan.bins and plan.weighted else []) + [0.5 - fewest]
    checks += [0.0, 1 / _FEWEST if plan.unbiased else 1e300]
    bounds = torch.tensor(checks, dtype=torch.float64)[:, None].repeat(1, columns)
    bounds[-1, 0] = 1.0
    sums = torch.zeros(2, powers, columns, dtype=torch.float64)
    sums[0, 1] = _TINY  # of squares, by which is divided
    sums[0, 1, 0] = 1.0
    node, one = torch.arange(columns), torch.ones(columns, dtype=torch.float64)
    between = (node[:, None, None] >= node[:, None]) & (node[:, None, None] < node)
    before, plus_one, total = 2.0 * (node[:, None] < node), one.diag(), one[:, None].clone()
    middle = before + plus_one
    before[0], middle[0], plus_one[0], total[0] = 0, 0, 1, 0
    return Constants(
        rows=rows,
        one=on(device, [1.0], dtype),
        ends=on(device, [row[name][0] for name in rows], dtype),
        fill=on(device, [[row[name][1]] for name in rows], dtype),
        center=on(device, [[row[name][2]] for name in rows]),
        # bins.py: the numbers of events from which on there is one bin more; the numerators of ranks; lower edges
        thresholds=on(device, [-1] * least + [PER_BIN * k for k in range(least + 1, most + 1)], torch.int32),
        ranks=on(device, [-1, *range(1, most)], torch.int32),
        edges=on(device, [-math.inf, *(plan.edges or ())[1:-1]]),
        none=on(device, torch.zeros(2, columns)),
        empty=on(device, -_TINY * one),  # -W_b of no events
        stretches=on(device, between.reshape(columns, -1).double() if plan.merges else []),
        apart=on(device, torch.zeros(2, columns, columns), torch.float32),
        needed=on(device, [[[1.0]], [[1e-12]]]),  # by SCALE; rounding alone makes no positive sum
        start=on(device, torch.eye(1, columns), torch.float32),
        # moments.py: what sums are added to; with what those over bins are made: twice up to its middle and to its
        # start, 1 + it, -all, all
        sums=on(device, sums),
        along=on(device, torch.cat([middle, before, plus_one, -total, total], 1)),
        ones=on(device, one),
        minus=on(device, [-1.0]),
        bounds=on(device, bounds),
        # loss.py: which multiples of the bin's number tell the orders apart
        pair=on(device, [[[0]], [[1]]], torch.int32),
        blocks=on(device, [[0], [1]], torch.int32),
    )


_cached = lru_cache(maxsize=64)(_made)
