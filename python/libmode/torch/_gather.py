"""The loss of the events of all processes: what ``gather=True`` does.

The events that the loss sees travel to the first process, once a call, forward. It computes the loss as one process
would that has them all, and each gets the loss and its part of the gradient back, times the number of
processes: so the mean over the processes, which DistributedDataParallel takes, is the gradient of that loss. Were each
to compute all, nothing would be won, since they wait for each other, and all of them would have to get all events.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from .. import _native
from .._front import Events
from .._monitor import Monitor
from ._op import in_torch_func

#: A group of processes; None is that of all.
Group = Any

_TYPES = (
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64),
)
_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (_native.BatchError, ValueError, TypeError, RuntimeError)
}


class Given(NamedTuple):
    """The events that a loss is to see."""

    events: Events  #: checked, those of batches and after them those of references
    batch: int  #: how many are those of batches
    size: int = 0  #: how many these batches have of all labels, where they are of several processes


class Found(NamedTuple):
    """What is computed of them."""

    numbers: Sequence[float]  #: the same for each process
    grad: Tensor | None = None  #: (batch,), by the scores of the batches


#: Makes the one of the other.
Compute = Callable[[Given], Found]


class _Head(NamedTuple):
    """What a process says before its events: numbers, the same count of them on each."""

    failed: int  # whether it has none to give, because of an error
    options: int  # a checksum
    size: int  # how many events its batch has
    batch: int  # how many it gives of them
    reference: int  # and of its reference
    variables: int  # of mass; 0 for shape (n,)
    score: int  # the place of its type in _TYPES, -1 for what is not there
    mass: int
    weight: int
    label: int
    category: int


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


def of_all(
    make: Callable[[], Given],
    labels: Sequence[int] | None,
    options: str,
    group: Group,
    compute: Compute,
    count_numbers: int = 5,
) -> Found:
    """What ``compute`` finds for the events of all processes; the gradient is that by the own batch, (n,).

    ``make`` returns what this process gives, or raises TypeError or ValueError. Of these the events travel whose label
    is one of ``labels``, without labels if there is but one; None: all of them, as they are. The first process computes
    with them, all batches in the order of ranks and after them all references. Every process of the
    group has to call this, and an error of one is an error of all: on the others RuntimeError, which names the first.
    """
    if in_torch_func():
        raise RuntimeError("torch.func cannot transform a loss with gather = True, whose processes wait for each other")
    try:
        given = make()
        chosen = _chosen(given.events, labels)
        count = given.batch if chosen is None else int((chosen < given.batch).sum())
        sent = Events(*(_of_chosen(tensor, chosen) for tensor in given.events))
        if labels is not None and len(labels) == 1:
            sent = sent._replace(label=None)
        head = _head(sent, given.batch, count, options)
    except (TypeError, ValueError) as error:
        _agree(_Head(True, *[0] * (len(_Head._fields) - 1)), group, error)
        raise AssertionError("unreachable: an error of one process is one of all") from error
    heads = _agree(head, group, None)
    every = _gathered(sent, heads, group)
    found: Found | None = None
    wrong: Exception | None = None
    if every is not None:
        try:
            if labels is not None and not len(every.events.score):
                wanted = labels[0] if len(labels) == 1 else f"one of {list(labels)}"
                raise _native.BatchError(
                    f"no event selected: on none of {len(heads)} processes is the label of an event {wanted}"
                )
            found = compute(every)
        except Exception as error:
            wrong = error
    numbers, part = _scattered(found, wrong, heads, _kind_of_grad(sent.score), group, chosen, 3 + count_numbers)
    if part is None:
        return Found(numbers)
    part *= len(heads)
    if chosen is None and count == len(part):
        return Found(numbers, part)
    own = torch.arange(count, device=part.device) if chosen is None else chosen[:count]
    return Found(numbers, part.new_zeros(given.batch).index_copy_(0, own, part))


def _chosen(events: Events, labels: Sequence[int] | None) -> Tensor | None:
    """The places of the events that travel, None for all."""
    if labels is None or events.label is None:
        return None
    found: Tensor = events.label == labels[0]
    for label in labels[1:]:
        found |= events.label == label
    places = found.nonzero()[:, 0]
    return None if len(places) == len(found) else places


def _of_chosen(tensor: Tensor | None, chosen: Tensor | None) -> Tensor | None:
    if tensor is None:
        return None
    return tensor.detach() if chosen is None else tensor.detach()[chosen]


def _kind_of_grad(score: Tensor) -> torch.dtype:
    return torch.float64 if score.dtype is torch.float64 else torch.float32


def _head(events: Events, size: int, count: int, options: str) -> _Head:
    return _Head(
        False,
        zlib.crc32(options.encode()),
        size,
        count,
        len(events.score) - count,
        events.mass.shape[1] if events.mass.ndim > 1 else 0,
        *(-1 if tensor is None else _type(name, tensor) for name, tensor in zip(Events._fields, events, strict=True)),
    )


def _type(name: str, tensor: Tensor) -> int:
    try:
        return _TYPES.index(tensor.dtype)
    except ValueError:
        raise TypeError(f"{name} is {tensor.dtype}, which does not travel: convert it to torch.int64") from None


def _agree(head: _Head, group: Group, error: Exception | None) -> list[_Head]:
    """The heads of all processes; raises what is wrong with one of them, on each."""
    own = torch.tensor(head, device=_device(group))
    every = [torch.empty_like(own) for _ in range(processes(group))]
    dist.all_gather(every, own, group=group)
    heads = [_Head(*one.tolist()) for one in every]
    if any(one.failed for one in heads):
        said: list[Any] = [None] * len(heads)
        dist.all_gather_object(said, None if error is None else f"{type(error).__name__}: {error}", group=group)
        if error is not None:
            raise error
        rank, text = next((rank, text) for rank, text in enumerate(said) if text is not None)
        raise RuntimeError(f"on rank {rank}: {text}")
    first = heads[0]
    for rank, other in enumerate(heads):
        if other.options != first.options:
            raise ValueError(f"rank {rank} has other options of the loss than rank 0: they must be the same")
        if other.variables != first.variables:
            shapes = (f"(n, {one.variables})" if one.variables else "(n,)" for one in (first, other))
            raise ValueError("mass has shape {} on rank 0 and {} on rank {}".format(*shapes, rank))
        for name in Events._fields:
            mine, theirs = getattr(first, name), getattr(other, name)
            if mine != theirs:
                raise ValueError(f"{name} is {_called(mine)} on rank 0 and {_called(theirs)} on rank {rank}")
    return heads


def _called(kind: int) -> str:
    return "None" if kind < 0 else str(_TYPES[kind])


def _gathered(sent: Events, heads: Sequence[_Head], group: Group) -> Given | None:
    """On the first process the events of all, from one exchange of bytes."""
    columns = {name: tensor for name, tensor in zip(Events._fields, sent, strict=True) if tensor is not None}
    each = sum(_bytes_of(name, heads[0]) for name in columns)
    most = max(head.batch + head.reference for head in heads)
    device = _device(group)
    packed = torch.empty(most * each, dtype=torch.uint8, device=device)
    start = 0
    for tensor in columns.values():
        own = _as_bytes(tensor)
        packed[start : start + len(own)] = own
        start += len(own)
    first = dist.get_rank(group) == 0
    received = [torch.empty_like(packed) for _ in heads] if first else None
    dist.gather(packed, received, dst=_first(group), group=group)
    if received is None:
        return None
    every, starts = {}, [0] * len(heads)
    for name, tensor in columns.items():
        batches, references = [], []
        for rank, head in enumerate(heads):
            end = starts[rank] + (head.batch + head.reference) * _bytes_of(name, head)
            own = received[rank][starts[rank] : end]
            if starts[rank] % tensor.itemsize:  # what begins anywhere cannot be viewed as numbers
                own = own.clone()
            starts[rank] = end
            column = own.view(tensor.dtype).view(-1, *tensor.shape[1:])
            batches.append(column[: head.batch])
            references.append(column[head.batch :])
        every[name] = torch.cat([*batches, *references]).to(tensor.device)
    return Given(Events(**every), sum(head.batch for head in heads), sum(head.size for head in heads))


def _as_bytes(tensor: Tensor) -> Tensor:
    # One without elements is contiguous whatever its strides are.
    return tensor.contiguous().view(-1).view(torch.uint8) if tensor.numel() else tensor.new_empty(0, dtype=torch.uint8)


def _bytes_of(name: str, head: _Head) -> int:
    """That one event has in a column."""
    size = _TYPES[getattr(head, name)].itemsize
    return size * max(head.variables, 1) if name == "mass" else size


# What is sent back begins with numbers: whether there is an error, how many there are, whether there is a gradient, and
# then these.


def _scattered(
    found: Found | None,
    error: Exception | None,
    heads: Sequence[_Head],
    kind: torch.dtype,
    group: Group,
    chosen: Tensor | None,
    size: int,
) -> tuple[list[float], Tensor | None]:
    """From the first process to each: the numbers, and its part of the gradient; or the error, which each raises."""
    device, rank = _device(group), dist.get_rank(group)
    most = max(head.batch for head in heads)
    received = torch.empty(8 * size + most * kind.itemsize, dtype=torch.uint8, device=device)
    parts = None
    if rank == 0:
        numbers = torch.zeros(size, dtype=torch.float64)
        numbers[0] = error is not None
        grads: Sequence[Tensor | None] = [None] * len(heads)
        if found is not None:
            numbers[1], numbers[2] = len(found.numbers), found.grad is not None
            numbers[3 : 3 + len(found.numbers)] = torch.tensor(found.numbers, dtype=torch.float64)
            if found.grad is not None:
                grads = torch.split(found.grad.detach().to(device, kind), [head.batch for head in heads])
        parts = []
        for own in grads:
            part = torch.empty_like(received)
            part[: 8 * size] = numbers.view(torch.uint8).to(device)
            if own is not None:
                part[8 * size : 8 * size + own.nbytes] = _as_bytes(own)
            parts.append(part)
    dist.scatter(received, parts, src=_first(group), group=group)
    failed, count, has_grad, *numbers_of_all = received[: 8 * size].view(torch.float64).tolist()
    if failed:
        _raise_on_all(error, heads, chosen, group)
    grad = received[8 * size :].view(kind)[: heads[rank].batch] if has_grad else None
    return numbers_of_all[: int(count)], grad


def _raise_on_all(error: Exception | None, heads: Sequence[_Head], chosen: Tensor | None, group: Group) -> None:
    """Raises the error that the first process met; a place in an array becomes one in what a process was given."""
    said = [None if error is None else (type(error).__name__, str(error))]
    dist.broadcast_object_list(said, src=_first(group), group=group)
    assert said[0] is not None
    name, text = said[0]
    kind = _ERRORS.get(name, RuntimeError)
    if found := re.search(r"\b(?:score|mass|weight|label|category)\[(\d+)", text):
        rank, place = _place(int(found[1]), heads)
        places: list[Any] = [None] * len(heads)
        own = place if chosen is None or rank != dist.get_rank(group) else int(chosen[place])
        dist.all_gather_object(places, own, group=group)
        start, end = found.span(1)
        text = f"on rank {rank}: {text[:start]}{places[rank]}{text[end:]}"
    raise kind(text) from error


def _place(place: int, heads: Sequence[_Head]) -> tuple[int, int]:
    """The rank from which the event at a place of all came, and which of those that it sent it was."""
    for of_reference in (False, True):
        for rank, head in enumerate(heads):
            size = head.reference if of_reference else head.batch
            if place < size:
                return rank, place + of_reference * head.batch
            place -= size
    raise IndexError(place)


def norm_of_all(own: Tensor, group: Group) -> Tensor:
    """The norm over the events of all processes, of that over the own ones, shape ()."""
    square = (own.double() ** 2).to(_device(group))
    dist.all_reduce(square, group=group)
    return square.sqrt().to(own.device, own.dtype)


def _first(group: Group) -> int:
    """The rank, among all processes, of the first of a group."""
    return 0 if group is None else dist.get_global_rank(group, 0)


def _device(group: Group) -> torch.device:
    """Where the group's backend reads: the CPU if it can, which gloo does and NCCL does not."""
    kinds = [part.partition(":")[0] for part in dist.get_backend_config(group).split(",")]
    if "cpu" in kinds:
        return torch.device("cpu")
    return torch.device(kinds[0], torch.get_device_module(kinds[0]).current_device())
