"""How results of the core become parts of a graph: operators of libmode, and functions of autograd in their place.

The core finds a number and its gradient in one pass, in ``_run(state, *events)`` of a layer, or of a function with
its options. The backward pass multiplies the gradient by the incoming one. For scores of half precision, in which most
of the gradient would be 0, it stays in float32 until after this product.

The operators are for programs that trace or replace tensors, such as torch.compile: ``libmode::run`` calls ``_run``,
which may change the state, and others have the derivatives. The functions take less time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .._events import Events, read_reference
from .._messages import NO_SECOND_DERIVATIVE
from .._problems import Monitor, OnBadBatch, SkipsBadBatches
from .._read import flag
from ._gather import Group
from ._tensors import as_tensor, is_traced, result_type, state_type

# A graph of PyTorch holds no objects but tensors, so it has the key as one. On a string or a number PyTorch would put a
# guard: each further module would compile the program again, and after eight PyTorch gives up.
_owners: WeakValueDictionary[int, Any] = WeakValueDictionary()
_numbers = count()


def register(owner: Any) -> Tensor:
    """The key by which the operators find an owner, as long as it lives: a number, of shape ()."""
    number = next(_numbers)
    _owners[number] = owner
    return torch.tensor(number)


def find_owner(key: Tensor) -> Any:
    """The owner with this key."""
    number = int(key)
    if number in _owners:
        return _owners[number]
    raise RuntimeError(
        f"a compiled program calls loss or layer number {number} of libmode, which this process does not have: compile "
        "it here, and keep it"
    )


def _run(
    key: Tensor, rows: int, state: Tensor | None, events: list[Any], outputs: Tensor | None
) -> tuple[Tensor, Tensor]:
    if state is not None and state.dtype is not (kind := state_type(state.device)):
        raise ValueError(f"the state has {state.dtype}, which rounds it: keep {kind}")
    batch, further = events[: len(Events._fields)], events[len(Events._fields) :]
    more: dict[str, Any] = {"reference": Events(*further)} if further else {}
    more |= {} if outputs is None else {"outputs": outputs}
    number, tensor = find_owner(key)._run(state, *batch, **more)
    return torch.as_tensor(number, dtype=state_type(tensor.device), device=tensor.device), tensor.contiguous()


def _like_run(key: Tensor, rows: int, state: Any, events: list[Any], outputs: Any) -> tuple[Tensor, Tensor]:
    first = events[0]
    shape, numbers = (rows, first.shape[0]) if rows else first.shape, state.shape if rows and state is not None else ()
    return first.new_empty(numbers, dtype=state_type(first.device)), first.new_empty(shape, dtype=result_type(first))


run_op = torch.library.custom_op(
    "libmode::run",
    _run,
    mutates_args=("state",),
    schema="(Tensor key, int rows, Tensor(a!)? state, Tensor?[] events, Tensor? outputs) -> (Tensor, Tensor)",
)
run_op.register_fake(_like_run)


def run_by_operator(
    owner: Any, state: Tensor | None, *events: Any, reference: Any = None, outputs: Tensor | None = None, rows: int = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The results of ``owner._run`` by the operator: numbers, and a tensor with these rows or like the first one."""
    further = () if reference is None else read_reference(reference, lambda *tensors: tensors)
    names = (*Events._fields, *(f"reference.{name}" for name in Events._fields))
    flat = [  # without zip: torch.compile of torch 2.4 takes no lists of unequal length
        None if tensor is None else as_tensor(names[k], tensor).detach() for k, tensor in enumerate((*events, *further))
    ]
    results: tuple[Tensor, Tensor] = run_op(owner.key, rows, state, flat, None if outputs is None else outputs.detach())
    return results


def _product(incoming: Tensor, grad: Tensor, x: Tensor) -> Tensor:
    """The gradient by x, rounded to the type of x, on its device."""
    product = (incoming if incoming.device == x.device else incoming.to(x.device)) * grad
    return product if product.dtype is x.dtype else product.to(x.dtype)


def no_second_derivative(ctx: Any, *incoming: Tensor) -> Any:
    """The error of a derivative of a gradient."""
    raise RuntimeError(NO_SECOND_DERIVATIVE)


