"""The kernels of :mod:`libmode._device` as PyTorch functions.

The host reads nothing: an assertion on the GPU reports a batch without a loss. On the CPU, in Triton's interpreter, the
core raises the error of such a batch.
"""

# Annotations stay objects here: custom_op of torch 2.4 cannot read them as text.
import os
from functools import partial
from importlib.util import find_spec

import torch
from torch import Tensor

from .._device.plan import make_plan, refused
from .._events import Events
from .._options import parse_options
from . import _op
from ._op import NO_TORCH_FUNC, Eager, backward, in_torch_func, keep, like_results, result_type, stands_for_others

#: The sentence of an assertion on a device, at most 255 bytes for CUDA.
NO_LOSS = (
    "on the device there is no loss: a label is NaN, a selected score, mass or weight is not finite, a score lies "
    "outside score_range, or a bin has too few events or no positive weight; on_device=False says which"
)

MOST_EVENTS = 1 << 29  # the places in three orders fit in 32 bits


def is_on_device(options: str, events: Events) -> bool:
    """Whether Triton is installed. Raises ValueError if the kernels cannot compute ``on_device=True``."""
    score, *others = (tensor for tensor in events if tensor is not None)
    elsewhere = next((tensor.device for tensor in others if tensor.device != score.device), None)
    if elsewhere is not None:
        raise ValueError(refusal(f"tensors on {score.device} and {elsewhere}"))
    if events.category is not None or events.mass.ndim > 1:
        raise ValueError(refusal("several variables of mass" if events.category is None else "category"))
    if len(score) > MOST_EVENTS:
        raise ValueError(refusal(f"{len(score):,} events, more than {MOST_EVENTS:,}"))
    refuse_options(options)
    if score.is_cpu and not _is_interpreted():
        raise ValueError(
            "on_device = True: the tensors are on the CPU, where its kernels run in Triton's interpreter alone "
            "(TRITON_INTERPRET=1), for tests; leave on_device out, and the core computes the loss"
        )
    return bool(_has_triton())


def refusal(why: str) -> str:
    """The error of ``on_device=True`` for this reason."""
    return f"{why}: on_device = True has no such form; leave on_device out, and the core computes it"


def refuse_options(options: str) -> None:
    """Raises ValueError if the kernels lack one of the options, as text."""
    if why := _refused(options):
        raise ValueError(refusal(why))


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _refused(options: str) -> str | None:
    return refused(parse_options(options))


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _has_triton() -> bool:
    return find_spec("triton") is not None


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _is_interpreted() -> bool:
    return os.environ.get("TRITON_INTERPRET") == "1"


def device_loss(events: Events, options: str, *, skip: bool = False) -> Tensor:
    """The MoDe loss of checked tensors. With ``skip`` it is 0 for a batch without a loss."""
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
    plan = make_plan(parse_options(options).rounded_to(score.dtype, mass.dtype))
    if not len(score) or plan.bins <= plan.order:
        return _op.compute(score, label, mass, weight, category, options)  # raises the error
    from .._device.calls import loss_and_grad  # imports Triton

    ready = (None if tensor is None else tensor.detach().contiguous() for tensor in (score, label, mass, weight))
    with torch.cuda.device_of(score):  # type: ignore[no-untyped-call]
        loss, grad, good = loss_and_grad(plan, Events(*ready), result_type(score))
    if score.is_cpu:
        if not good:
            return _op.compute(score, label, mass, weight, category, options)  # raises the error
    elif not skip:
        torch._assert_async(good, NO_LOSS)  # stops the GPU when it comes to this point
    return loss, grad


# The compiler does not look into the launches. CUDA graphs capture them.
device_op = torch.library.custom_op("libmode::device_loss", compute, mutates_args=())
device_op.register_fake(lambda score, *_: like_results(score))
device_op.register_autograd(backward, setup_context=keep)
