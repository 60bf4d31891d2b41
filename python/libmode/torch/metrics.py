"""The metrics of a classifier on validation events, collected batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed
from numpy.typing import NDArray
from torch import Tensor

from .._read import flag, numbers
from ..metrics._judge import Check, Judge, Settings
from ..option_types import CheckOptions, Unpack
from ._gather import gathered, processes
from ._tensors import as_numpy, read_flat


class MoDeMetrics:
    """Collects scored events and judges them by :func:`libmode.metrics.check`, at your working point.

    Use it like a metric of torchmetrics, which it does not need: ``update`` for each batch, ``compute`` and ``reset``
    at the end of an epoch.

    Parameters
    ----------
    prefix : str, by default ``"val_mode_"``
        The start of each name, as in ``val_mode_rank``, the best choice of a checkpoint: the larger the better.
    verbose : bool, by default True
        Whether :meth:`compute` prints the verdict.
    **settings
        ``order``, as for the loss, and other arguments of :func:`libmode.metrics.check`.

    Attributes
    ----------
    check : :class:`libmode.metrics.Check` or None
        Of the last :meth:`compute`: print it for the verdict.

    Notes
    -----
    Bad settings are an error at once. Events stay in memory of the host, 16 bytes of float32 each, until
    :meth:`reset`. With ``torch.distributed``, ``compute`` uses the events of all processes.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeMetrics
    >>> _ = torch.manual_seed(1)
    >>> metrics = MoDeMetrics(order=1, signal_efficiency=0.5, verbose=False)
    >>> label, mass = torch.randint(0, 2, (10_000,)), 50 + 250 * torch.rand(10_000)
    >>> metrics.update(torch.sigmoid(torch.randn(10_000) + label), label, mass)
    >>> print(f"AUC {metrics.compute()['val_mode_auc']:.2f}, flat: {metrics.check.flat}")
    AUC 0.76, flat: True
    >>> metrics.reset()  # before the next validation
    """

    def __init__(self, *, prefix: str = "val_mode_", verbose: bool = True, **settings: Unpack[CheckOptions]) -> None:
        self._settings = Settings(**settings)
        self.check: Check | None = None
        self.prefix, self._verbose = prefix, flag("verbose", verbose)
        self._batches: list[tuple[NDArray[Any], ...]] = []

    def update(self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None) -> None:
        """Adds the events of a batch: tensors of shape (n,) or (n, 1), the label 1 for signal and 0 for background."""
        tensors = read_flat(score, label, mass, weight)
        if tensors.label is None:
            raise TypeError("label is None: expected a tensor of 1 for signal and 0 for background")
        if tensors.mass.ndim > 1:
            raise ValueError(f"mass has shape {tuple(tensors.mass.shape)}: expected (n,) or (n, 1)")
        weights = torch.ones_like(tensors.score) if tensors.weight is None else tensors.weight
        # These are copies, since the next batch may overwrite the tensors.
        batch = tuple(np.array(as_numpy(one)) for one in (tensors.score, tensors.label, tensors.mass, weights))
        if len(tensors.mass):
            numbers("mass", batch[2])  # now, not after an epoch
        self._batches.append(batch)

    def compute(self) -> dict[str, float]:
        """The AUC and ``to_dict()`` of the check as floats, NaN for unknown ones, of all events since the last reset.

        Every process must call it, and gets the numbers of the events of all.
        """
        batches = [batch for of_process in gathered(self._batches) for batch in of_process]
        if not sum(len(score) for score, *_ in batches):
            raise ValueError("there are no events: call update for each batch before compute")
        score, label, mass, weight = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        judge = Judge(self._settings, label, mass, None if (weight == 1).all() else weight)
        self.check, values = judge.log(score)
        if self._verbose and (processes(None) == 1 or torch.distributed.get_rank() == 0):
            print(self.check.why)
        return {self.prefix + name: value for name, value in values.items()}

    def reset(self) -> None:
        """Forgets all events."""
        self._batches = []