class Linked(torch.autograd.Function):
    """``apply(number, x, grad, ...)``: the number as a tensor, whose derivative by each x is known, or None."""

    @staticmethod
    def forward(ctx: Any, number: float | Tensor, *pairs: Tensor | None) -> Tensor:
        ctx.save_for_backward(*pairs)
        x, grad = pairs[:2]
        assert x is not None and grad is not None
        if isinstance(number, Tensor):
            return number.detach().to(grad.dtype)
        return torch.scalar_tensor(number, dtype=grad.dtype, device=x.device)

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> tuple[Tensor | None, ...]:
        pairs: Any = ctx.saved_tensors
        products: list[Any] = [None]
        for x, grad in zip(pairs[::2], pairs[1::2], strict=True):
            if grad is not None and torch.is_grad_enabled():  # create_graph
                grad = Tied.apply(grad, x)
            products += [None if grad is None else _product(incoming, grad, x), None]
        return tuple(products)


class Tied(torch.autograd.Function):
    """The gradient. Its derivative by the score is an error."""

    @staticmethod
    def forward(ctx: Any, grad: Tensor, score: Tensor) -> Tensor:
        return grad.view_as(grad)

    backward = staticmethod(no_second_derivative)


def with_gradient(owner: Any, state: Tensor | None, score: Tensor, *others: Any, reference: Any = None) -> Tensor:
    """The loss that an owner computes of a batch, differentiable in the score."""
    if is_traced(score):
        number, grad = run_by_operator(owner, state, score, *others, reference=reference)
    else:
        number, grad = owner._run(state, score, *others, reference=reference)
    loss: Tensor = Linked.apply(number, score, grad)
    return loss


M = TypeVar("M", bound="CoreModule")


#: The TypeError of a layer that counts background only, called without labels.
NO_LABELS = (
    "label is None, which would count signal as background: give the labels, or background_only=False if all events "
    "are to count"
)


class CoreModule(SkipsBadBatches, nn.Module):
    """A module whose numbers come from the core.

    The operators find it by its key. It may have one buffer, which stays in double precision if its device has doubles.
    """

    _name = ""  #: of the buffer
    _defaults: dict[str, Any] = {"gather": False}  #: of attributes that the text of a module shows if they differ
    options: dict[str, Any]

    def __init__(
        self, background_only: bool, on_bad_batch: OnBadBatch, monitor: bool, gather: bool, process_group: Group
    ) -> None:
        super().__init__()
        if process_group is not None and not gather:
            raise ValueError("process_group is given, and gather = False: give gather=True too")
        self.gather, self.process_group = bool(gather), process_group
        self.background_only = flag("background_only", background_only)
        self._monitor = Monitor() if flag("monitor", monitor) else None
        self._set_on_bad_batch(on_bad_batch)
        self.key = register(self)

    def extra_repr(self) -> str:
        """The options, and other arguments that differ from their defaults."""
        others = {name: getattr(self, name) for name, usual in self._defaults.items() if getattr(self, name) != usual}
        return ", ".join(f"{name}={value!r}" for name, value in {**self.options, **others}.items())

    @property
    def _memory(self) -> Any:
        """The buffer as an array, which Keras saves; None without a buffer."""
        buffer = getattr(self, self._name, None)
        return None if buffer is None else buffer.numpy(force=True).copy()

    @_memory.setter
    def _memory(self, numbers: NDArray[np.float64]) -> None:
        self.register_buffer(self._name, torch.from_numpy(numbers))

    def _buffer(self) -> Tensor:
        """The buffer in double precision. FSDP may have made it float32; shorter types are an error."""
        buffer: Tensor = getattr(self, self._name)
        if torch.compiler.is_dynamo_compiling() or buffer.dtype is state_type(buffer.device):
            return buffer
        if buffer.dtype is not torch.float32:
            raise ValueError(
                f"{self._name} has {buffer.dtype}, which rounds it: give buffer_dtype=torch.float32 to MixedPrecision"
            )
        buffer.data = buffer.to(state_type(buffer.device))
        return buffer

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        # The buffer moves to the device, but keeps its digits.
        before = getattr(self, self._name, None)
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if before is not None:
            device = getattr(self, self._name).device
            setattr(self, self._name, before.to(device, state_type(device)))
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.key = register(self)
