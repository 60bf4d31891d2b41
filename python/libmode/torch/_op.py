"""The loss as a PyTorch operator, ``libmode::mode_loss``.

The operator returns the loss and the gradient, which the core finds in the same
pass; backward multiplies the gradient that was kept by the incoming one. There
is no second derivative: the loss is piecewise linear in the scores.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._options import Options


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def encode(background_label: int | Sequence[int] = 0, **options: Any) -> str:
    """Options as the text that the operator takes; the options are checked."""
    try:
        return _cached_encode(background_label, **options)
    except TypeError:  # a list among the values, or an error that comes again
        return _encode(background_label, **options)


def _encode(background_label: int | Sequence[int], **options: Any) -> str:
    text = json.dumps({"background_label": background_label, **options}, default=_plain)
    decode(text)
    return text


_cached_encode = lru_cache(maxsize=256, typed=True)(_encode)


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is not an option's value")


@lru_cache(maxsize=256)
def decode(text: str) -> Options:
    """What :func:`encode` was given."""
    return Options(**json.loads(text))


def compute(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str, which: _native.Loss
) -> tuple[Tensor, Tensor]:
    """A loss of the core, shape (), and its gradient, of score's shape, type and device.

    Tensors are of shape (n,), on any device: the core runs on the CPU. The loss
    is float64 for float64 scores and float32 otherwise.
    """
    chosen = decode(options)
    double = score.dtype == torch.float64 or mass.dtype == torch.float64
    double = double or weight is not None and weight.dtype == torch.float64
    kind = torch.float64 if double else torch.float32
    scores, masses = _ready(score, kind), _ready(mass, kind)
    weights = None if weight is None else _ready(weight, kind)
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
        which=which,
    )
    return torch.tensor(loss, dtype=_loss_type(score), device=score.device), grad.to(score.device, score.dtype)


def _compute(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    return compute(score, mass, weight, label, options, "loss")


mode_loss_op = torch.library.custom_op("libmode::mode_loss", _compute, mutates_args=())


@mode_loss_op.register_fake
def _(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str) -> tuple[Tensor, Tensor]:
    return score.new_empty((), dtype=_loss_type(score)), torch.empty_like(score, memory_format=torch.contiguous_format)


def _loss_type(score: Tensor) -> torch.dtype:
    return torch.float64 if score.dtype == torch.float64 else torch.float32


def _ready(tensor: Tensor, kind: torch.dtype) -> Tensor:
    """The tensor as the core reads it, often itself."""
    if tensor.dtype is kind and tensor.is_cpu and tensor.is_contiguous():
        return tensor
    return tensor.detach().to("cpu", kind).contiguous()


def _labels(label: Tensor, options: Options) -> Tensor:
    """Labels as int32, where what is no background label may have become another such number."""
    label = label.detach().cpu()
    if label.dtype == torch.int32:
        return label.contiguous()
    codes = torch.full(label.shape, options.unused_label, dtype=torch.int32)
    for background in options.labels:
        codes.masked_fill_(label == background, background)
    return codes


def product(incoming: Tensor, grad: Tensor) -> Tensor:
    return (incoming * grad).to(grad.dtype)


@torch.library.custom_op("libmode::mode_loss_backward", mutates_args=())
def _backward_op(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The product. The score takes no part; it ties the result to what it must not be derived by."""
    return product(incoming, grad)


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
    """The operator with its backward, for ``MoDeFunction.apply(score, mass, weight, label, options)``.

    Where nothing traces or replaces tensors, the operator's function is called
    without the dispatcher, which at 1,000 events costs more than the loss.
    """

    @staticmethod
    def forward(
        ctx: Any, score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str
    ) -> Tensor:
        plain = type(score) in (Tensor, torch.nn.Parameter) and not torch.compiler.is_compiling()
        plain = plain and not score.is_meta  # Keras asks for the shape so
        loss, grad = (_compute if plain else mode_loss_op)(score, mass, weight, label, options)
        ctx.save_for_backward(score, grad)
        return loss

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None, None, None]:
        if torch.is_grad_enabled():  # create_graph
            return _backward(ctx, incoming, None)
        _, grad = ctx.saved_tensors
        return product(incoming, grad), None, None, None, None
