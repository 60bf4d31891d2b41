"""Tensors of the user, their way to the core and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from .._evaluate import Kind, derivatives
from .._events import Events, read_events
from .._native import DOUBLE, FLOAT, TYPES
from .._options import Options
from .._problems import OF_FUNCTIONS, Said

# Other types become float64, which holds every background label.
_TYPES = {getattr(torch, name): number for name, number in TYPES.items()}

#: Types whose values float32 may round: the core computes in double if masses or weights have one of them.
IN_DOUBLE = {torch.float64, torch.int32, torch.int64, torch.uint32, torch.uint64}

_FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.bool, torch.int8, torch.uint8, torch.int16)


def read_tensors(score: Any, label: Any, mass: Any, weight: Any, category: Any = None) -> Events:
    """Tensors of shape (n,), mass also (n, d), all of one length; or all of shape (n, 1), as networks return it."""
    # Most tensors are right already, and a call for each would cost microseconds.
    if type(score) is Tensor and score.dtype in _FLOATING and score.layout is torch.strided and mass is not None:
        shape = () if score.is_nested else score.shape
        for tensor in (label, mass, weight):
            if tensor is not None and (
                type(tensor) is not Tensor
                or not (tensor.dtype in _FLOATING or tensor.dtype in _INTEGERS)
                or tensor.layout is not torch.strided
                or tensor.is_nested
                or tensor.shape != shape
            ):
                break
        else:
            if category is None and (len(shape) == 1 or len(shape) == 2 and shape[1] == 1):
                return Events(score, label, mass, weight)
    return read_flat(score, label, mass, weight, category)


def as_tensor(name: str, tensor: Any) -> Tensor:
    """A dense tensor of real numbers, or a TypeError; scores must be floating, and categories integers."""
    if isinstance(tensor, Tensor) and not tensor.is_quantized:
        if tensor.is_nested or tensor.layout is not torch.strided:
            layout = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
            raise TypeError(f"{name} is a {layout} tensor: expected a dense one, of shape (n,) or (n, 1)")
        floating = tensor.is_floating_point()
        if floating and name != "category" or not (floating or name == "score" or tensor.is_complex()):
            return tensor
    kind = tensor.dtype if torch.is_tensor(tensor) else type(tensor).__name__
    wanted = {"score": "a floating-point tensor", "category": "a tensor of integers"}.get(
        name, "a tensor of real numbers"
    )
    raise TypeError(f"{name} is {kind}: expected {wanted}")


#: Tensors of shape (n,), mass also (n, d), all of one length.
read_flat = partial(read_events, as_tensor)


def as_numpy(tensor: Tensor) -> Any:
    """A tensor of any type and device as an array. NumPy lacks bfloat16, which becomes float32."""
    return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).numpy(force=True)


def on_host(events: Events) -> Events:
    """The events on the CPU. They travel through pinned memory, and the host waits once for all copies."""
    copies: list[Tensor | None] = []
    for tensor in events:
        if tensor is not None and tensor.is_cuda:
            empty = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=True)
            tensor = empty.copy_(tensor.detach(), non_blocking=True)
        copies.append(tensor)
    for device in {tensor.device for tensor in events if tensor is not None and tensor.is_cuda}:
        torch.cuda.current_stream(device).synchronize()
    return Events(*copies)


def back_to(device: torch.device, kind: torch.dtype, tensor: Tensor) -> Tensor:
    """A tensor of the CPU on this device, in this type. The host does not wait for the copy."""
    tensor = tensor if tensor.dtype is kind else tensor.to(kind)
    if device.type != "cuda":
        return tensor if device.type == "cpu" else tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def ready(name: str, tensor: Tensor, kind: torch.dtype) -> Tensor:
    """The tensor as the core reads it; the same tensor if it is ready."""
    if tensor.is_meta:
        raise TypeError(f"{name} is on the device meta, where a tensor has no values: give one that has")
    return tensor.detach().to("cpu", kind).contiguous()


def _ready(events: Events) -> tuple[Events, int]:
    score, label, mass, weight, category = events
    double = score.dtype is torch.float64 or mass.dtype in IN_DOUBLE
    double = double or weight is not None and weight.dtype in IN_DOUBLE
    kind = torch.float64 if double else torch.float32
    if mass.ndim > 1 and mass.shape[1] > 1:
        mass = mass.t()
    # Most tensors are ready already, and a call for each would cost microseconds.
    if not (score.dtype is kind and score.is_cpu and score.is_contiguous()):
        score = ready("score", score, kind)
    if not (mass.dtype is kind and mass.is_cpu and mass.is_contiguous()):
        mass = ready("mass", mass, kind)
    if weight is not None and not (weight.dtype is kind and weight.is_cpu and weight.is_contiguous()):
        weight = ready("weight", weight, kind)
    if label is not None and not (label.dtype in _TYPES and label.is_cpu and label.is_contiguous()):
        label = ready("label", label, label.dtype if label.dtype in _TYPES else torch.float64)
    if category is not None:
        category = ready("category", category, category.dtype if category.dtype in _TYPES else torch.int64)
    return Events(score, label, mass, weight, category), DOUBLE if double else FLOAT


#: How tensors of the CPU go to the core.
_empty, _numpy = partial(torch.empty, device="cpu"), partial(Tensor.numpy, force=True)
TENSORS = Kind(_ready, torch.empty_like, _empty, torch.float64, torch.equal, Tensor.data_ptr, _numpy, _TYPES)


def result_type(score: Tensor) -> torch.dtype:
    """The type of the loss and of its gradient."""
    return torch.float64 if score.dtype is torch.float64 else torch.float32


def of_tensors(options: Options, events: Events, said: Said = OF_FUNCTIONS, **wanted: Any) -> tuple[float, Tensor]:
    """A loss of the core and its gradient, on the device of the score: float64 for float64 scores, else float32."""
    score = events.score
    result, grad, _ = derivatives(options, on_host(events) if score.is_cuda else events, TENSORS, said, **wanted)
    kind = torch.float64 if score.dtype is torch.float64 else torch.float32  # result_type, with a call less
    if grad.dtype is not kind or not score.is_cpu:
        grad = back_to(score.device, kind, grad)
    return result.loss, grad


def state_type(device: torch.device) -> torch.dtype:
    """The type of the state of a layer: double, for squares of losses as small as 1e-6; float on devices without it."""
    return torch.float32 if device.type == "mps" else torch.float64


def is_traced(tensor: Any) -> bool:
    """Whether to call the operators: for torch.compile, and for tensors of other types or without values."""
    if torch.compiler.is_dynamo_compiling():
        return True
    return isinstance(tensor, Tensor) and (type(tensor) not in (Tensor, torch.nn.Parameter) or tensor.is_meta)
