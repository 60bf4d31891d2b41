"""The loss as a PyTorch operator, ``libmode::mode_loss``.

The operator returns the loss and the gradient, which the core finds in the same
pass; backward multiplies the gradient that was kept by the incoming one. There
is no second derivative: the loss is piecewise linear in the scores.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._options import Options


def encode(background_label: int | Sequence[int] = 0, **options: Any) -> str:
    """Options as the text that the operator takes; the options are checked."""
    text = json.dumps({"background_label": background_label, **options}, default=_plain)
    _decode(text)
    return text


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is not an option's value")


@lru_cache(maxsize=256)
def _decode(text: str) -> Options:
    return Options(**json.loads(text))


@torch.library.custom_op("libmode::mode_loss", mutates_args=())
def mode_loss_op(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    """The loss, shape (), and its gradient, of score's shape, type and device.

    Tensors are of shape (n,), on any device: the core runs on the CPU. The loss
    is float64 for float64 scores and float32 otherwise.
    """
    chosen = _decode(options)
    double = any(t is not None and t.dtype == torch.float64 for t in (score, mass, weight))
    kind = torch.float64 if double else torch.float32
    scores, masses, weights = (None if t is None else _ready(t, kind) for t in (score, mass, weight))
    labels = None if label is None else _labels(label, chosen)
    grad = torch.empty_like(scores)
    loss = _native.loss_grad(
        chosen.struct,
        double,
        scores.numel(),
        scores.data_ptr(),
        masses.data_ptr(),
        None if weights is None else weights.data_ptr(),
        None if labels is None else labels.data_ptr(),
        grad.data_ptr(),
    )
    return torch.tensor(loss, dtype=_loss_type(score), device=score.device), grad.to(score.device, score.dtype)


@mode_loss_op.register_fake
def _(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str) -> tuple[Tensor, Tensor]:
    return score.new_empty((), dtype=_loss_type(score)), torch.empty_like(score, memory_format=torch.contiguous_format)


def _loss_type(score: Tensor) -> torch.dtype:
    return torch.float64 if score.dtype == torch.float64 else torch.float32


def _ready(tensor: Tensor, kind: torch.dtype) -> Tensor:
    return tensor.detach().to("cpu", kind).contiguous()


def _labels(label: Tensor, options: Options) -> Tensor:
    """Labels as int32, where what is no background label may have become another such number."""
    label = label.detach().cpu()
    if label.dtype == torch.int32:
        return label.contiguous()
    codes = torch.full(label.shape, options.unused_label, dtype=torch.int32)
    for background in options.labels:
        codes[label == background] = background
    return codes


@torch.library.custom_op("libmode::mode_loss_backward", mutates_args=())
def _backward_op(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """incoming * grad. The score takes no part; it ties the result to what it must not be derived by."""
    return (incoming * grad).to(grad.dtype)


@_backward_op.register_fake
def _(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    return torch.empty_like(grad)


def _no_second_derivative(ctx: Any, *incoming: Tensor) -> Any:
    raise RuntimeError(
        "the MoDe loss has no second derivative: it is piecewise linear in the scores. "
        "Leave it out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
    )


_backward_op.register_autograd(_no_second_derivative)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor, None, None, None, None]:
    score, grad = ctx.saved_tensors
    return _backward_op(incoming, grad, score), None, None, None, None


mode_loss_op.register_autograd(_backward, setup_context=_keep)


class MoDeFunction(torch.autograd.Function):
    """The operator with its backward, for ``MoDeFunction.apply(score, mass, weight, label, options)``."""

    @staticmethod
    def forward(
        score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str
    ) -> tuple[Tensor, Tensor]:
        return mode_loss_op(score, mass, weight, label, options)

    setup_context = staticmethod(_keep)
    backward = staticmethod(_backward)
