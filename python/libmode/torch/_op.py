"""The losses as a PyTorch function and as the operator ``libmode::loss``.

Both return the loss and the gradient, which the core finds in the same pass; the
derivative multiplies the gradient that was kept by the incoming one. It is kept in
float32 for scores of half precision, in which most of it would be 0, and rounded to
their type after the product. The operator is for what traces or replaces tensors, as
torch.compile does; the function costs less, and torch.func can transform it.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
import json
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._arrays import with_labels
from .._far_masses import look
from .._front import NO_SECOND_DERIVATIVE, Events
from .._options import Options
from .._plain import plain
from ..option_types import Loss
from ._pinned import back_to, on_host

# All others become float64, which holds every background label.
_LABEL_TYPES = {getattr(torch, name): number for name, number in _native.LABEL_TYPES.items()}


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def encode(loss: Loss, **options: Any) -> str:
    """A loss and its options as the text that the operator takes; the options are checked."""
    return _encode(loss, **plain(loss, options))


@lru_cache(maxsize=256)
def _encode(loss: Loss, **options: Any) -> str:
    text = json.dumps([loss, options])
    decode(text)
    return text


@lru_cache(maxsize=256)
def decode(text: str) -> Options:
    """What :func:`encode` was given."""
    loss, options = json.loads(text)
    return Options(loss, **{name: _tupled(value) for name, value in options.items()})


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if type(value) is list else value


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def score_range_of(options: str, score: torch.dtype) -> tuple[float, float] | None:
    """The limits of the integral over scores of this type, or None if they come from the data."""
    return decode(options).rounded_to(score, score).score_range


def as_numpy(tensor: Tensor) -> Any:
    """A tensor of any type and device as an array."""
    if tensor.dtype is torch.bfloat16:  # which NumPy has not
        tensor = tensor.float()
    return tensor.numpy(force=True)


def compute(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, category: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    """A loss of the core, shape (), and its gradient, of score's shape, both on score's device.

    Tensors are of shape (n,), and mass also (n, d) for d variables, on any device: the core
    runs on the CPU. Both results are float64 for float64 scores and float32 otherwise.
    """
    result, grad = evaluate(Events(score, mass, weight, label, category), options, loss_alone=True)
    return torch.scalar_tensor(result.loss, dtype=result_type(score), device=score.device), grad


def evaluate(events: Events, options: str, loss_alone: bool = False) -> tuple[_native.ModeResult, Tensor]:
    """The result of the core, and the gradient as :func:`compute` returns it, of the same tensors."""
    arrays, checked = _arrays(*events, options)
    score, grad = arrays.score, torch.empty_like(arrays.score)
    try:
        result = _native.evaluate(
            checked.struct,
            _for_core(arrays, loss_alone),
            score.dtype is torch.float64,
            grad.data_ptr(),
            held=(arrays, grad),
        )
    except _native.BatchError as error:
        raise with_labels(error, None if events.label is None else as_numpy(events.label), checked) from None
    look(checked, arrays.mass.numpy(), None if arrays.label is None else arrays.label.numpy())
    return result, back_to(events.score.device, result_type(events.score), grad)


def _arrays(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, category: Tensor | None, options: str
) -> tuple[Events, Options]:
    """The tensors as the core reads them, on the CPU, and the options for them."""
    double = score.dtype is torch.float64 or mass.dtype is torch.float64
    kind = torch.float64 if double or weight is not None and weight.dtype is torch.float64 else torch.float32
    checked = decode(options).for_events(score.dtype, mass.dtype, mass.shape)
    if score.is_cuda:
        score, mass, weight, label, category = on_host((score, mass, weight, label, category))  # type: ignore[assignment]
    arrays = Events(
        _ready("score", score, kind),
        _ready("mass", mass if mass.ndim == 1 else mass.t(), kind),  # whose rows are the variables
        None if weight is None else _ready("weight", weight, kind),
        None if label is None else _ready("label", label, _whole(label, torch.float64)),
        None if category is None else _ready("category", category, _whole(category, torch.int64)),
    )
    return arrays, checked


def _whole(tensor: Tensor, otherwise: torch.dtype) -> torch.dtype:
    """The type in which the core reads labels or categories."""
    return tensor.dtype if tensor.dtype in _LABEL_TYPES else otherwise


def _ready(name: str, tensor: Tensor, kind: torch.dtype) -> Tensor:
    """The tensor as the core reads it, often itself."""
    if tensor.dtype is kind and tensor.is_cpu and tensor.is_contiguous():
        return tensor
    if tensor.is_meta:
        raise TypeError(f"{name} is on the device meta, where a tensor has no values: give one that has")
    return tensor.detach().to("cpu", kind).contiguous()


def _for_core(events: Events, loss_alone: bool) -> _native.ModeEvents:
    """The tensors that are ready, as the library takes them."""
    score, mass, weight, label, category = events
    return _native.events(
        score.shape[0],
        [row.data_ptr() for row in (mass if mass.ndim > 1 else [mass])],
        score=score.data_ptr(),
        weight=None if weight is None else weight.data_ptr(),
        label=None if label is None else label.data_ptr(),
        label_type=0 if label is None else _LABEL_TYPES[label.dtype],
        category=None if category is None else category.data_ptr(),
        category_type=0 if category is None else _LABEL_TYPES[category.dtype],
        loss_alone=loss_alone,
    )


loss_op = torch.library.custom_op("libmode::loss", compute, mutates_args=())


@loss_op.register_fake
def _(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, category: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    return like_results(score)


def like_results(score: Tensor) -> tuple[Tensor, Tensor]:
    """Tensors like those that :func:`compute` returns."""
    kind = result_type(score)
    return score.new_empty((), dtype=kind), torch.empty_like(score, dtype=kind, memory_format=torch.contiguous_format)


def result_type(score: Tensor) -> torch.dtype:
    """The type of the loss and of the gradient that is kept."""
    return torch.float64 if score.dtype is torch.float64 else torch.float32


def _product(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The gradient of what follows the loss; only here is it rounded to the type of the score."""
    product = incoming * grad
    return product if product.dtype is score.dtype else product.to(score.dtype)


