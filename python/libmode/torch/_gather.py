"""The events of all processes: what ``gather=True`` does.

Every process gets the events of all and computes the same loss of them. The gradient by its own events is multiplied by
the number of processes, so that the mean over processes, which DistributedDataParallel takes, is the gradient of
that loss.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from .._events import Events
from .._monitor import Monitor
from ._module import events, read
from ._op import in_torch_func
from .reference import joined

#: A group of processes; None is that of all.
Group = Any


class Given(NamedTuple):
    """The events that a loss is to see."""

    events: Events  #: checked, those of batches and after them those of references
    batch: int  #: how many are those of batches
    own: slice = slice(None)  #: where among those the batch of this process is
    sizes: Sequence[tuple[int, int]] = ()  #: how many events the batch and the reference of each process have


def given_of(
    labels: Sequence[int], score: Any, label: Any, mass: Any, weight: Any, category: Any, reference: Any
) -> Given:
    """The arguments of a call, checked, with background of these labels."""
    batch = events(score, read("label", label) if label is None else label, mass, weight, category)
    return Given(batch if reference is None else joined(batch, reference, labels), batch.score.shape[0])


def processes(group: Group) -> int:
    """How many there are; 1 where nothing is distributed."""
    return dist.get_world_size(group) if dist.is_available() and dist.is_initialized() else 1


def checked_group(gather: bool, group: Group) -> tuple[bool, Group]:
    """The arguments of a module."""
    if group is not None and not gather:
        raise ValueError("process_group is given, and gather = False: give gather=True too")
    return bool(gather), group


def only_a_part(monitor: Monitor, name: str) -> None:
    """Warns, on the first of several processes, that a loss sees the events of one alone."""
    if (count := processes(None)) > 1 and dist.get_rank() == 0:
        monitor.say(
            "parts",
            f"{name} sees the events of one of {count} processes at a time, and the mean of {count} such losses is not "
            "the loss of all events: give gather=True",
        )


def of_all(make: Callable[[], Given], options: str, group: Group) -> Given:
    """The events that ``make`` returns in all processes, by rank; an error in one is a RuntimeError in the others."""
    if in_torch_func():
        raise RuntimeError("torch.func cannot transform a loss with gather = True, whose processes wait for each other")
    given, error, said = None, None, ""
    try:
        given = make()
    except Exception as caught:
        error, said = caught, f"{type(caught).__name__}: {caught}"
    every: list[Any] = [None] * processes(group)
    dist.all_gather_object(every, said if given is None else _description(given, options), group=group)
    if error is not None:
        raise error
    assert given is not None
    for rank, other in enumerate(every):
        if isinstance(other, str):
            raise RuntimeError(f"on rank {rank}: {other}")
    (first, _), *_ = every
    for rank, (description, _) in enumerate(every):
        for name, value in description.items():
            if value != first[name]:
                raise ValueError(f"{name} is {first[name]} on rank 0 and {value} on rank {rank}")
    return _gathered(given, [sizes for _, sizes in every], group)


def _description(given: Given, options: str) -> tuple[dict[str, Any], tuple[int, int]]:
    """What has to be the same in all processes, and how many events the batch and the reference have."""
    alike: dict[str, Any] = {"the loss": options, "shape of mass": ("n", *given.events.mass.shape[1:])}
    for name, tensor in zip(Events._fields, given.events, strict=True):
        alike[name] = None if tensor is None else tensor.dtype
    return alike, (given.batch, len(given.events.score) - given.batch)


def _gathered(given: Given, sizes: Sequence[tuple[int, int]], group: Group) -> Given:
    """The events of all, which travel as rows of float64, padded to the same number in each process."""
    tensors = [tensor for tensor in given.events if tensor is not None]
    columns = [tensor.detach() if tensor.ndim > 1 else tensor.detach()[:, None] for tensor in tensors]
    rows = torch.cat([column.to(_device(group)).double() for column in columns], 1)
    padded = rows.new_zeros(max(map(sum, sizes)), rows.shape[1])
    padded[: len(rows)] = rows
    received = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(received, padded, group=group)
    batches = [rows[:batch] for rows, (batch, _) in zip(received, sizes, strict=True)]
    references = [rows[batch : batch + more] for rows, (batch, more) in zip(received, sizes, strict=True)]
    every = torch.cat([*batches, *references]).to(tensors[0].device)
    pieces = torch.split(every, [column.shape[1] for column in columns], 1)
    found = iter(
        piece.to(tensor.dtype).reshape(len(every), *tensor.shape[1:])
        for piece, tensor in zip(pieces, tensors, strict=True)
    )
    events = Events(*(None if tensor is None else next(found) for tensor in given.events))
    start = sum(batch for batch, _ in sizes[: dist.get_rank(group)])
    own = slice(start, start + given.batch)
    if given.events.score.requires_grad:
        mine = given.events.score[: given.batch]
        mine.register_hook(lambda grad: len(sizes) * grad)
        events = events._replace(score=torch.cat([events.score[:start], mine, events.score[own.stop :]]))
    return Given(events, sum(batch for batch, _ in sizes), own, sizes)


@contextmanager
def naming_ranks(given: Given) -> Iterator[None]:
    """Where an error names one of the events of all, it names the rank that gave it and its place there."""
    try:
        yield
    except ValueError as error:
        found = re.search(r"\b(?:score|mass|weight|label|category)\[(\d+)", str(error))
        if not given.sizes or found is None:
            raise
        rank, place = _place(int(found[1]), given.sizes)
        start, end = found.span(1)
        raise type(error)(f"on rank {rank}: {str(error)[:start]}{place}{str(error)[end:]}") from None


def _place(place: int, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The rank that gave the event at a place of all, and where it was among its own."""
    for of_reference in (False, True):
        for rank, (batch, reference) in enumerate(sizes):
            size = reference if of_reference else batch
            if place < size:
                return rank, place + of_reference * batch
            place -= size
    raise IndexError(place)


def norm_of_all(own: Tensor, group: Group) -> Tensor:
    """The norm over the events of all processes, of that over the own ones, shape ()."""
    square = (own.double() ** 2).to(_device(group))
    dist.all_reduce(square, group=group)
    return square.sqrt().to(own.device, own.dtype)


def _device(group: Group) -> torch.device:
    """Where the group's backend reads: the CPU if it can, which gloo does and NCCL does not."""
    kinds = [part.partition(":")[0] for part in dist.get_backend_config(group).split(",")]
    if "cpu" in kinds:
        return torch.device("cpu")
    return torch.device(kinds[0], torch.get_device_module(kinds[0]).current_device())
