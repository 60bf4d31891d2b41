"""The loss by PyTorch's own operations, on the device of the tensors, see :mod:`libmode._device`.

On the CPU the values are looked at: for events without a loss the core is called, for its errors. On other devices
nothing is read on the host, and ``torch._assert_async`` has a sentence for the argument.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor

from .._device.loss import Found, loss_and_grad
from .._device.plan import Plan, plan_of, unsupported
from .._front import Events
from . import _op
from ._op import Eager, Transformed, backward, decode, in_torch_func, keep, like_results, result_type, stands_for_others


class TorchArrays:
    """:class:`libmode._device.arrays.Arrays` of PyTorch, on one device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def real(self, values: Tensor) -> Tensor:
        return values.to(torch.float64)

    def constant(self, values: Sequence[float]) -> Tensor:
        return _constant(tuple(values), self._device)

    def arange(self, n: int) -> Tensor:
        return torch.arange(n, device=self._device)

    def full(self, shape: tuple[int, ...], value: float) -> Tensor:
        return torch.full(shape, value, dtype=torch.float64, device=self._device)

    def sort(self, values: Tensor) -> tuple[Tensor, Tensor]:
        return torch.sort(values, stable=True)

    def order_of(self, numbers: Tensor) -> Tensor:
        return torch.sort(numbers.to(torch.int32), stable=True)[1]

    def take(self, table: Tensor, places: Tensor) -> Tensor:
        return table.index_select(-1, places)

    def put(self, values: Tensor, places: Tensor) -> Tensor:
        return torch.empty_like(values).index_copy_(-1, places, values)

    def cumsum(self, values: Tensor) -> Tensor:
        return values.cumsum(-1)

    def cummax(self, values: Tensor) -> Tensor:
        return values.cummax(-1).values

    def segment_sums(self, values: Tensor, segment: Tensor, count: int) -> Tensor:
        return values.new_zeros((len(values), count)).index_add_(1, segment, values)

    def searchsorted(self, edges: Tensor, values: Tensor, right: bool) -> Tensor:
        return torch.searchsorted(edges, values, right=right)

    def where(self, condition: Tensor, chosen: Any, other: Any) -> Tensor:
        return torch.where(condition, chosen, other)

    def stack(self, arrays: Sequence[Tensor]) -> Tensor:
        return torch.stack(list(arrays))

    def concat(self, arrays: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(arrays), -1)

    def flip(self, values: Tensor) -> Tensor:
        return values.flip(-1)

    def clip(self, values: Tensor, low: float, high: float) -> Tensor:
        return values.clamp(low, high)

    def exp(self, values: Tensor) -> Tensor:
        return values.exp()

    def tanh(self, values: Tensor) -> Tensor:
        return values.tanh()

    def sqrt(self, values: Tensor) -> Tensor:
        return values.sqrt()

    def sign(self, values: Tensor) -> Tensor:
        return values.sign()

    def isfinite(self, values: Tensor) -> Tensor:
        return values.isfinite()

    def mantissa(self, value: Tensor) -> Tensor:
        return torch.frexp(value).mantissa


def device_loss(events: Events, options: str, *, skip: bool = False) -> Tensor:
    """The MoDe loss of tensors that are checked, of options as :func:`libmode.torch._op.encode` returns them.

    skip : on another device than the CPU, where nobody can look, the loss of a batch that has none is 0

    Raises ValueError for what there is not on the device, and for tensors on several devices.
    """
    score = events.score
    loss: Tensor
    if stands_for_others(score):
        loss, _ = device_op(*events, options, skip)
    elif in_torch_func():
        loss, _ = Transformed.apply(*events, options, partial(compute, skip=skip))
    else:
        loss = Eager.apply(*events, options, partial(compute, skip=skip))
    return loss


def compute(
    score: Tensor,
    mass: Tensor,
    weight: Tensor | None,
    label: Tensor | None,
    category: Tensor | None,
    options: str,
    skip: bool,
) -> tuple[Tensor, Tensor]:
    """:func:`libmode.torch._op.compute` on the device of the tensors."""
    plan = _plan(score, mass, weight, label, category, options)
    if not len(score):
        return _op.compute(score, mass, weight, label, category, options)  # which says so
    found = loss_and_grad(TorchArrays(score.device), plan, score, mass, weight, label)
    if not score.is_cpu:
        found = _asserted(found, skip)
    elif not torch.stack(found.checks).all():
        return _op.compute(score, mass, weight, label, category, options)  # which says what is wrong
    kind = result_type(score)
    return found.loss.to(kind), found.grad.to(kind)


def _plan(
    score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, category: Tensor | None, options: str
) -> Plan:
    for name, tensor in (("mass", mass), ("weight", weight), ("label", label)):
        if tensor is not None and tensor.device != score.device:
            raise ValueError(
                f"{name} is on {tensor.device}, but score on {score.device}: on_device = True needs them together"
            )
    checked = decode(options)
    unsupported(checked, category is not None)
    return plan_of(checked.for_events(score.dtype, mass.dtype, mass.shape))


# Opaque to the compiler, which makes minutes of work of these hundreds of small operations, and on the CPU with PyTorch
# 2.15 another result. CUDA graphs capture what is inside.
device_op = torch.library.custom_op("libmode::device_loss", compute, mutates_args=())


@device_op.register_fake
def _(
    score: Tensor,
    mass: Tensor,
    weight: Tensor | None,
    label: Tensor | None,
    category: Tensor | None,
    options: str,
    skip: bool,
) -> tuple[Tensor, Tensor]:
    _plan(score, mass, weight, label, category, options)
    return like_results(score)


def _backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    return *backward(ctx, incoming, _), None


device_op.register_autograd(_backward, setup_context=keep)


#: What is wrong where a check fails.
_SENTENCES = {
    "score": "score: a score of a selected event is not finite or lies outside score_range: apply a sigmoid to raw "
    "outputs, or use score_range=None",
    "mass": "mass: a mass of a selected event is not finite",
    "weight": "weight: a weight of a selected event is not finite",
    "batch": "the batch has no loss: no event is selected, or too few for the bins, or a bin has no positive sum of "
    "weights or less than two events in effect; on the CPU the error says which",
}


def _asserted(found: Found, skip: bool) -> Found:
    """What was found, with sentences for checks that fail, which the device says when it comes to them."""
    for name, ok in found.checks._asdict().items():
        if name != "batch" or not skip:
            torch._assert_async(ok, _SENTENCES[name])
    if not skip:
        return found
    ok = found.checks.batch
    return found._replace(loss=torch.where(ok, found.loss, 0), grad=torch.where(ok, found.grad, 0))


@lru_cache(maxsize=64)
def _copied(values: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, device=device)


def _constant(values: tuple[float, ...], device: torch.device) -> Tensor:
    """The numbers as a tensor, which is copied to the device once: for a copy the host waits."""
    if device.type == "cpu" or torch._C._len_torch_dispatch_stack():  # the latter: nothing real may be copied
        return torch.tensor(values, dtype=torch.float64, device=device)
    return _copied(values, device)
