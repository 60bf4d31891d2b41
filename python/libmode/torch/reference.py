"""Reference events: further background events, scored by the current network, that count with each batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, TensorDataset, default_collate

from .. import _events
from .._arrays import check_reference, no_background
from .._events import Events
from .._native import BatchError
from .._read import check_labels, whole
from ._op import in_torch_func
from ._tensors import as_numpy, as_tensor


def joined(batch: Events, reference: Any, labels: Sequence[int]) -> Events:
    """The checked events of a batch, followed by the reference events, which get no gradient."""
    return _events.joined(
        batch, reference, labels, lambda *one: as_tensor(*one).detach(), _filled, _concatenated, _check
    )


def _check(label: Tensor, labels: Sequence[int]) -> None:
    """Checks labels whose values are on the CPU."""
    if label.is_cpu and not (torch.compiler.is_compiling() or in_torch_func()):
        check_reference(as_numpy(label), labels)


def _filled(score: Tensor, value: int, like: Tensor) -> Tensor:
    return torch.full_like(score, value, dtype=like.dtype)


def _concatenated(name: str, batch: Tensor, reference: Tensor) -> Tensor:
    if batch.device != reference.device:
        raise ValueError(
            f"reference.{name} is on {reference.device}, but the batch on {batch.device}: "
            f"move it there, reference.{name}.to({str(batch.device)!r})"
        )
    return torch.cat([batch, reference])


class Reference:
    """Draws background events and scores them: ``reference(network)``, once a step.

    In a batch of a few hundred events, noise dominates the loss. Thousands of further events, scored without
    gradient, remove the noise, at about a third of their cost inside the batch.

    Parameters
    ----------
    events : sequence of tensors, or a Dataset
        ``inputs, label, mass`` and, if the batches have weights, ``weight``, each of shape (n, ...); a dataset has
        these for each event. Tensors and a TensorDataset are searched for background once. With another dataset,
        every call loads ``size`` events, like a loader without workers, and uses the background among them.
    size : int, default 4096
        The number of different events to draw at each call, or all if there are fewer.
    background_label : int, default 0
        The label of the events that are drawn.

    Raises
    ------
    ValueError, TypeError
        If the size is not positive, if an argument is not a tensor, or if lengths differ.
    BatchError
        If there is no background among the events.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeConstraint, Reference
    >>> _ = torch.manual_seed(1)
    >>> inputs, label, mass = torch.randn(20_000, 3), torch.randint(0, 2, (20_000,)).float(), torch.rand(20_000)
    >>> network = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
    >>> constraint, reference = MoDeConstraint(order=1), Reference((inputs, label, mass), size=4096)
    >>> reference(network).score.shape
    torch.Size([4096])
    >>> x, y, m = inputs[:128], label[:128], mass[:128]  # a small batch
    >>> score = constraint(network(x)[:, 0], y, m, reference=reference(network))
    >>> score.shape
    torch.Size([128])
    """

    def __init__(self, events: Sequence[Tensor] | Dataset[Any], size: int = 4096, *, background_label: int = 0) -> None:
        self.size, self.background_label = whole("size", size, 1), whole("background_label", background_label)
        tensors = events.tensors if isinstance(events, TensorDataset) else events
        if isinstance(tensors, Dataset):
            self._dataset: Any = tensors
            self._tensors: list[Tensor] | None = None
            return
        self._dataset, self._tensors = None, self._background(_checked(tensors))

    def __len__(self) -> int:
        """The number of background events; for a dataset, of all its events."""
        return len(self._dataset if self._tensors is None else self._tensors[0])

    def __call__(self, network: Callable[[Tensor], Tensor]) -> Events:
        """New random events with their scores, (k,) or (k, 1), from ``network`` in evaluation mode."""
        inputs, label, mass, *weight = self._drawn()
        modules = list(network.modules()) if isinstance(network, nn.Module) else []
        modes = [module.training for module in modules]
        try:
            for module in modules:  # eval() would tell a constraint that the training ends
                module.training = False
            with torch.no_grad():
                score = network(inputs)
        finally:
            for module, mode in zip(modules, modes, strict=True):  # train(True) would wake frozen layers
                module.training = mode
        if score.ndim == 2 and score.shape[1] == 1:
            score = score[:, 0]
        return Events(score, label, mass, weight[0] if weight else None)

    def _drawn(self) -> list[Tensor]:
        rng = np.random.default_rng(int(torch.randint(2**62, ())))  # takes the same time for any number of events
        places = torch.from_numpy(rng.choice(len(self), min(self.size, len(self)), replace=False))
        if self._tensors is None:
            return self._background(_checked(default_collate([self._dataset[int(i)] for i in places])))
        return [tensor[places.to(tensor.device)] for tensor in self._tensors]

    def _background(self, tensors: list[Tensor]) -> list[Tensor]:
        label = tensors[1]
        chosen = label == self.background_label
        if not chosen.any():
            raise BatchError(no_background(as_numpy(label), self.background_label))
        check_labels(as_numpy(label), (self.background_label,))
        return [tensor[chosen] for tensor in tensors]


def _checked(tensors: Any) -> list[Tensor]:
    every = list(tensors)
    if len(every) not in (3, 4) or not all(isinstance(tensor, Tensor) for tensor in every):
        kinds = ", ".join(type(one).__name__ for one in every)
        raise TypeError(
            f"events has {kinds or 'nothing'}: expected the tensors inputs, label, mass and, if any, weight"
        )
    inputs, label, *others = every
    for name, tensor in zip(("label", "mass", "weight"), every[1:], strict=False):
        if len(tensor) != len(inputs):
            raise ValueError(f"{name} has length {len(tensor)}, but inputs has length {len(inputs)}")
    return [inputs, label.reshape(len(label)), *others]
