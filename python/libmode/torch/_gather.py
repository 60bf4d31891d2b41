"""The events of a batch, its reference events, and those of all processes, for ``gather=True``.

Every process gets the events of all processes and computes the same loss. The gradient by its own events is multiplied
by the number of processes, so that the mean over processes, which DistributedDataParallel takes, is the gradient of
that loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from .._events import Events, joined
from .._read import is_background
from ._tensors import as_numpy, as_tensor, read_flat

#: A group of processes; None is the group of all processes.
Group = Any


class Batch(NamedTuple):
    """The checked events of a call: a batch, or the batches of all processes, followed by the reference events."""

    events: Events
    size: int  #: the number of events of batches
    own: slice = slice(None)  #: the place of this process's batch
    processes: int = 1  #: how many processes the events are of

    @property
    def where(self) -> str:
        """What an error says of the places of events, if they are not of a batch alone."""
        if self.processes > 1:
            return "where events of all processes follow each other"
        return f"where events from {self.size} on are reference events" * (len(self.events.score) > self.size)

    def of_own(self, grad: Tensor, labels: Sequence[int]) -> Tensor:
        """The gradient by this process's batch, as if the batches were all events, times the number of processes."""
        label = self.events.label
        counted = torch.ones_like(grad) if label is None else is_background(label, labels)
        factor = self.processes * counted.sum(dtype=torch.float64) / counted[: self.size].sum().clamp(min=1)
        return grad[: self.size][self.own] * factor.to(grad)


def read_batch(module: Any, score: Any, *others: Any, reference: Any) -> Batch:
    """The checked arguments of a call of a module, in all processes if it gathers them."""

    def make() -> Batch:
        batch = every = read_flat(score, *others)
        if reference is not None:
            every = joined(batch, reference, module._labels, lambda *one: as_tensor(*one).detach(), torch)
        return Batch(every, batch.score.shape[0])

    group = module.process_group
    return gather_events(make, repr(module), group) if module.gather and processes(group) > 1 else make()


def processes(group: Group) -> int:
    """The number of processes; 1 if the training is not distributed."""
    return dist.get_world_size(group) if dist.is_available() and dist.is_initialized() else 1


def gathered(own: Any, group: Group = None) -> list[Any]:
    """What each process has, by rank."""
    every = [own] * processes(group)
    if len(every) > 1:
        dist.all_gather_object(every, own, group=group)
    return every


def gather_events(make: Callable[[], Batch], options: str, group: Group) -> Batch:
    """The batches that ``make`` returns in all processes, by rank; an error in one is a RuntimeError in the others."""
    batch, error = None, None
    own: Any  # what the other processes get
    try:
        batch = make()
        own = options, batch.size, Events(*(None if one is None else as_numpy(one) for one in batch.events))
    except Exception as caught:
        error, own = caught, f"{type(caught).__name__}: {caught}"
    every = gathered(own, group)
    if error is not None:
        raise error
    assert batch is not None
    for rank, other in enumerate(every):
        if isinstance(other, str):
            raise RuntimeError(f"on rank {rank}: {other}")
        if other[0] != every[0][0]:
            raise ValueError(f"the loss is {every[0][0]} on rank 0 and {other[0]} on rank {rank}")
        for name, first, here in zip(Events._fields, every[0][2], other[2], strict=True):
            if (kind := getattr(here, "dtype", None)) != (usual := getattr(first, "dtype", None)):
                raise ValueError(f"{name} is {usual} on rank 0 and {kind} on rank {rank}")
    batches = [arrays.where(slice(size)) for _, size, arrays in every]
    references = [arrays.where(slice(size, None)) for _, size, arrays in every]
    columns = zip(batch.events, *batches, *references, strict=True)
    events = Events(
        *(None if like is None else torch.from_numpy(np.concatenate(parts)).to(like) for like, *parts in columns)
    )
    ends = np.cumsum([size for _, size, _ in every])
    end = int(ends[dist.get_rank(group)])
    return Batch(events, int(ends[-1]), slice(end - batch.size, end), len(every))


def norms_of_all(gradient: Tensor, rows: Tensor, parts: int, group: Group) -> Tensor:
    """The norms of a gradient, after the rows of a constraint, over the events of all processes, for each part."""
    _, multiplier, slope, part = rows.double()
    own = torch.bincount(part.long(), (multiplier * slope * gradient) ** 2, parts)
    return torch.stack(gathered(own, group)).sum(dim=0).sqrt()
