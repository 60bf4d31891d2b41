"""The launches of the kernels, in their order."""

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .._events import Events
from . import loss
from .plan import Plan

MOST = loss.MOST.value
#: How many events a program has at a time, also where each goes for itself, and how many chunks there are at most.
BLOCK, WIDE, PROGRAMS = 32, 512, MOST


def run(kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], constants: dict[str, Any]) -> None:
    """Launches so many programs of a kernel."""
    kernel[grid](*arguments, **constants, **settings(kernel, constants))


def settings(kernel: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """How a kernel is compiled: more threads for more bins, and digits that depend on no GPU, as in the interpreter.

    The walk adds up many small blocks, for which threads of one warp need not wait for others: measured on an H200.
    """
    bins = constants.get("NB", 0)
    return {"num_warps": -(-bins // 32) if kernel is loss.walk else max(4, bins // 8), "enable_fp_fusion": False}


def loss_and_grad(plan: Plan, events: Events, kind: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, (), of tensors (n,) on one device, its gradient, (n,), both of a type, and whether there is a loss."""
    score, label, mass, weight, _ = events
    n, chunk = len(score), BLOCK * -(-len(score) // (BLOCK * PROGRAMS))
    programs, bins = -(-n // chunk), max(16, 1 << (plan.bins - 1).bit_length())
    double = any(tensor.dtype is torch.float64 for tensor in (score, mass, weight) if tensor is not None)
    constants = {
        "WEIGHTED": weight is not None, "LABELLED": label is not None, "GIVEN": plan.given, "MERGES": plan.merges,
        "ORDER": plan.order, "UNBIASED": plan.unbiased, "MEAN": plan.mean, "NB": bins, "BLOCK": BLOCK, "WIDE": WIDE,
    }  # fmt: skip

    def memory(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        return torch.empty(shape, dtype=dtype, device=score.device)

    def launch(kernel: Any, grid: tuple[int, ...], *arguments: Any) -> None:
        run(kernel, grid, arguments, {name: constants[name] for name in kernel.arg_names if name in constants})

    both, by_bin = (programs, 2), 2 * programs * bins
    sizes = (3 * MOST, loss.ROWS.value * by_bin, 2 * by_bin, 4 * bins, 5 * bins, 2 * MOST, 2 * n, -(-n // 2))
    # One allocation costs less time than eight.
    found, sums, before, vectors, table, results, halves, places = memory(sum(sizes)).split(sizes)
    options, places = numbers(plan.numbers, score.device), places.view(torch.int32)
    keys = memory(3, n, dtype=torch.float64 if double else torch.float32)
    launch(loss.select, (programs,), score, mass, weight, label, options, keys, found, n, chunk)
    in_order, order = torch.sort(keys, stable=True)
    launch(loss.add, both, in_order, order, mass, weight, options, found, places, sums, n, chunk, programs, plan.bins)
    launch(loss.fit, (5,), sums, before, found, vectors, table, programs, plan.bins)
    launch(
        loss.walk, both, order, weight, places, before, found, vectors, table, score, options, halves, results, n,
        chunk, programs,
    )  # fmt: skip
    grad, value, good = memory(n, dtype=kind), memory(dtype=kind), memory(dtype=torch.bool)
    launch(loss.finish, (programs,), halves, keys, results, table, grad, value, good, n, chunk, programs)
    return value, grad, good


@lru_cache(maxsize=64)
def numbers(values: tuple[float, ...], device: torch.device) -> Tensor:
    """Numbers on a device, for which the host does not wait."""
    tensor = torch.tensor(values, dtype=torch.float64)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
