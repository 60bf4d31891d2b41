"""The losses as a PyTorch function and as the operator ``libmode::loss``.

The core finds the loss and its gradient in one pass. The backward pass multiplies the gradient by the incoming one. For
scores of half precision, in which most of the gradient would be 0, it stays in float32 until after this product. The
operator is for programs that trace or replace tensors, such as torch.compile; the function takes less time.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
import ctypes
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from .. import _native
from .._arrays import explained
from .._disco import disco
from .._events import Events
from .._messages import NO_SECOND_DERIVATIVE
from .._options import Options, check, parse_options
from .._problems import IN_LINES, Said, look_at_masses, look_at_type
from .._read import check_labels
from .._strength import of_core
from ..option_types import Loss
from ._pinned import back_to, on_host

# Other types become float64, which holds every background label.
_LABEL_TYPES = {getattr(torch, name): number for name, number in _native.LABEL_TYPES.items()}

#: Types whose values float32 may round: the core computes in double if masses or weights have one of them.
IN_DOUBLE = {torch.float64, torch.int32, torch.int64, torch.uint32, torch.uint64}

HALF = (torch.float16, torch.bfloat16)
_SIZE = ctypes.sizeof(_native.ModeEvents)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def checked(loss: Loss, **options: Any) -> Options:
    """The options of a loss, also while PyTorch compiles."""
    return check(loss, options)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def score_limits(options: str, score: torch.dtype) -> tuple[float, float] | None:
    """The limits of the integral over scores of this type; None if they come from the data."""
    return parse_options(options).rounded_to(score, score).score_range


def as_arrays(tensors: Iterable[Tensor | None]) -> list[Any]:
    """Tensors of any type and device as arrays. NumPy lacks bfloat16, which becomes float32."""
    half = torch.bfloat16
    return [None if one is None else (one.float() if one.dtype is half else one).numpy(force=True) for one in tensors]


def as_numpy(tensor: Tensor) -> Any:
    """A tensor of any type and device as an array."""
    return as_arrays((tensor,))[0]


def compute(
    score: Tensor, label: Tensor | None, mass: Tensor, weight: Tensor | None, category: Tensor | None, options: str
) -> tuple[Tensor, Tensor]:
    """:func:`evaluate` for an operator: with options as text, and without the third result."""
    return evaluate(score, label, mass, weight, category, parse_options(options))[:2]


def compute_strong(
    score: Tensor,
    label: Tensor | None,
    mass: Tensor,
    weight: Tensor | None,
    category: Tensor | None,
    options: str,
    strength: float,
    averages: Tensor,
    batch: int,
    factor: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`compute` with a strength; the third result are the averages after the batch."""
    after = averages.to("cpu", torch.float64, copy=True)
    how = of_core(strength, after.data_ptr(), batch, factor.item())
    loss, grad, _ = evaluate(score, label, mass, weight, category, parse_options(options), strength=how)
    return loss, grad, after.to(averages)


