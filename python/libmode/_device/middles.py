"""Running sums up to the middle of each event's tie, along several orders of the events at once.

The orders stand one after the other in one list of keys, which is sorted once. Two columns of each are no events and
stand first, with values of 0: so the sums before a key are those up to the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .constants import Constants


def doubled(k: Constants, ranks: Tensor, bin_: Tensor, rows: Sequence[Sequence[Tensor]]) -> Tensor:
    """Twice the sums, (rows, orders, N): those below each event's tie, and those up to its end.

    ranks : (N,) how many scores are not above each, or (orders, N): those of scores, scores and masses
    rows : of values (N,), for each order: that of scores, that of bins and within a bin of scores, that of masses
    """
    n = ranks.shape[-1]
    wide = n * (len(k.empty) + 1) ** (len(k.blocks) - 1) >= 2**31
    kind = torch.int64 if wide else torch.int32
    key = torch.addcmul(ranks.to(kind), bin_.to(kind), k.blocks.to(kind), value=n)  # ranks are below n
    keys, order = torch.sort(key.view(-1))
    ends = torch.searchsorted(keys[1:], key + k.pair.to(kind), out_int32=not wide)
    values = torch.stack([row for of_order in rows for row in of_order]).view(len(rows), -1)
    sums = values.index_select(1, order).view(len(rows), -1, n).cumsum(-1).view(len(rows), -1)
    return sums.index_select(1, ends.view(-1)).view(len(rows), 2, -1, n).sum(1)
