"""What a step across an event of a bin changes: J is a quadratic form of the bins' CDFs, less its bias.

A polynomial is fitted to the CDFs by orthonormal rows q_l over the bins, beside the constant one, so that a bin has the
residual r_b = F_b - sum_b F_b/bins - q_b.sum_b q_b F_b, and a step of F_b M_bb = 1 - 1/bins - q_b^2. The bias is
sum_b g_b [S_b (1 - 2 F_b) + F_b^2 T_b], g_b = M_bb/(1 - 2 U_b/T_b + T_b), with S_b the sum of the squared steps up to a
score, and T_b and U_b those of all squares and cubes in the bin: core/internal/walk/variance.go.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from .constants import Constants
from .plan import Plan
from .sums import of_cells


class Moments(NamedTuple):
    """Of the bins, and of each event's own."""

    bins: Tensor  #: () their number
    good: Tensor  #: (checks, bins) whether values, their number and their sums are such that there is a loss
    #: (rows, N): T, twice the sums of -F_b and S_b up to the bin's middle and of -F_b up to its start, q_1, ..., and g
    of_event: Tensor
    fit: Tensor  #: (order, N): q of each event's bin


def moments_of(
    plan: Plan, k: Constants, bin_: Tensor, step: Tensor, mass: Tensor, total: Tensor, alone: list[Tensor]
) -> tuple[Moments, Tensor]:
    """The moments, and e_i^2, of steps e_i, masses from an origin near them, and -W_b; ``alone`` has limits too."""
    (_, powers, columns), order = k.sums.shape, plan.order
    if order:
        products = torch.stack([step] * (powers + 1) + [mass] * (powers - 1)).view(2, powers, -1).cumprod(1)
    else:
        products = step.expand(1, powers, -1).cumprod(1)
    sums = of_cells(k.sums[: len(products)], bin_, products)
    minus_one, square, cube = sums[0, :3]  # sum of e_i, e_i^2 and e_i^3
    along = sums.view(-1, columns) @ k.along
    bins, minus_bins = along[0, -2:]
    fit = _orthonormal(sums[-1, 1 : order + 1], along[powers + 1 : powers + order + 1, -2:-1] / bins, minus_one)
    of_one = torch.addcdiv(k.ones, minus_one, bins)  # M_bb
    for row in fit:
        of_one = torch.addcmul(of_one, row, row, value=-1)
    g = of_one / torch.addcdiv(along[1, 2 * columns : 3 * columns], cube, square, value=2)
    table = [one[:, None].expand(-1, columns) for one in (*alone, minus_bins[None])]
    table += [total[None], square[None], along[:2, :columns], along[:1, columns : 2 * columns]]
    table += [row[None] for row in [*fit, g]]
    found, n = torch.cat(table), len(k.bounds)
    of_event = found[n - 1 :].index_select(1, bin_)
    return Moments(bins, found[:n] <= k.bounds, of_event, of_event[4:-1]), products[0, 1]


def _orthonormal(rows: Tensor, means: Tensor, minus_one: Tensor) -> list[Tensor]:
    """Minus the mean polynomials, (order, bins), less their means, (order, 1), made orthonormal one by one."""
    done: list[Tensor] = []
    rest = torch.addcmul(rows, means, minus_one, value=-1) if len(rows) else rows
    while len(rest):
        done.append(rest[0] / torch.linalg.vector_norm(rest[0]))
        rest = rest[1:]
        if len(rest):
            rest = torch.addr(rest, rest @ done[-1], done[-1], alpha=-1)
    return done