def evaluate(
    score: Tensor,
    label: Tensor | None,
    mass: Tensor,
    weight: Tensor | None,
    category: Tensor | None,
    options: Options,
    loss_alone: bool = True,
    said: Said = IN_LINES,
    strength: _native.ModeStrength | None = None,
) -> tuple[Tensor, Tensor, _native.Evaluated]:
    """A loss of the core, shape (), and its gradient, (n,), both on score's device; and the result of the core.

    Loss and gradient are float64 for float64 scores, and float32 otherwise.
    """
    original, labels, kind_of_mass = score, label, mass.dtype
    double = score.dtype is torch.float64 or mass.dtype in IN_DOUBLE
    double = double or weight is not None and weight.dtype in IN_DOUBLE
    kind = torch.float64 if double else torch.float32
    if not options.fit_all:
        options = options.rounded_to(score.dtype, mass.dtype)
    if score.is_cuda:
        score, label, mass, weight, category = on_host((score, label, mass, weight, category))  # type: ignore[assignment]
    if mass.ndim > 1:
        mass = mass.t()  # a row for each variable
    # Most tensors are ready already, and a call for each would cost microseconds.
    if not (score.dtype is kind and score.is_cpu and score.is_contiguous()):
        score = _ready("score", score, kind)
    if not (mass.dtype is kind and mass.is_cpu and mass.is_contiguous()):
        mass = _ready("mass", mass, kind)
    if weight is not None and not (weight.dtype is kind and weight.is_cpu and weight.is_contiguous()):
        weight = _ready("weight", weight, kind)
    if label is not None and not (label.dtype in _LABEL_TYPES and label.is_cpu and label.is_contiguous()):
        label = _ready("label", label, label.dtype if label.dtype in _LABEL_TYPES else torch.float64)
    of_events = None if label is None else label.numpy()
    if (
        of_events is not None and of_events.dtype.kind == "f" and len(of_events)
        and math.isnan(of_events.item(of_events.argmin()))  # a NaN, if there is one, in less time than check_labels
    ):  # fmt: skip
        check_labels(of_events, options.labels)
    if category is not None:
        category = _ready("category", category, category.dtype if category.dtype in _LABEL_TYPES else torch.int64)
    grad = torch.empty_like(score)
    held = (score, label, mass, weight, category)
    try:
        if options.loss == "disco":
            arrays = Events(*(None if tensor is None else tensor.numpy() for tensor in held))
            result = _native.Evaluated(disco(options, arrays, double, grad.numpy()))
        else:
            masses = (mass,) if mass.ndim == 1 else mass
            events = _native.ModeEvents(
                _SIZE,
                score.shape[0],
                score.data_ptr(),
                None if label is None else label.data_ptr(),
                (ctypes.c_void_p * len(masses))(*map(Tensor.data_ptr, masses)),
                len(masses),
                None if weight is None else weight.data_ptr(),
                None if category is None else category.data_ptr(),
                0 if label is None else _LABEL_TYPES[label.dtype],
                0 if category is None else _LABEL_TYPES[category.dtype],
            )
            result = _native.evaluate(
                options.struct,
                events,
                double,
                grad.data_ptr(),
                held=(*held, grad),
                loss_alone=loss_alone,
                flatness=options.loss == "flatness",
                strength=strength,
            )
    except ValueError as error:
        known = None if labels is None else as_numpy(labels)
        raise explained(error, score.numpy(), mass.numpy(), known, options) from None
    look_at_masses(said, options, mass, label)
    if kind_of_mass in HALF:
        look_at_type(said, kind_of_mass, mass)
    kind = torch.float64 if original.dtype is torch.float64 else torch.float32
    if grad.dtype is not kind or not original.is_cpu:
        grad = back_to(original.device, kind, grad)
    loss = result.loss if strength is None else strength.scale * result.loss
    return torch.scalar_tensor(loss, dtype=kind, device=original.device), grad, result


def _ready(name: str, tensor: Tensor, kind: torch.dtype) -> Tensor:
    """The tensor as the core reads it; the same tensor if it is ready."""
    if tensor.is_meta:
        raise TypeError(f"{name} is on the device meta, where a tensor has no values: give one that has")
    return tensor.detach().to("cpu", kind).contiguous()


loss_op = torch.library.custom_op("libmode::loss", compute, mutates_args=())
loss_op.register_fake(lambda score, *_: like_results(score))
strong_op = torch.library.custom_op("libmode::strong_loss", compute_strong, mutates_args=())
strong_op.register_fake(lambda score, *others: (*like_results(score), torch.empty_like(others[6])))


def like_results(score: Tensor) -> tuple[Tensor, Tensor]:
    """Empty tensors like the results of :func:`compute`."""
    kind = result_type(score)
    return score.new_empty((), dtype=kind), torch.empty_like(score, dtype=kind, memory_format=torch.contiguous_format)


