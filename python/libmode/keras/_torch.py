"""What Keras needs of PyTorch: the loss and the push of :mod:`libmode.torch`, by the names of libmode.jax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .._evaluate import Evaluate, loss_and_grad
from .._events import Events
from .._host_constraint import Added
from .._options import Options
from ..torch._op import Eager, as_numpy
from ..torch.constraint import Constrained, finite


@torch.compiler.disable  # the core is not part of a graph
def loss_of(options: Options, events: Events, evaluate: Evaluate = loss_and_grad) -> Tensor:
    """A loss of options that are checked, by a function as :func:`loss_and_grad` is."""
    loss: Tensor
    if events.score.is_meta:
        loss = events.score.new_zeros(())
    else:
        options = options.rounded_to(events.score.dtype, events.mass.dtype)
        loss = Eager.apply(*events, options, partial(_compute, evaluate))
    return loss


def _compute(evaluate: Evaluate, *arguments: Any) -> tuple[Tensor, Tensor]:
    *tensors, options = arguments
    loss, grad = _call_back(partial(evaluate, options), *tensors)
    return grad.new_tensor(loss), grad


@torch.compiler.disable
def constrained(added: Added, events: Events) -> Tensor:
    """The scores, with what is added to their gradient."""
    score: Tensor = events.score
    if score.is_meta or not (torch.is_grad_enabled() and score.requires_grad):
        return score
    numbers, push = _call_back(added.push, *events)
    slope, multiplier = torch.as_tensor(numbers[1:], dtype=push.dtype, device=push.device).view(2, *push.shape)
    same: Tensor = Constrained.apply(score, push, multiplier, slope, float(numbers[0]), partial(finite, ()), {})
    return same


def _call_back(compute: Callable[..., Any], *tensors: Tensor | None) -> tuple[Any, Tensor]:
    """What compute returns for arrays, the score and others or None: a number, and an array like the score."""
    half = torch.float16, torch.bfloat16
    known = (tensor.float() if tensor is not None and tensor.dtype in half else tensor for tensor in tensors)
    arrays = (None if tensor is None else as_numpy(tensor) for tensor in known)
    one, grad = compute(*arrays)
    assert tensors[0] is not None
    return one, torch.as_tensor(grad, device=tensors[0].device)
