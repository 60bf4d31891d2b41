"""The exact MoDe loss in PyTorch, as fast as we could make it without leaving PyTorch.

Written to be a rival, not a straw man. What it does to be fast:

* No autograd through the sums: the gradient has a closed form, and the loss is
  a sum over the gradient. With R = 1 - P'A the residual of a fit, K = R'R and
  F_mean the mean of the CDFs just below and just above event i of bin b, the
  integrand J = F'KF falls by ::

      -dL/ds_i / scale  =  J_+ - J_-  =  2 e_i (K F_mean)_b ,   e_i = w_i / W_b

  and summation by parts gives L = -sum_i dL/ds_i (1 - s_i).
* K = 1 - Y'A - A'Y with Y = P - PP'A/2, so K F_mean needs 2 (order + 1)
  cumulative sums and no array of events x bins: O(n (order + 1)) time, O(n) memory.
* Floats are sorted by their bits as integers, for which PyTorch has a radix
  sort: 3 times faster than ``torch.sort`` of floats at 10^6, 7 times at 10^5.
* The bins need no search: events sorted by mass lie in bins one after another.

The formulas are those of docs and core, arXiv:2010.09745 with the integral over
the score done exactly; bins are quantiles of the mass.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# PyTorch sorts fewer integers than this (its GRAIN_SIZE) by comparison, where floats are as fast.
_RADIX_FROM = 32_768


def strong_torch_loss(
    score: Tensor,
    mass: Tensor,
    order: int,
    bins: int,
    weight: Tensor | None = None,
    mass_range: tuple[float, float] | None = None,
    *,
    radix: bool = True,
) -> Tensor:
    """The MoDe loss of (n,) tensors, differentiable in ``score``; float64 for float64 scores, else float32.

    Quantile bins, quadrature moments, scores inside (0, 1), the mean over bins,
    weights of either sign, masses equal or not. The loss is exact for tied
    scores too; their gradients have the right sum, but each is that of events
    which cross one after another, not the mean over their orders.

    radix : sort by the bits of the floats; False: ``torch.sort`` of the floats,
        which is what most people would write.
    """
    return _StrongMoDe.apply(score, mass, order, bins, weight, mass_range, radix)


class _StrongMoDe(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        score: Tensor,
        mass: Tensor,
        order: int,
        bins: int,
        weight: Tensor | None,
        mass_range: tuple[float, float] | None,
        radix: bool,
    ) -> Tensor:
        if mass_range is None:
            loss, grad = _loss_and_grad(score, mass, order, bins, weight, mass_range, radix)
        else:
            inside = (mass >= mass_range[0]) & (mass <= mass_range[1])
            weights = None if weight is None else weight[inside]
            loss, part = _loss_and_grad(score[inside], mass[inside], order, bins, weights, mass_range, radix)
            grad = torch.zeros_like(score)
            grad[inside] = part
        ctx.save_for_backward(grad)
        return loss.to(score.dtype)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = ctx.saved_tensors
        return grad * incoming, None, None, None, None, None, None


def _loss_and_grad(
    score: Tensor,
    mass: Tensor,
    order: int,
    bins: int,
    weight: Tensor | None,
    mass_range: tuple[float, float] | None,
    radix: bool,
) -> tuple[Tensor, Tensor]:
    sort = _sort_bits if radix and len(score) >= _RADIX_FROM else torch.sort
    bin_of, edges = _quantile_bins(mass, bins, mass_range, sort)
    used = len(edges) - 1
    score, by_score = sort(score)
    # Small integers, for which the stable sort that follows is the fastest.
    bin_of = bin_of.index_select(0, by_score)
    bin_by_bin, by_bin = torch.sort(bin_of, stable=True)
    bin_of, bin_by_bin = bin_of.int(), bin_by_bin.int()
    counts = torch.bincount(bin_of, minlength=used)

    if weight is None:
        in_turn, sums = None, counts.double()
        e_f = _unweighted_e_f(bin_by_bin, by_bin, counts)
    else:
        in_turn = weight.index_select(0, by_score).double()
        e_f, sums = _weighted_e_f(in_turn, bin_by_bin, by_bin, counts)
    a, y = _tables(edges, order)
    table = torch.cat([a, y]) / sums
    fall = e_f.sub_(_moments_part(table, bin_of, in_turn))  # e_i (K F_mean)_b
    grad = fall.mul_(-2 / used)
    loss = -torch.dot(grad, 1 - score.double())
    return loss, _unsorted(grad.to(score.dtype), by_score)


def _sort_bits(x: Tensor) -> tuple[Tensor, Tensor]:
    """``torch.sort`` of floats, by integers in the same order."""
    integer, ones = (torch.int64, 2**63 - 1) if x.dtype == torch.float64 else (torch.int32, 2**31 - 1)
    bits = (x + 0.0).view(integer)  # + 0.0: one zero, not two
    keys, by = torch.sort(_flip_negative_(bits, ones))
    return _flip_negative_(keys, ones).view(x.dtype), by


def _flip_negative_(bits: Tensor, ones: int) -> Tensor:
    """Reverses the order of the bits of negative floats; it is its own inverse."""
    sign = torch.iinfo(bits.dtype).bits - 1
    return bits.bitwise_xor_((bits >> sign).bitwise_and_(ones))


def _unsorted(ordered: Tensor, by: Tensor) -> Tensor:
    """The array that equals ``ordered`` when indexed with ``by``."""
    return torch.empty_like(ordered).put_(by, ordered)


def _quantile_bins(mass: Tensor, bins: int, mass_range: tuple[float, float] | None, sort: Any) -> tuple[Tensor, Tensor]:
    """The bin of each event, in the smallest integers, and the edges of the bins used, in float64."""
    n = len(mass)
    ordered, by_mass = sort(mass)
    ranks = torch.arange(1, bins) * n // bins
    at = ordered[ranks]
    starts = torch.searchsorted(ordered, at)  # a rank inside a run of equal masses moves down to its start
    starts = torch.unique_consecutive(starts)
    starts = starts[starts > 0]
    below, above = ordered[starts - 1].double(), ordered[starts].double()
    middle = (below + above) / 2
    inner = torch.where(middle <= below, above, middle)
    lowest, highest = (ordered[0].item(), ordered[-1].item()) if mass_range is None else mass_range
    ends = torch.tensor([lowest, highest], dtype=torch.float64)
    edges = torch.cat([ends[:1], inner, ends[1:]])

    used = len(edges) - 1
    small = torch.uint8 if used <= 256 else torch.int16 if used <= 2**15 else torch.int32
    begins = torch.zeros(n, dtype=small)
    begins[starts] = 1
    return _unsorted(begins.cumsum(0, dtype=small), by_mass), edges


def _tables(edges: Tensor, order: int) -> tuple[Tensor, Tensor]:
    """A and Y = P - PP'A/2, both (order + 1, bins)."""
    x = 2 * (edges - edges[0]) / (edges[-1] - edges[0]) - 1
    center, width = (x[1:] + x[:-1]) / 2, x.diff()
    rows = [torch.ones_like(center), center]
    for k in range(1, order):
        rows.append(((2 * k + 1) * center * rows[k] - k * rows[k - 1]) / (k + 1))
    p = torch.stack(rows[: order + 1])
    degree = torch.arange(order + 1, dtype=torch.float64)[:, None]
    a = (2 * degree + 1) / 2 * width * p
    return a, p - p @ p.T @ a / 2


