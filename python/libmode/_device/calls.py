"""The launches of the kernels, in their order."""

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .._events import Events
from ..torch._op import IN_DOUBLE
from . import layer, loss
from .plan import Plan, Steering

MOST = loss.MOST.value
#: The events that a program takes at a time, also in loops without sums by bin, and the most chunks.
BLOCK, WIDE, PROGRAMS = 32, 512, MOST
#: The events that a program of a layer takes at a time where it multiplies matrices, 32 a warp.
MANY = 128


def run(kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...], constants: dict[str, Any]) -> None:
    """Launches the programs of a kernel."""
    kernel[grid](*arguments, **constants, **settings(kernel, constants))


def settings(kernel: Any, constants: dict[str, Any]) -> dict[str, Any]:
    """How Triton compiles a kernel: more threads for more bins, and the same digits on every GPU as in the interpreter.

    The walk adds up many small blocks, and threads of one warp need not wait for others. Kernels that multiply matrices
    have 32 events a warp, which takes a fifth of the time of 8. We measured all of this on an H200.
    """
    if kernel in (loss.walk, layer.walk_and_rank):
        warps = -(-constants["NB"] // 32)
    elif kernel in (layer.spread, layer.smooth):
        warps = max(1, constants["MANY"] // 32)
    elif kernel is layer.learn:
        warps = 4
    else:
        warps = max(4, constants.get("NB", 0) // 8)
    return {"num_warps": warps, "enable_fp_fusion": False}


class Call:
    """The events of one call with their bins and the fit, and the memory of the kernels."""

    def __init__(self, plan: Plan, events: Events, *, layer: bool = False, logits: bool = False) -> None:
        self.score, label, self.mass, self.weight, _ = events
        if layer and self.weight is not None and self.weight.itemsize < 4:
            self.weight = self.weight.float()  # Triton 3.6 cannot multiply matrices of doubles that were 16 bits
        self.n, self.chunk = len(self.score), BLOCK * -(-len(self.score) // (BLOCK * PROGRAMS))
        n, chunk, self.programs = self.n, self.chunk, -(-self.n // self.chunk)
        self.bins = max(32 if layer else 16, 1 << (plan.bins - 1).bit_length())  # matrices have 32 rows at least
        self.numbers = numbers(plan.numbers, self.score.device)
        kinds = {tensor.dtype for tensor in (self.score, self.mass, self.weight) if tensor is not None}
        kind = torch.float32 if IN_DOUBLE.isdisjoint(kinds) else torch.float64
        self.constants = {
            "WEIGHTED": self.weight is not None, "LABELLED": label is not None, "HAS_EDGES": plan.has_edges,
            "MERGES": plan.merges, "ORDER": plan.order, "UNBIASED": plan.unbiased, "MEAN": plan.mean, "LAYER": layer,
            "LOGITS": logits, "NB": self.bins, "BLOCK": BLOCK, "WIDE": WIDE, "MANY": MANY,
        }  # fmt: skip
        ways, rows, by_bin = (4, 9, self.programs * self.bins) if layer else (2, 4, self.programs * self.bins)
        self.chunks, self.sums, self.before, self.vectors, self.table, self.results, self.halves, places = self.split(
            3 * MOST, ways * loss.ROWS.value * by_bin, rows * by_bin, 4 * self.bins, 7 * self.bins, 4 * MOST, 2 * n,
            -(-n // 2),
        )  # fmt: skip
        self.places, self.keys = places.view(torch.int32), self.memory(4 if layer else 3, n, kind=kind)
        self.launch(
            loss.select, (self.programs,), self.score, self.mass, self.weight, label, self.numbers, self.keys,
            self.chunks, n, chunk,
        )  # fmt: skip
        self.in_order, self.order = torch.sort(self.keys, stable=True)
        self.launch(
            loss.add, (self.programs, ways), self.in_order, self.order, self.mass, self.weight, self.numbers,
            self.chunks, self.places, self.sums, n, chunk, self.programs, plan.bins,
        )  # fmt: skip
        self.launch(
            loss.fit, (1 + rows,), self.sums, self.before, self.chunks, self.vectors, self.table, self.programs,
            plan.bins,
        )  # fmt: skip

    def memory(self, *shape: int, kind: torch.dtype = torch.float64) -> Tensor:
        """Memory on the device of the events."""
        return torch.empty(shape, dtype=kind, device=self.score.device)

    def split(self, *sizes: int) -> tuple[Tensor, ...]:
        """Memory for doubles in several pieces: one allocation costs less time than eight."""
        parts: tuple[Tensor, ...] = self.memory(sum(sizes)).split(sizes)  # type: ignore[no-untyped-call]
        return parts

    def launch(self, kernel: Any, grid: tuple[int, ...], *arguments: Any) -> None:
        """Launches a kernel with the constants that it takes."""
        run(
            kernel, grid, arguments, {name: self.constants[name] for name in kernel.arg_names if name in self.constants}
        )


def loss_and_grad(plan: Plan, events: Events, kind: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, (), of tensors (n,) on one device, its gradient, (n,), both of this type, and whether it is a loss."""
    c = Call(plan, events)
    c.launch(
        loss.walk, (c.programs, 2), c.order, c.weight, c.places, c.before, c.chunks, c.vectors, c.table, c.score,
        c.numbers, c.halves, c.results, c.n, c.chunk, c.programs,
    )  # fmt: skip
    grad, value, good = c.memory(c.n, kind=kind), c.memory(kind=kind), c.memory(kind=torch.bool)
    c.launch(
        loss.finish, (c.programs,), c.halves, c.keys, c.results, c.table, grad, value, good, c.n, c.chunk, c.programs
    )
    return value, grad, good


class Push:
    """The push of a batch. It brings the state up to date, and writes the loss to the first of two shown numbers."""

    def __init__(
        self, plan: Plan, steering: Steering, events: Events, state: Tensor, shown: Tensor, *, logits: bool
    ) -> None:
        c = self.call = Call(plan, events, layer=True, logits=logits)
        self.fixed, self.shown = steering.strength > 0, shown
        c.constants["FIXED"] = self.fixed
        part, ahead = events_in_a_part(c.n), constants(steering, c.score.device)
        parts = -(-c.n // part)
        self.ranks, self.pushes, self.levels, self.there, self.norms, of_ranges, grids, cdfs, shares, squares = c.split(
            4 * c.n, 1024, 512, 2, c.programs, parts * 64, parts * 1024, parts * 16 * c.bins, parts * 32 * c.bins,
            2 * parts,
        )  # fmt: skip
        c.launch(
            layer.walk_and_rank, (c.programs, 6), c.order, c.weight, c.places, c.sums, c.before, c.chunks, c.vectors,
            c.table, c.keys, c.numbers, c.halves, c.results, self.ranks, c.n, c.chunk, c.programs,
        )  # fmt: skip
        c.launch(
            layer.spread, (parts,), c.keys, c.in_order, c.weight, c.mass, c.places, c.sums, c.before, c.chunks, c.table,
            c.halves, self.ranks, c.numbers, state, of_ranges, c.n, part, c.programs,
        )  # fmt: skip
        c.launch(
            layer.smooth, (parts,), c.keys, c.in_order, c.weight, c.places, c.chunks, c.table, c.halves, self.ranks,
            c.numbers, ahead, of_ranges, grids, cdfs, shares, squares, c.n, part, c.programs, parts,
        )  # fmt: skip
        c.launch(
            layer.learn, (1,), c.in_order, c.table, c.vectors, c.results, ahead, of_ranges, grids, cdfs, shares,
            squares, state, self.pushes, self.levels, self.there, shown, c.n, c.programs, parts,
        )  # fmt: skip

    def added_to(self, incoming: Tensor) -> Tensor:
        """The outgoing gradient for an incoming gradient. The scale of the push is the second shown number."""
        c, outgoing = self.call, torch.empty_like(incoming)
        c.launch(layer.size, (c.programs,), incoming, c.keys, c.weight, c.numbers, self.norms, c.n, c.chunk)
        c.launch(
            layer.push, (c.programs,), incoming, outgoing, c.keys, c.weight, c.places, c.chunks, c.table, self.ranks,
            c.numbers, self.pushes, self.levels, self.there, self.shown, self.norms, c.n, c.chunk, c.programs,
        )  # fmt: skip
        return outgoing


def events_in_a_part(n: int) -> int:
    """The number of events whose sums make one table. One program then adds up the tables, a microsecond for each.

    So larger batches have more parts, and more events in a part.
    """
    parts = max(1, min(int(layer.PARTS.value), math.isqrt(n // 10)))
    return MANY * -(-n // (MANY * parts))


@lru_cache(maxsize=64)
def constants(steering: Steering, device: torch.device) -> Tensor:
    """The cosines of the ranks of mass and score in the middle of 32 cells, the thresholds, and the steering."""
    cosines = [1.0] + 31 * [2**0.5]
    of_mass, of_score = (
        [cosines[k] * math.cos(math.pi * k * (c + 0.5) / 32) * (k < many) for c in range(32) for k in range(columns)]
        for many, columns in ((24, 32), (12, 16))
    )
    thresholds = [1 / (1 + math.exp(-7 / 15 * k)) for k in range(16)]
    return numbers((*of_mass, *of_score, *thresholds, *steering), device)


@lru_cache(maxsize=64)
def numbers(values: tuple[float, ...], device: torch.device) -> Tensor:
    """Numbers on a device; the host does not wait for the copy."""
    tensor = torch.tensor(values, dtype=torch.float64)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
