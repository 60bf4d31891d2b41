"""What Keras needs of PyTorch: the loss and the push of tensors, in the order and by the names of libmode.jax.

Here the core is called with the options and the state of Keras's classes, as on the other backends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .._evaluate import Evaluate, loss_and_grad
from .._host_constraint import Added
from .._options import Options


@torch.compiler.disable  # the core is not part of a graph
def loss_of(
    options: Options,
    score: Tensor,
    mass: Tensor,
    weight: Tensor,
    label: Tensor | None,
    category: Tensor | None = None,
    evaluate: Evaluate = loss_and_grad,
) -> Tensor:
    """A loss of options that are checked, by a function as :func:`loss_and_grad` is."""
    if score.is_meta:
        return score.new_zeros(())
    options = options.rounded_to(score.dtype, mass.dtype)
    loss: Tensor = _Loss.apply(score, partial(evaluate, options), (mass, weight, label, category))
    return loss


@torch.compiler.disable
def constrained(
    added: Added, score: Tensor, mass: Tensor, weight: Tensor, label: Tensor | None, category: Tensor | None
) -> Tensor:
    """The scores, with what is added to their gradient."""
    if score.is_meta or not (torch.is_grad_enabled() and score.requires_grad):
        return score
    same: Tensor = _Same.apply(score, added, (mass, weight, label, category))
    return same


def known_to_numpy(tensor: Tensor) -> Tensor:
    """The tensor, in float32 where its type is a smaller floating one, which NumPy may not have."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def call_back(compute: Callable[..., Any], tensors: list[Tensor | None]) -> tuple[Any, Tensor]:
    """What compute returns for these tensors, the score and others or None: a number, and a tensor like the score."""
    arrays = (None if tensor is None else known_to_numpy(tensor).detach().cpu().numpy() for tensor in tensors)
    one, grad = compute(*arrays)
    assert tensors[0] is not None
    return one, torch.as_tensor(grad, device=tensors[0].device)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, score: Tensor, compute: Callable[..., Any], others: tuple[Tensor | None, ...]) -> Tensor:
        loss, grad = call_back(compute, [score, *others])
        ctx.save_for_backward(grad)
        return grad.new_tensor(loss)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None]:
        (grad,) = ctx.saved_tensors
        return incoming * grad, None, None


class _Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, score: Tensor, added: Added, others: tuple[Tensor | None, ...]) -> Tensor:
        ctx.per_norm, push = call_back(added.push, [score, *others])
        ctx.save_for_backward(score, push)
        ctx.by_logit = added.constraint.by_logit
        return score.view_as(score)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None]:
        score, push = ctx.saved_tensors
        of_score = incoming.to(push.dtype)
        norm = torch.linalg.vector_norm(of_score * ctx.by_logit(score.to(push.dtype)) * (push != 0))
        strength = torch.nan_to_num(ctx.per_norm * norm, 0.0, 0.0, 0.0)  # the scale of a loss can be too large
        return (of_score + strength * push).to(score.dtype), None, None
