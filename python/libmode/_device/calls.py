"""The launches of the kernels, in their order."""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .._events import Events
from ..torch._tensors import IN_DOUBLE
from . import loss
from .plan import Plan

MOST = loss.MOST.value
#: The events that a program takes at a time, also in loops without sums by bin, and the most chunks.
BLOCK, WIDE, PROGRAMS = 32, 512, MOST


def run(kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], constants: dict[str, Any]) -> None:
    """Launches the programs of a kernel."""
    kernel[grid](*arguments, **constants, **settings(kernel, constants))


def settings(kernel: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """How Triton compiles a kernel: more threads for more bins, and the same digits on every GPU as in the interpreter.

    The walk adds up many small blocks, and threads of one warp need not wait for others. We measured this on an H200.
    """
    bins = constants.get("NB", 0)
    warps = -(-bins // 32) if kernel is loss.walk else max(4, bins // 8)
    return {"num_warps": warps, "enable_fp_fusion": False}


def loss_and_grad(plan: Plan, events: Events, kind: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, (), of tensors (n,) on one device, its gradient, (n,), both of this type, and whether it is a loss."""
    score, label, mass, weight, _ = events
    n, chunk = len(score), BLOCK * -(-len(score) // (BLOCK * PROGRAMS))
    programs, bins = -(-n // chunk), max(16, 1 << (plan.bins - 1).bit_length())  # at least 16, as the kernels need
    kinds = {tensor.dtype for tensor in (score, mass, weight) if tensor is not None}
    of_keys = torch.float32 if IN_DOUBLE.isdisjoint(kinds) else torch.float64
    constants = {
        "WEIGHTED": weight is not None, "LABELLED": label is not None, "HAS_EDGES": plan.has_edges,
        "MERGES": plan.merges, "COUNTED": False, "ORDER": plan.order, "UNBIASED": plan.unbiased, "MEAN": plan.mean,
        "NB": bins, "BLOCK": BLOCK, "WIDE": WIDE,
    }  # fmt: skip

    def memory(*shape: int, kind: torch.dtype = torch.float64) -> Tensor:
        return torch.empty(shape, dtype=kind, device=score.device)

    def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any) -> None:
        run(kernel, grid, arguments, {name: constants[name] for name in kernel.arg_names if name in constants})

    sizes = (
        4 * MOST, 2 * loss.ROWS.value * programs * bins, 4 * programs * bins, 4 * bins, 5 * bins, 2 * MOST, 2 * n,
        -(-n // 2),
    )  # fmt: skip
    parts: tuple[Tensor, ...] = memory(sum(sizes)).split(sizes)  # type: ignore[no-untyped-call] # one allocation
    chunks, sums, before, vectors, table, results, halves, places = parts
    places, keys, limits = places.view(torch.int32), memory(3, n, kind=of_keys), numbers(plan.numbers, score.device)
    grad, value, good = memory(n, kind=kind), memory(kind=kind), memory(kind=torch.bool)
    launch(loss.select, (programs,), score, mass, weight, label, limits, keys, chunks, n, chunk)
    in_order, order = torch.sort(keys, stable=True)

    def add(ways: int) -> None:
        launch(
            loss.add, (programs, ways), in_order, order, mass, weight, limits, chunks, places, sums, n, chunk, programs,
            plan.bins,
        )  # fmt: skip

    if plan.merges and weight is not None:
        add(1)
        launch(loss.count, (1,), sums, chunks, programs)
        constants["COUNTED"] = True
    add(2)
    launch(loss.fit, (5,), sums, before, chunks, vectors, table, programs, plan.bins)
    launch(
        loss.walk, (programs, 2), order, weight, places, before, chunks, vectors, table, score, limits, halves,
        results, n, chunk, programs,
    )  # fmt: skip
    launch(loss.finish, (programs,), halves, keys, results, table, grad, value, good, n, chunk, programs)
    return value, grad, good


@lru_cache(maxsize=64)
def numbers(values: tuple[float, ...], device: torch.device) -> Tensor:
    """Numbers on a device; the host does not wait for the copy."""
    tensor = torch.tensor(values, dtype=torch.float64)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
