"""Sums of many events, in the way that is fast on a GPU; of few, in the fewest operations.

Measured on an H100 for 10^6 events: 16 additions to each of 34 bins wait for each other for 6 ms, and take 0.1 ms where
the bins have 500 copies. Running sums of rows take 2 ms, since one block of threads computes a row, and of many short
rows 0.1 ms.
"""

import torch
from torch import Tensor

#: From so many events on.
MANY = 8192
_COPIES = 1 << 14  # of all cells
_BLOCK = 1024


def of_cells(zeros: Tensor, cell: Tensor, values: Tensor, alpha: float = 1.0) -> Tensor:
    """``zeros`` (..., cells) and ``alpha`` times the sum of the values (..., N) of each cell."""
    n, cells = values.shape[-1], zeros.shape[-1]
    if n < MANY:
        return torch.index_add(zeros, -1, cell, values, alpha=alpha)
    copies = _COPIES // cells
    at = torch.arange(n, dtype=cell.dtype, device=cell.device).remainder_(copies).mul_(cells).add_(cell)
    sums = torch.index_add(zeros.new_zeros(*zeros.shape[:-1], copies * cells), -1, at, values)
    return torch.add(zeros, sums.view(*zeros.shape[:-1], copies, cells).sum(-2), alpha=alpha)


def up_to(values: Tensor, order: Tensor, ends: Tensor) -> Tensor:
    """The running sums of values (rows, lists * N) in this order at these places, (rows, 2, lists, N).

    The last two values of each list are 0.
    """
    rows, n = len(values), ends.shape[-1]
    if n < MANY:
        sums = values.index_select(1, order).view(-1, n).cumsum(-1)
    else:
        # Those of blocks, and of their sums; zeros fill the last block of each list.
        more = -n % _BLOCK
        order = torch.nn.functional.pad(order.view(-1, n), (0, more), value=n - 1).view(-1)
        ends = ends + torch.arange(ends.shape[1], dtype=ends.dtype, device=ends.device).mul_(more)[:, None]
        sums = values.index_select(1, order).view(-1, (n + more) // _BLOCK, _BLOCK).cumsum(-1)
        sums[:, 1:] += sums[:, :-1, -1].cumsum(-1)[..., None]
    return sums.view(rows, -1).index_select(1, ends.view(-1)).view(rows, *ends.shape)
