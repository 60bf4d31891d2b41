"""What a classifier achieves on the events of a validation, collected batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch.distributed
from numpy.typing import NDArray
from torch import Tensor

from .._front import Events, takes_events
from ..metrics import summary
from ..metrics.summary import EFFICIENCIES, Settings
from ._module import events as events_of


class MoDeMetrics:
    """Collects scored events, and makes the numbers of :func:`libmode.metrics.summary` of them.

    It is used as the metrics of torchmetrics are, and does not need that package::

        metrics.update(score, target, mass)  # for each batch
        self.log_dict(metrics.compute())  # at the end of an epoch
        metrics.reset()

    Parameters
    ----------
    order : int
        That of the loss.
    events, efficiencies, bins, mass_range, **options
        As for :func:`libmode.metrics.summary`.
    prefix : str, by default ``"val_mode_"``
        Of the names: ``val_mode_sensitivity``.

    Raises
    ------
    ValueError, TypeError
        At once for bad options, and in :meth:`update` and :meth:`compute` for bad events.

    Notes
    -----
    Events stay in memory of the host, 12 bytes of float32 each (16 with weights), until
    :meth:`reset`. With ``torch.distributed``, ``compute`` takes those of all processes; what a
    DistributedSampler repeats, so that all have as many, counts twice.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeMetrics
    >>> _ = torch.manual_seed(1)
    >>> metrics = MoDeMetrics(order=1, efficiencies=[0.5])
    >>> for batch in range(10):
    ...     target, mass = torch.randint(0, 2, (1_000,)), 50 + 250 * torch.rand(1_000)
    ...     metrics.update(torch.sigmoid(torch.randn(1_000) + target), target, mass)
    >>> found = metrics.compute()
    >>> print(f"AUC {found['val_mode_auc']:.2f}, R50 {found['val_mode_rejection_50']:.1f}")
    AUC 0.76, R50 6.4
    >>> metrics.reset()  # before the next validation
    """

    def __init__(
        self,
        *,
        order: int,
        events: float = 100_000,
        efficiencies: Sequence[float] = EFFICIENCIES,
        bins: int = 20,
        mass_range: tuple[float, float] | None = None,
        prefix: str = "val_mode_",
        **options: Any,
    ) -> None:
        Settings.checked(order, events, efficiencies, bins, mass_range, options)  # now, not after an epoch
        self._arguments: dict[str, Any] = {
            "order": order,
            "events": events,
            "efficiencies": efficiencies,
            "bins": bins,
            "mass_range": mass_range,
            **options,
        }
        self.prefix = prefix
        self._batches: list[Events] = []

    @takes_events
    def update(self, score: Tensor, target: Tensor, mass: Tensor, weight: Tensor | None = None) -> None:
        """Adds the events of a batch: tensors of shape (n,) or (n, 1), on any device.

        score : floating, as :func:`libmode.metrics.summary` takes it
        target : 1 for signal, 0 for background

        Raises TypeError and ValueError for what are no such tensors, with the argument.
        """
        given = events_of(score, mass, weight, target)
        if given.label is None:
            raise TypeError("target is None: expected a tensor of 1 for signal and 0 for background")
        if given.mass.ndim > 1:
            raise ValueError(f"mass has shape {tuple(given.mass.shape)}: expected (n,) or (n, 1)")
        self._batches.append(Events(*(None if tensor is None else _on_host(tensor) for tensor in given)))

    def compute(self) -> dict[str, float]:
        """The numbers of all events since the last reset, of all processes, each of which has to call it.

        Raises what :func:`libmode.metrics.summary` does, and ValueError where there are no events.
        """
        batches = _of_all_processes(self._batches)
        if not sum(len(batch.score) for batch in batches):
            raise ValueError("there are no events: call update for each batch before compute")
        weighted = any(batch.weight is not None for batch in batches)
        found = summary(
            np.concatenate([batch.score for batch in batches]),
            np.concatenate([batch.label for batch in batches]),
            np.concatenate([batch.mass for batch in batches]),
            weight=np.concatenate([_weight(batch) for batch in batches]) if weighted else None,
            **self._arguments,
        )
        return {self.prefix + name: value for name, value in found.items()}

    def reset(self) -> None:
        """Forgets all events."""
        self._batches = []


def _on_host(tensor: Tensor) -> NDArray[Any]:
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    array: NDArray[Any] = np.array(tensor.numpy())  # a copy: the next batch may be written to the same tensor
    return array


def _of_all_processes(batches: list[Events]) -> list[Events]:
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return batches
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, batches)
    return [batch for of_process in gathered for batch in of_process]


def _weight(batch: Events) -> NDArray[Any]:
    weight: NDArray[Any] = np.ones(len(batch.score), np.float32) if batch.weight is None else batch.weight
    return weight
