"""Reading tensors, and the functions that several modules share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor

from .._bad_batches import SkipsBadBatches
from .._events import Events, read_events
from .._native import BatchError
from ._op import result_type

F = TypeVar("F", bound=Callable[..., Any])


def in_python(forward: F) -> F:
    """A method that TorchScript leaves to Python. Unlike with ``torch.jit.ignore``, it keeps its type."""
    ignored: F = torch.jit.ignore(forward)  # type: ignore[no-untyped-call]
    return ignored


_FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.bool, torch.int8, torch.uint8, torch.int16)


def read_tensors(score: Any, label: Any, mass: Any, weight: Any, category: Any = None) -> Events:
    """Tensors of shape (n,), and mass also (n, d), all of one length."""
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
            if category is None and len(shape) == 1:
                return Events(score, label, mass, weight)
            if category is None and len(shape) == 2 and shape[1] == 1:
                label = None if label is None else label.squeeze(1)
                return Events(score.squeeze(1), label, mass.squeeze(1), None if weight is None else weight.squeeze(1))
    return read_events(as_tensor, score, label, mass, weight, category)


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


#: The TypeError of a layer that counts background only, called without labels.
NO_LABELS = (
    "label is None, which would count signal as background: give the labels, or background_only=False if all events "
    "are to count"
)


def as_arguments(options: Mapping[str, Any], owner: object, defaults: Mapping[str, Any]) -> str:
    """The options, and the owner's attributes that differ from their defaults, as the arguments of a call."""
    others = {name: getattr(owner, name) for name in defaults}
    shown = {**options, **{name: value for name, value in others.items() if value != defaults[name]}}
    return ", ".join(f"{name}={value!r}" for name, value in shown.items())


def or_skip(module: SkipsBadBatches, loss: Callable[..., Tensor], score: Tensor, *others: Tensor | None) -> Tensor:
    """``loss(score, *others)``; for a batch without a loss, 0 or an error, as the module's option says."""
    if torch.compiler.is_dynamo_compiling():
        if module.on_bad_batch == "raise":
            return loss(score, *others)
        return _outside_of_the_graph(module, loss, score, *others)
    try:
        value = loss(score, *others)
    except BatchError as error:
        module._skip(error)
        return _zero(score)
    module._succeed()
    return value


# A graph finds a bad batch when it runs, too late to return 0.
_outside_of_the_graph: Callable[..., Tensor] = torch.compiler.disable(or_skip)  # type: ignore[no-untyped-call]


def _zero(score: Tensor) -> Tensor:
    """0, with gradient 0 even where a score is NaN."""
    return score.masked_fill(torch.ones_like(score, dtype=torch.bool), 0).sum(dtype=result_type(score))