def state_type(device: torch.device) -> torch.dtype:
    """The type of the state of a layer: double, for squares of losses as small as 1e-6; float on devices without it."""
    return torch.float32 if device.type == "mps" else torch.float64


def result_type(score: Tensor) -> torch.dtype:
    """The type of the loss and of its gradient."""
    return torch.float64 if score.dtype is torch.float64 else torch.float32


def _product(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """The gradient by the score, rounded to the type of the score."""
    product = grad * incoming
    return product if product.dtype is score.dtype else product.to(score.dtype)


@torch.library.custom_op("libmode::loss_backward", mutates_args=())
def _backward_op(incoming: Tensor, grad: Tensor, score: Tensor) -> Tensor:
    """:func:`_product` as an operator, whose derivative by the score is an error."""
    return _product(incoming, grad, score)


_backward_op.register_fake(lambda incoming, grad, score: torch.empty_like(grad, dtype=score.dtype))


def _no_second_derivative(ctx: Any, *incoming: Tensor) -> Any:
    raise RuntimeError(NO_SECOND_DERIVATIVE)


_backward_op.register_autograd(_no_second_derivative)


def keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    ctx.save_for_backward(inputs[0], output[1])
    ctx.others = len(inputs) - 1
    ctx.mark_non_differentiable(*output[1:])


def backward(ctx: Any, incoming: Tensor, *_: Tensor | None) -> tuple[Tensor | None, ...]:
    score, grad = ctx.saved_tensors
    return _backward_op(incoming, grad, score), *[None] * ctx.others


for _op in (loss_op, strong_op):
    _op.register_autograd(backward, setup_context=keep)


class Eager(torch.autograd.Function):
    """``apply(*events, options, evaluate)``, in half of the time of the operator."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        loss: Tensor
        loss, grad = inputs[-1](*inputs[:-1])[:2]
        ctx.save_for_backward(inputs[0], grad)
        ctx.save_for_forward(inputs[0], grad)
        return loss

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        score, grad = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph, and always in torch.func
            grad = Tied.apply(grad, score)
        return _product(incoming, grad, score), None, None, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *others: Any) -> Tensor:
        score, grad = ctx.saved_tensors
        product: Tensor = Tied.apply(grad, score) * tangent
        return product.sum()


class Tied(torch.autograd.Function):
    """The gradient. Its derivative by the score is an error."""

    @staticmethod
    def forward(grad: Tensor, score: Tensor) -> Tensor:
        return grad.view_as(grad)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Keeps nothing."""

    backward = jvp = staticmethod(_no_second_derivative)


NO_TORCH_FUNC = (
    "torch.func cannot transform the losses of libmode, which the core computes: use torch.autograd.grad, one batch at "
    "a time, or libmode.jax"
)

#: Whether a transform of torch.func is active. PyTorch without this function refuses to transform the losses by itself.
in_torch_func = getattr(torch._C, "_are_functorch_transforms_active", bool)


_OWN_TYPES = (Tensor, torch.nn.Parameter)


def stands_for_others(tensor: Tensor) -> bool:
    """Whether to call the operator: for torch.compile, and for tensors of other types or without values."""
    return torch.compiler.is_compiling() or type(tensor) not in _OWN_TYPES or tensor.is_meta


def core_loss(events: Events, options: Options, compute: Callable[..., Any] = evaluate) -> Tensor:
    """A loss of the core of checked tensors, by :func:`evaluate` or a function like it."""
    loss: Tensor
    score = events[0]
    # As stands_for_others, with a call less: an export without Dynamo has tensors of other types.
    if torch.compiler.is_dynamo_compiling() or type(score) not in _OWN_TYPES or score.is_meta:
        loss = loss_op(*events, options.text)[0]
    elif in_torch_func():
        raise RuntimeError(NO_TORCH_FUNC)
    else:
        loss = Eager.apply(*events, options, compute)
    return loss
