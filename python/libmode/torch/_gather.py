"""The events of all processes, for ``gather=True``.

Every process gets the events of all processes and computes the same loss. The gradient by its own events is multiplied
by the number of processes, so that the mean over processes, which DistributedDataParallel takes, is the gradient of
that loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from .._events import Events
from .._messages import Fault, reworded
from .._problems import Monitor
from ._op import in_torch_func
from ._tensors import read_tensors
from .reference import joined

#: A group of processes; None is the group of all processes.
Group = Any


class Batch(NamedTuple):
    """The checked events of a loss: a batch, or the batches of all processes, followed by the reference events."""

    events: Events
    size: int  #: the number of events of batches
    own: slice = slice(None)  #: the place of this process's batch
    sizes: Sequence[tuple[int, int]] = ()  #: the numbers of batch and reference events of each process


def read_batch(
    labels: Sequence[int], score: Any, label: Any, mass: Any, weight: Any, category: Any, reference: Any = None
) -> Batch:
    """The checked arguments of a call, with background of these labels."""
    batch = read_tensors(score, label, mass, weight, category)
    return Batch(batch if reference is None else joined(batch, reference, labels), batch.score.shape[0])


def processes(group: Group) -> int:
    """The number of processes; 1 if the training is not distributed."""
    return dist.get_world_size(group) if dist.is_available() and dist.is_initialized() else 1


def checked_group(gather: bool, group: Group) -> tuple[bool, Group]:
    """The arguments of a module; a group without ``gather`` is a ValueError."""
    if group is not None and not gather:
        raise ValueError("process_group is given, and gather = False: give gather=True too")
    return bool(gather), group


def only_a_part(monitor: Monitor, name: str) -> None:
    """Warns, on the first of several processes, that a loss sees the events of one process."""
    if (count := processes(None)) > 1 and dist.get_rank() == 0:
        monitor.say(
            "parts",
            f"{name} sees the events of one of {count} processes at a time, and the mean of {count} such losses is not "
            "the loss of all events: give gather=True",
        )


def gather_events(make: Callable[[], Batch], options: str, group: Group) -> Batch:
    """The batches that ``make`` returns in all processes, by rank; an error in one is a RuntimeError in the others."""
    if in_torch_func():
        raise RuntimeError("torch.func cannot transform a loss with gather = True, whose processes wait for each other")
    batch, error, sentence = None, None, ""
    try:
        batch = make()
    except Exception as caught:
        error, sentence = caught, f"{type(caught).__name__}: {caught}"
    every: list[Any] = [None] * processes(group)
    dist.all_gather_object(every, sentence if batch is None else _description(batch, options), group=group)
    if error is not None:
        raise error
    assert batch is not None
    for rank, other in enumerate(every):
        if isinstance(other, str):
            raise RuntimeError(f"on rank {rank}: {other}")
    (first, _), *_ = every
    for rank, (description, _) in enumerate(every):
        for name, value in description.items():
            if value != first[name]:
                raise ValueError(f"{name} is {first[name]} on rank 0 and {value} on rank {rank}")
    return _gathered(batch, [sizes for _, sizes in every], group)


def _description(batch: Batch, options: str) -> tuple[dict[str, Any], tuple[int, int]]:
    """The values that must agree in all processes, and the numbers of batch and reference events."""
    alike: dict[str, Any] = {"the loss": options, "shape of mass": ("n", *batch.events.mass.shape[1:])}
    for name, tensor in zip(Events._fields, batch.events, strict=True):
        alike[name] = None if tensor is None else tensor.dtype
    return alike, (batch.size, len(batch.events.score) - batch.size)


def _gathered(batch: Batch, sizes: Sequence[tuple[int, int]], group: Group) -> Batch:
    """The events of all processes. They travel as rows of float64, padded to the same number in each process."""
    tensors = [tensor for tensor in batch.events if tensor is not None]
    columns = [tensor.detach() if tensor.ndim > 1 else tensor.detach()[:, None] for tensor in tensors]
    rows = torch.cat([column.to(_device(group)).double() for column in columns], 1)
    padded = rows.new_zeros(max(map(sum, sizes)), rows.shape[1])
    padded[: len(rows)] = rows
    received = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(received, padded, group=group)
    batches = [rows[:count] for rows, (count, _) in zip(received, sizes, strict=True)]
    references = [rows[count : count + more] for rows, (count, more) in zip(received, sizes, strict=True)]
    every = torch.cat([*batches, *references]).to(tensors[0].device)
    pieces = torch.split(every, [column.shape[1] for column in columns], 1)
    arrays = iter(
        piece.to(tensor.dtype).reshape(len(every), *tensor.shape[1:])
        for piece, tensor in zip(pieces, tensors, strict=True)
    )
    events = Events(*(None if tensor is None else next(arrays) for tensor in batch.events))
    start = sum(count for count, _ in sizes[: dist.get_rank(group)])
    own = slice(start, start + batch.size)
    return Batch(events, sum(count for count, _ in sizes), own, sizes)


@contextmanager
def naming_ranks(batch: Batch) -> Iterator[None]:
    """Turns an error about one of the gathered events into an error with its rank and its place there."""
    try:
        yield
    except ValueError as error:
        fault: Fault | None = getattr(error, "fault", None)
        if not batch.sizes or fault is None or fault.place is None:
            raise
        rank, place = _place(fault.place, batch.sizes)
        raise reworded(error, before=f"on rank {rank}: {fault.before}", place=place) from None


def _place(place: int, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The rank of the event at this place among all, and its place among the events of the rank."""
    for is_reference in (False, True):
        for rank, (batch, reference) in enumerate(sizes):
            size = reference if is_reference else batch
            if place < size:
                return rank, place + is_reference * batch
            place -= size
    raise IndexError(place)


def norm_of_all(own: Tensor, group: Group) -> Tensor:
    """The norm over the events of all processes from the norm over the own events, shape ()."""
    square = (own.double() ** 2).to(_device(group))
    dist.all_reduce(square, group=group)
    return square.sqrt().to(own.device, own.dtype)


def _device(group: Group) -> torch.device:
    """The device of the group's backend: the CPU for gloo, a GPU for NCCL."""
    kinds = [part.partition(":")[0] for part in dist.get_backend_config(group).split(",")]
    if "cpu" in kinds:
        return torch.device("cpu")
    return torch.device(kinds[0], torch.get_device_module(kinds[0]).current_device())