@torch.library.custom_op("libmode::loss_backward", mutates_args=())
def _backward_op(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The product. The score ties the result to what it must not be derived by."""
    return _product(incoming, grad, score)


@_backward_op.register_fake
def _(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    return torch.empty_like(grad, dtype=score.dtype)


def _no_second_derivative(ctx: Any, *incoming: Tensor) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


_backward_op.register_autograd(_no_second_derivative)


def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.mark_non_differentiable(output[1])


def backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    score, grad = ctx.saved_tensors
    return _backward_op(incoming, grad, score), None, None, None, None, None


loss_op.register_autograd(backward, setup_context=keep)


class Eager(torch.autograd.Function):
    """A loss with its derivative: ``apply(score, mass, weight, label, category, options, compute)``.

    The last is :func:`compute`, or a function like it. torch.func cannot transform it, but PyTorch calls it at half
    the cost of what it can.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        loss: Tensor
        loss, grad = inputs[-1](*inputs[:-1])
        ctx.save_for_backward(inputs[0], grad)
        ctx.save_for_forward(inputs[0], grad)
        return loss

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        score, grad = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph, and always in torch.func
            grad = _Tied.apply(grad, score)
        return _product(incoming, grad, score), None, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *others: Any) -> Tensor:
        score, grad = ctx.saved_tensors
        product: Tensor = _Tied.apply(grad, score) * tangent
        return product.sum()


class Transformed(torch.autograd.Function):
    """The same for torch.func; returns the gradient too, which itself has no derivative.

    ``vmap`` computes one loss after the other.
    """

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor]:
        loss, grad = inputs[-1](*inputs[:-1])
        return loss, grad

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        keep(ctx, inputs, output)
        ctx.save_for_forward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
        return Eager.backward(ctx, incoming)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor, None]:
        return Eager.jvp(ctx, *tangents), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        results = []
        for place in range(info.batch_size):
            one = (
                values if dim is None else values.select(dim, place)
                for values, dim in zip(inputs, in_dims, strict=True)
            )
            results.append(Transformed.apply(*one))
        losses, grads = zip(*results, strict=True)
        return (torch.stack(losses), torch.stack(grads)), (0, 0)


class _Tied(torch.autograd.Function):
    """The gradient, tied to the score, by which it must not be derived."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad: Tensor, score: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Nothing is kept."""

    backward = jvp = staticmethod(_no_second_derivative)


#: Whether torch.func transforms what is computed. A PyTorch that no longer tells so refuses to transform the losses.
in_torch_func = getattr(torch._C, "_are_functorch_transforms_active", bool)


def stands_for_others(tensor: Tensor) -> bool:
    """Whether the operator is to be called: while compiling, and for tensors of other types.

    Keras asks for the shape with those of the device "meta".
    """
    return torch.compiler.is_compiling() or type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.is_meta


def core_loss(events: Events, options: str) -> Tensor:
    """A loss of the core of tensors that are checked."""
    loss: Tensor
    if stands_for_others(events.score):
        loss, _ = loss_op(*events, options)
    elif in_torch_func():
        loss, _ = Transformed.apply(*events, options, compute)
    else:
        loss = Eager.apply(*events, options, compute)
    return loss