def _unweighted_e_f(bin_by_bin: Tensor, by_bin: Tensor, counts: Tensor) -> Tensor:
    """e_i F_mean_b in the order of score: (rank in the bin + 1/2) / n_b^2."""
    first = (counts.cumsum(0) - counts).double()
    out = torch.arange(len(by_bin), dtype=torch.float64)
    out.sub_((first - 0.5).index_select(0, bin_by_bin))
    out.mul_((1 / counts.double().square()).index_select(0, bin_by_bin))
    return _unsorted(out, by_bin)


def _weighted_e_f(weight: Tensor, bin_by_bin: Tensor, by_bin: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """e_i F_mean_b in the order of score, and W_b."""
    grouped = weight.index_select(0, by_bin)
    out = grouped.cumsum(0)
    last = out[counts.cumsum(0) - 1]
    first = torch.cat([last.new_zeros(1), last[:-1]])
    sums = last - first
    out.sub_(grouped, alpha=0.5).sub_(first.index_select(0, bin_by_bin)).mul_(grouped)
    out.mul_((1 / sums.square()).index_select(0, bin_by_bin))
    return _unsorted(out, by_bin), sums


def _moments_part(table: Tensor, bin_of: Tensor, weight: Tensor | None) -> Tensor:
    """e_i ((Y'A + A'Y) F_mean)_b in the order of score; ``table`` holds A and Y over W_b.

    A row at a time, in the same few arrays: at large n this is faster than all
    rows at once, and at small n not slower.
    """
    size = len(table) // 2
    out = torch.zeros(len(bin_of), dtype=torch.float64)
    a, y, running = (torch.empty_like(out) for _ in range(3))
    for row_a, row_y in zip(table[:size], table[size:], strict=True):
        torch.index_select(row_a, 0, bin_of, out=a)
        torch.index_select(row_y, 0, bin_of, out=y)
        if weight is not None:
            a.mul_(weight)
            y.mul_(weight)
        out.addcmul_(y, torch.cumsum(a, 0, out=running))
        out.addcmul_(a, torch.cumsum(y, 0, out=running).sub_(y))
    return out
