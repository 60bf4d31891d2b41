"""What :mod:`libmode._device` computes, as a PyTorch function.

On the CPU the values are looked at: where there is no loss the core is called, for its errors. On other devices nothing
is read on the host: an assertion of the device says what is wrong.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .._device.loss import loss_and_grad
from .._device.plan import plan_of, refused
from .._events import Events
from .._options import of_text
from . import _op
from ._op import NO_TORCH_FUNC, Eager, backward, in_torch_func, keep, like_results, result_type, stands_for_others

#: What an assertion on a device says, less than 255 bytes: CUDA takes no more.
NO_LOSS = (
    "on the device there is no loss: a selected score, mass or weight is not finite, a score lies outside score_range, "
    "or a bin has too few events or no positive weight; on_device=False says which"
)


def is_on_device(on_device: bool | None, options: str, events: Events) -> bool:
    """Whether the events stay where they are: with None, if that is a GPU and the device has these options."""
    if on_device is False or on_device is None and not events.score.is_cuda:
        return False
    why = refused_call(options, events)
    if why and on_device:
        raise ValueError(refusal(why))
    return not why


def refusal(why: str) -> str:
    """The error of ``on_device=True`` for what is refused."""
    return f"{why}: on_device = True has no such form; leave on_device out, and the core computes it"


def refused_call(options: str, events: Events) -> str | None:
    """What a call has that the device has not."""
    score, *others = (tensor for tensor in events if tensor is not None)
    elsewhere = next((tensor.device for tensor in others if tensor.device != score.device), None)
    if elsewhere is not None:
        return f"tensors on {score.device} and {elsewhere}"
    if events.category is not None:
        return "category"
    return "several variables of mass" if events.mass.ndim > 1 else refused_options(options)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def refused_options(options: str) -> str | None:
    """What options, as text, have that the device has not."""
    return refused(of_text(options))


def common(score: Tensor, mass: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """The tensors in the type in which the core computes: double precision if one of them has it, else single."""
    double = torch.float64 in (score.dtype, mass.dtype, None if weight is None else weight.dtype)
    kind = torch.float64 if double else torch.float32
    return score.to(kind), mass.to(kind), None if weight is None else weight.to(kind)


def device_loss(events: Events, options: str, *, skip: bool = False) -> Tensor:
    """The MoDe loss of checked tensors; with ``skip`` that of a batch without one is 0 where nobody can look."""
    loss: Tensor
    if stands_for_others(events.score):
        loss, _ = device_op(*events, options, skip)
    elif in_torch_func():
        raise RuntimeError(NO_TORCH_FUNC)
    else:
        loss = Eager.apply(*events, options, partial(compute, skip=skip))
    return loss


def compute(
    score: Tensor,
    label: Tensor | None,
    mass: Tensor,
    weight: Tensor | None,
    category: Tensor | None,
    options: str,
    skip: bool,
) -> tuple[Tensor, Tensor]:
    """:func:`libmode.torch._op.compute` on the device of the tensors."""
    plan = plan_of(of_text(options).for_events(score.dtype, mass.dtype, mass.shape), weight is not None)
    if not len(score) or plan.most < plan.fewest:
        return _op.compute(score, label, mass, weight, category, options)  # which says so
    score, mass, weight = common(score, mass, weight)
    found = loss_and_grad(plan, Events(score, label, mass, weight))
    kind, (loss, grad) = result_type(score), found[:2]
    good = found.good.all() & torch.eq(loss, loss)  # not NaN, as of masses whose squares are too small
    if score.is_cpu and type(score) is Tensor:
        if not good:
            return _op.compute(score, label, mass, weight, category, options)  # which says what is wrong
    elif skip:
        loss, grad = (torch.where(good, tensor, 0.0) for tensor in (loss, grad))
    else:
        torch._assert_async(good, NO_LOSS)  # a GPU stops, once it is there
    return loss.to(kind), grad.to(kind)


# Opaque to the compiler, for which sorts and searches are no work, and whose code on the CPU needs a C++ compiler. CUDA
# graphs capture what is inside.
device_op = torch.library.custom_op("libmode::device_loss", compute, mutates_args=())
device_op.register_fake(lambda score, *_: like_results(score))


def _backward(ctx: Any, incoming: Tensor, _: Tensor | None) -> tuple[Tensor | None, ...]:
    return *backward(ctx, incoming, _), None


device_op.register_autograd(_backward, setup_context=keep)
