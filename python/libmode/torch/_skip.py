"""The loss 0 for a batch that has none."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .._bad_batches import SkipsBadBatches
from .._native import BatchError
from ._op import result_type


def or_skip(module: SkipsBadBatches, loss: Callable[..., Tensor], pred: Tensor, *others: Tensor | None) -> Tensor:
    """``loss(pred, *others)``, and where the batch has none what the module is to do."""
    if torch.compiler.is_dynamo_compiling():
        if module.on_bad_batch == "raise":
            return loss(pred, *others)
        return _outside_of_the_graph(module, loss, pred, *others)
    try:
        value = loss(pred, *others)
    except BatchError as error:
        module._skip(error)
        return _zero(pred)
    module._succeed()
    return value


# What is wrong with the events is known only when the graph runs, too late to return something else.
_outside_of_the_graph: Callable[..., Tensor] = torch.compiler.disable(or_skip)  # type: ignore[no-untyped-call]


def _zero(score: Tensor) -> Tensor:
    """0, with gradient 0 even where a score is NaN."""
    return score.masked_fill(torch.ones_like(score, dtype=torch.bool), 0).sum(dtype=result_type(score))
