"""The bin of each event, and the sum of the weights of each bin."""

import torch
from torch import Tensor

from .constants import SCALE, Constants
from .plan import Plan
from .sums import of_cells


def bins_of(
    plan: Plan, k: Constants, mass: Tensor, rank: Tensor, count: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """The numbers of the bins, (N,), from 1 on, and -W_b, (bins,); rank says how many masses are not above each."""
    if plan.edges is not None:
        bin_ = torch.searchsorted(k.edges, mass, right=True, out_int32=True)
    else:
        # Bin b begins with the mass of rank r = floor(b n / bins) of those in order, at the start of its tie, and
        # that is so for an event of which r masses or more are not above: arXiv:2010.09745.
        bins = plan.bins or torch.bucketize(count, k.thresholds.to(count.dtype), right=True)
        bin_ = torch.searchsorted(k.ranks.to(count.dtype) * count // bins, rank, out_int32=True)
    if not plan.merges:
        return bin_, of_cells(k.empty, bin_, weight, -1)
    return bin_, of_cells(k.none, bin_, weight.expand(2, -1).cumprod(0), SCALE)


def merged(plan: Plan, k: Constants, bin_: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
    """The bins, and -W_b, where neighbors with too few events are one; sums (2, bins) of w and w^2, are times SCALE.

    From the lowest mass on a bin ends where it has enough effective events. What is left joins the last of these, and
    that the one before, until they have enough. Where that leaves too few bins for the order, a positive sum of
    weights is enough. From each node between bins a step leads to the first one that is far enough; where a
    triangular matrix has these steps, its inverse has their sequences.
    """
    nodes = k.apart.shape[-1]
    weight, square = (sums @ k.stretches).view(2, nodes, nodes)  # between each two nodes
    enough = weight > square.sqrt() * k.needed
    first = enough.max(-1, keepdim=True).indices  # 0 where there is none, which the triangle does not have
    steps = torch.scatter(k.apart, -1, first, -1.0)
    reached = torch.linalg.solve_triangular(steps, k.start, upper=True, left=False, unitriangular=True)
    tails = torch.linalg.solve_triangular(steps, enough[..., -1:].float(), upper=True, unitriangular=True)
    numbers = (reached[:, 0] * tails[..., 0] >= 1).cumsum(1, dtype=torch.int32)
    number = torch.where(numbers[0, -2] >= plan.order + 2, numbers[0], numbers[1])
    totals = torch.index_add(k.empty, 0, number[:-1], sums[0, :-1], alpha=-1 / SCALE)
    return number.index_select(0, bin_), totals
