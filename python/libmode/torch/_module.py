"""Reading tensors, and the common part of modules for losses of the core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypedDict, TypeVar

import torch
from torch import Tensor, nn

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._events import Events, events_of, takes_events
from .._messages import keywords_only
from .._native import BatchError, Evaluated
from .._option_values import flag, plain
from .._options import EXAMPLE, check
from ..option_types import Loss, LossOptions
from ._op import core_loss, result_type

F = TypeVar("F", bound=Callable[..., Any])


def in_python(forward: F) -> F:
    """A method that TorchScript leaves to Python. Unlike with ``torch.jit.ignore``, it keeps its type."""
    ignored: F = torch.jit.ignore(forward)  # type: ignore[no-untyped-call]
    return ignored


class _Arguments(TypedDict, total=False):
    background_only: bool
    per_class: bool
    on_bad_batch: OnBadBatch


class ModeArguments(_Arguments, LossOptions, total=False):
    """The arguments of MoDeLoss."""


_FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_INTEGERS = (torch.int64, torch.int32, torch.bool, torch.int8, torch.uint8, torch.int16)


def events(score: Any, label: Any, mass: Any, weight: Any, category: Any = None) -> Events:
    """Tensors of shape (n,), and mass also (n, d), all of one length."""
    # Most tensors are as they should be, and a call for each would cost microseconds.
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
    return events_of(read, score, label, mass, weight, category)


def read(name: str, tensor: Any) -> Tensor:
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


class CoreLoss(SkipsBadBatches, nn.Module):
    """A loss of the core as a module without parameters."""

    _defaults: dict[str, Any] = {"background_only": True, "per_class": False, "on_bad_batch": "raise"}

    def __init__(
        self,
        loss: Loss,
        positional: tuple[object, ...],
        *,
        background_only: bool = True,
        per_class: bool = False,
        on_bad_batch: OnBadBatch = "raise",
        **options: Any,
    ) -> None:
        keywords_only(self, positional, EXAMPLE[loss])
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_only = flag("background_only", background_only)
        self.per_class = flag("per_class", per_class)
        self.options = plain(loss, options)
        self._checked = check(loss, self.options)
        self._encoded = self._checked.text  # for operators
        self._evaluated: Evaluated | None = None  # by the core, for a monitor

    @in_python
    @takes_events
    def forward(
        self,
        score: Tensor,
        label: Tensor,
        mass: Tensor,
        weight: Tensor | None = None,
        *,
        category: Tensor | None = None,
        reference: Events | None = None,
    ) -> Tensor:
        """The loss of a batch, shape ().

        Each argument has shape (n,) or (n, 1), and mass also (n, d) for d variables; with ``per_class``, the score has
        shape (n, k) for k classes. ``reference`` are further events with scores of the current network, see
        :class:`libmode.torch.Reference`. They enter the distributions and get no gradient. The gradient of the batch is
        scaled up, as if the batch were all events.
        """
        loss: Callable[..., Tensor] = self._of_classes if self.per_class else self._loss
        if reference is not None:
            if self.per_class:
                raise ValueError("reference and per_class = True: there are no reference events of several classes")
            loss = partial(loss, reference=reference)
        value = or_skip(self, loss, score, label, mass, weight, category)
        if self._evaluated is not None:
            self._look(score, label)
        return value

    def _look(self, score: Tensor, label: Tensor) -> None:
        """Shows a batch with a loss to a monitor."""

    def _of_classes(self, score: Tensor, *others: Any) -> Tensor:
        if not isinstance(score, Tensor) or score.ndim != 2 or not score.shape[1]:
            what = f"has shape {tuple(score.shape)}" if isinstance(score, Tensor) else f"is {type(score).__name__}"
            raise ValueError(f"score {what}: per_class = True needs shape (n, k), a column for each class")
        return torch.stack([self._loss(column, *others) for column in score.unbind(1)]).mean()

    def _loss(
        self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None, category: Tensor | None
    ) -> Tensor:
        selects = label if self.background_only else None
        return core_loss(events(score, selects, mass, weight, category), self._checked)

    def extra_repr(self) -> str:
        """The options, and other arguments that differ from their defaults."""
        return as_arguments(self.options, self, self._defaults)


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
