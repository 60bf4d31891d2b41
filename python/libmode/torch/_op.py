"""The losses as PyTorch functions, and the MoDe loss as the operator ``libmode::mode_loss``.

Both return the loss and the gradient, which the core finds in the same pass; the
derivative multiplies the gradient that was kept by the incoming one. It is kept in
float32 for scores of half precision, in which most of it would be 0, and rounded to
their type after the product. The operator is for what traces or replaces tensors, as
torch.compile does; the function costs less, and torch.func can transform it.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _native
from .._arrays import with_labels
from .._functions import NO_SECOND_DERIVATIVE
from .._options import Options, plain, plain_labels


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def encode(background_label: int | Sequence[int] = 0, **options: Any) -> str:
    """Options as the text that the operator takes; the options are checked."""
    return _encode(plain_labels(background_label), **plain(options))


@lru_cache(maxsize=256)
def _encode(background_label: tuple[int, ...], **options: Any) -> str:
    text = json.dumps([background_label, options])
    decode(text)
    return text


@lru_cache(maxsize=256)
def decode(text: str) -> Options:
    """What :func:`encode` was given."""
    background_label, options = json.loads(text)
    return Options(tuple(background_label), **options)


def compute(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str, which: _native.Loss
) -> tuple[Tensor, Tensor]:
    """A loss of the core, shape (), and its gradient, of score's shape, both on score's device.

    Tensors are of shape (n,), on any device: the core runs on the CPU. Both results
    are float64 for float64 scores and float32 otherwise.
    """
    chosen = decode(options)
    double = score.dtype == torch.float64 or mass.dtype == torch.float64
    double = double or weight is not None and weight.dtype == torch.float64
    kind = torch.float64 if double else torch.float32
    scores, masses = _ready(score, kind), _ready(mass, kind)
    weights = None if weight is None else _ready(weight, kind)
    labels = None if label is None else _labels(label, chosen)
    grad = torch.empty_like(scores)
    try:
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
            held=(chosen, scores, masses, weights, labels, grad),
        )
    except _native.BatchError as error:
        raise with_labels(error, None if label is None else as_numpy(label), chosen) from None
    kind = result_type(score)
    return torch.tensor(loss, dtype=kind, device=score.device), grad.to(score.device, kind)


def _compute(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    return compute(score, mass, weight, label, options, "loss")


mode_loss_op = torch.library.custom_op("libmode::mode_loss", _compute, mutates_args=())


@mode_loss_op.register_fake
def _(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str) -> tuple[Tensor, Tensor]:
    kind = result_type(score)
    return score.new_empty((), dtype=kind), torch.empty_like(score, dtype=kind, memory_format=torch.contiguous_format)


def result_type(score: Tensor) -> torch.dtype:
    """The type of the loss and of the gradient that is kept."""
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
    codes = label.to(torch.int32)
    return codes.masked_fill_(codes != label, options.unused_label)


def as_numpy(label: Tensor) -> Any:
    """Labels of any type and device as an array."""
    label = label.detach().cpu()
    return np.asarray(label.double() if label.is_floating_point() else label)


def _product(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The gradient of what follows the loss; only here is it rounded to the type of the score."""
    return (incoming * grad).to(score.dtype)


@torch.library.custom_op("libmode::mode_loss_backward", mutates_args=())
def _backward_op(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The product. The score ties the result to what it must not be derived by."""
    return _product(incoming, grad, score)


@_backward_op.register_fake
def _(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    return torch.empty_like(grad, dtype=score.dtype)


def _no_second_derivative(ctx: Any, *incoming: Tensor) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


_backward_op.register_autograd(_no_second_derivative)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.mark_non_differentiable(output[1])


def _backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor, None, None, None, None]:
    score, grad = ctx.saved_tensors
    return _backward_op(incoming, grad, score), None, None, None, None


mode_loss_op.register_autograd(_backward, setup_context=_keep)


class _Eager(torch.autograd.Function):
    """A loss of the core with its derivative: ``apply(score, mass, weight, label, options, which)``.

    torch.func cannot transform it, but PyTorch calls it at half the cost of what it can.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        loss, grad = compute(*inputs)
        ctx.save_for_backward(inputs[0], grad)
        ctx.save_for_forward(inputs[0], grad)
        ctx.which = inputs[-1]
        return loss

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor, None, None, None, None, None]:
        score, grad = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph, and always in torch.func
            grad = _Tied.apply(grad, score, ctx.which)
        return _product(incoming, grad, score), None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *others: Any) -> Tensor:
        score, grad = ctx.saved_tensors
        product: Tensor = _Tied.apply(grad, score, ctx.which) * tangent
        return product.sum()


class _Transformed(torch.autograd.Function):
    """The same for torch.func; returns the gradient too, which itself has no derivative.

    ``vmap`` computes one loss after the other.
    """

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        return compute(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        _keep(ctx, inputs, output)
        ctx.save_for_forward(inputs[0], output[1])
        ctx.which = inputs[-1]

    @staticmethod
    def backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor, None, None, None, None, None]:
        return _Eager.backward(ctx, incoming)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor, None]:
        return _Eager.jvp(ctx, *tangents), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        results = []
        for place in range(info.batch_size):
            one = (
                values if dim is None else values.select(dim, place)
                for values, dim in zip(inputs, in_dims, strict=True)
            )
            results.append(_Transformed.apply(*one))
        losses, grads = zip(*results, strict=True)
        return (torch.stack(losses), torch.stack(grads)), (0, 0)


class _Tied(torch.autograd.Function):
    """The gradient, tied to the score, by which it must not be derived."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad: Tensor, score: Tensor, which: _native.Loss) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.which = inputs[-1]

    @staticmethod
    def backward(ctx: Any, *incoming: Tensor) -> Any:
        raise RuntimeError(NO_SECOND_DERIVATIVE if ctx.which == "loss" else _NO_SECOND_DERIVATIVE_OF_BASELINES)

    jvp = backward


_NO_SECOND_DERIVATIVE_OF_BASELINES = (
    "DisCoLoss and FlatnessLoss have no second derivative here. "
    "Leave them out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
)


def core_loss(events: Any, options: str, which: _native.Loss) -> Tensor:
    """A loss of the core of ``Events`` that are checked."""
    score = events.score
    loss: Tensor
    # Tensors of other types stand for others, and Keras asks for the shape with those of the device "meta".
    if which == "loss" and (
        torch.compiler.is_compiling() or type(score) not in (Tensor, torch.nn.Parameter) or score.is_meta
    ):
        loss, _ = mode_loss_op(*events, options)
    elif torch._C._are_functorch_transforms_active():
        loss, _ = _Transformed.apply(*events, options, which)
    else:
        loss = _Eager.apply(*events, options, which)
    return loss
