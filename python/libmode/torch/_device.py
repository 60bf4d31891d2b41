"""The kernels of :mod:`libmode._device` as PyTorch functions.

The host reads nothing: an assertion on the GPU reports a batch without a loss. On the CPU, in Triton's interpreter, the
core raises the error of such a batch.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import torch
from torch import Tensor

from .._device.plan import make_plan, refused
from .._events import Events
from .._options import Options
from ._tensors import of_tensors, result_type

#: The sentence of an assertion on a device, at most 255 bytes for CUDA.
NO_LOSS = (
    "on the device there is no loss: a label is NaN, a selected score, mass or weight is not finite, a score lies "
    "outside score_range, or a bin has too few events or no positive weight; on_device=False says which"
)

MOST_EVENTS = 1 << 29  # the places in three orders fit in 32 bits


def is_on_device(options: Options, events: Events) -> bool:
    """Whether Triton is installed. Raises ValueError if the kernels cannot compute ``on_device=True``."""
    score, *others = (tensor for tensor in events if tensor is not None)
    elsewhere = next((tensor.device for tensor in others if tensor.device != score.device), None)
    if elsewhere is not None:
        refuse(f"tensors on {score.device} and {elsewhere}")
    if events.category is not None or events.mass.ndim > 1:
        refuse("several variables of mass" if events.category is None else "category")
    if len(score) > MOST_EVENTS:
        refuse(f"{len(score):,} events, more than {MOST_EVENTS:,}")
    refuse(refused(options))
    if score.is_cpu and os.environ.get("TRITON_INTERPRET") != "1":
        raise ValueError(
            "on_device = True: the tensors are on the CPU, where its kernels run in Triton's interpreter alone "
            "(TRITON_INTERPRET=1), for tests; leave on_device out, and the core computes the loss"
        )
    return find_spec("triton") is not None


def refuse(why: str | None) -> None:
    """Raises the ValueError of ``on_device=True`` for this reason, if there is one."""
    if why:
        raise ValueError(f"{why}: on_device = True has no such form; leave on_device out, and the core computes it")


def device_loss(events: Events, options: Options, *, skip: bool = False) -> tuple[Tensor | float, Tensor]:
    """The MoDe loss of checked tensors and its gradient. With ``skip`` both are 0 for a batch without a loss."""
    score = events.score
    plan = make_plan(options.rounded_to(score.dtype, events.mass.dtype))
    if not len(score) or plan.bins <= plan.order:
        return of_tensors(options, events)  # raises the error
    from .._device.calls import loss_and_grad  # imports Triton

    ready = (None if tensor is None else tensor.detach().contiguous() for tensor in events[:4])
    with torch.cuda.device_of(score):  # type: ignore[no-untyped-call]
        loss, grad, good = loss_and_grad(plan, Events(*ready), result_type(score))
    if score.is_cpu:
        if not good:
            return of_tensors(options, events)  # raises the error
    elif not skip:
        torch._assert_async(good, NO_LOSS)  # stops the GPU when it comes to this point
    return loss, grad
