"""The MoDe loss for PyTorch: a module and a function."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._device.plan import refused
from .._events import Events
from .._native import BatchError
from .._options import Options, check, check_scaled
from .._problems import EVERY, OnBadBatch, Said
from .._read import check_averages
from ..option_types import Loss, LossOptions, Unpack
from ._device import device_loss, is_on_device, refuse
from ._gather import Batch, Group, read_batch
from ._op import NO_LABELS, CoreModule, register, with_gradient
from ._tensors import as_numpy, of_tensors, read_flat, read_tensors, result_type


def mode_loss(
    score: Tensor, mass: Tensor, *, weight: Tensor | None = None, label: Tensor | None = None,
    category: Tensor | None = None, loss: Loss = "mode", on_device: bool | None = None, **options: Unpack[LossOptions],
) -> Tensor:  # fmt: skip
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : Tensor of shape (n,) or (n, 1), floating
        Inside ``score_range``. Half precision is computed in float32, up to the product of the gradient with the
        incoming gradient.
    mass, weight, label, category, loss : Tensors of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. They get no gradient.
    on_device : bool, optional
        True computes on the GPU of the tensors, by Triton, instead of in the core on the CPU, which is the default. It
        has polynomials of order 0 to 3 by projection, quantile bins or ``edges``, at most 64 bins, ``mass_range``,
        weights, one background label, ``unbiased``, ``reduction`` and a given ``score_range``. Other options are an
        error, and tensors on the CPU too. Without Triton, as on Windows, the core computes the loss.
    **options
        Those of :func:`libmode.mode_loss`.

    Returns
    -------
    Tensor of shape (), float64 for float64 scores and float32 otherwise

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import mode_loss
    >>> generator = torch.Generator().manual_seed(1)
    >>> mass = 50 + 250 * torch.rand(10_000, generator=generator)
    >>> score = ((mass / 300 + torch.rand(10_000, generator=generator)) / 2).requires_grad_()
    >>> loss = mode_loss(score, mass, order=0)
    >>> loss.backward()
    >>> print(f"{loss.item():.3f}, gradient of shape {tuple(score.grad.shape)}")
    0.024, gradient of shape (10000,)
    """
    function = _function(loss, bool(on_device), **options)
    return with_gradient(function, None, score, label, mass, weight, category)


class _Function:
    """A loss with its options, which keeps nothing."""

    def __init__(self, options: Options, on_device: bool) -> None:
        self.options, self.on_device = options, on_device
        self.key = register(self)

    def _run(self, state: None, *events: Any, reference: None = None) -> tuple[Any, Tensor]:
        """The loss and its gradient."""
        tensors = read_flat(*events) if self.on_device else read_tensors(*events)
        if self.on_device and is_on_device(self.options, tensors):
            loss, grad = device_loss(tensors, self.options)
        else:
            loss, grad = of_tensors(self.options, tensors)
        return loss, grad.reshape(events[0].shape)


_kept = lru_cache(maxsize=None)(_Function)  # a compiled program has the key alone


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _function(loss: Loss, on_device: bool, **options: Any) -> _Function:
    """The loss of a user's options, also while PyTorch compiles."""
    return _kept(check(loss, options), on_device)


class MoDeLoss(CoreModule):
    """The MoDe loss (arXiv:2010.09745) as a module without parameters.

    Parameters
    ----------
    background_only : bool, default True
        False pools all events, whatever their label. Otherwise the loss sees the events whose label is
        ``background_label``.
    on_bad_batch : {"raise", "skip"}, default "skip", or "raise" with ``on_device``
        What to do with a batch for which :func:`libmode.mode_loss` raises :class:`libmode.BatchError`, for instance
        without background. "skip" returns the loss 0 with gradient 0, counts it in the attribute ``skipped``, and
        warns (RuntimeWarning) at the first one. Ten bad batches before the first good one, or a hundred in a row, are
        an error. Other errors, for instance of NaN scores, are always raised.
    strength : float, optional
        K multiplies the loss by ``K |C|/|M|``, for scores from 0 to 1. C is the gradient of the mean cross entropy by
        the scores of background, w_i/(1 - s_i) over the number of events, at most 100 w_i for an event. M is the
        gradient of the plain loss. Both norms are averages over 200 batches, and the factor is constant in the backward
        pass. So K has no unit: with 1 both gradients are as large. Start with 30, and scan 10 to 300. Left out, it is
        the plain loss.
    monitor : bool, default True
        In training mode, check every twentieth batch and warn if the scores collapse
        (:class:`libmode.TrainingWarning`).
    gather : bool, default False
        With several processes (torch.distributed), compute the loss of the events of all processes, as docs/scaling.md
        has it. The gradient is multiplied by the number of processes, of which DistributedDataParallel takes the mean.
        Every process must call the loss at every step; an error on one is an error on all.
    process_group : ProcessGroup, optional
        For ``gather``: the group that averages gradients; by default all processes.
    on_device : bool, optional
        As for :func:`mode_loss`. With True the CPU does not see the values: a batch without a loss is an error of the
        GPU, and ``on_bad_batch="skip"`` gives 0 without a warning or a count. The monitor is off.
    **options
        Those of :func:`libmode.mode_loss`.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`, for options at once.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeLoss
    >>> _ = torch.manual_seed(1)
    >>> x, mass = torch.randn(2_000, 3), 50 + 250 * torch.rand(2_000)
    >>> label = torch.randint(0, 2, (2_000,)).float()  # 0 is background
    >>> network = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
    >>> mode = MoDeLoss(order=1, strength=3, max_slope=0.5, mass_range=(50, 300))
    >>> mode
    MoDeLoss(order=1, max_slope=0.5, mass_range=(50.0, 300.0), strength=3.0)
    >>> score = network(x)[:, 0]
    >>> loss = torch.nn.functional.binary_cross_entropy(score, label) + mode(score, label, mass)
    >>> loss.backward()
    >>> loss.shape, network[0].weight.grad.shape
    (torch.Size([]), torch.Size([1, 3]))
    """

    norms: Tensor
    _name = "norms"
    _defaults = dict(background_only=True, on_bad_batch="skip", strength=None, gather=False, on_device=None)

    def __init__(
        self, *, background_only: bool = True, on_bad_batch: OnBadBatch | None = None, strength: float | None = None,
        monitor: bool = True, gather: bool = False, process_group: Group = None, on_device: bool | None = None,
        **options: Unpack[LossOptions],
    ) -> None:  # fmt: skip
        usual: OnBadBatch = "raise" if on_device else "skip"
        super().__init__(background_only, on_bad_batch or usual, monitor, gather, process_group)
        self._checked = check_scaled("mode", options, strength, type(self).__init__)
        self.options = {name: self._checked.values[name] for name in options}
        self._labels, self.strength = self._checked.labels, self._checked.values["strength"]
        self.on_device, self._said = on_device, Said()
        if strength is not None:
            # The number of batches, and the averages of |C| and |M|.
            self._memory = np.zeros(3)
        if on_device:  # now, not with the first batch
            refuse(refused(self._checked))

    def _load_from_state_dict(self, saved: Mapping[str, Any], prefix: str, *others: Any) -> None:
        check_averages(saved.get(f"{prefix}norms", ()))
        super()._load_from_state_dict(saved, prefix, *others)

    def forward(
        self, score: Tensor, label: Tensor, mass: Tensor, weight: Tensor | None = None, *,
        category: Tensor | None = None, reference: Events | None = None,
    ) -> Tensor:  # fmt: skip
        """The loss of a batch, shape ().

        Each argument has shape (n,) or (n, 1), and mass also (n, d) for d variables. ``reference`` are further events
        with scores of the current network (docs/training.md). They enter the distributions and get no gradient. The
        gradient of the batch is scaled up, as if the batch were all events.
        """
        if label is None and self.background_only:
            raise TypeError(NO_LABELS)
        state = None if self.strength is None else self._buffer()
        return with_gradient(self, state, score, label, mass, weight, category, reference=reference)

    def _run(self, state: Any, score: Tensor, label: Any, *others: Any, reference: Any = None) -> tuple[Any, Tensor]:
        """The loss of a batch and its gradient by the score, which are 0 for a batch that is skipped."""
        alone, options, monitor = reference is None and not self.gather, self._checked, self._monitor
        arguments, where = (score, label if self.background_only else None, *others), ""
        try:
            if alone:
                read = read_flat if self.on_device else read_tensors
                batch = Batch(read(*arguments), score.shape[0])
            else:
                batch = read_batch(self, *arguments, reference=reference)
                where = batch.where
            if self.on_device and is_on_device(options, batch.events):
                loss, grad = device_loss(batch.events, options, skip=self.on_bad_batch == "skip")
            else:
                if monitor is not None and self.training:
                    monitor.calls += 1
                    if monitor.calls % EVERY == 0:
                        monitor.look(as_numpy(batch.events.score))
                # The core changes the averages in their place, but not outside of a training.
                after = None if state is None else state.detach().to("cpu", torch.float64, copy=not self.training)
                loss, grad = of_tensors(options, batch.events, self._said, averages=after, batch=batch.size)
                if after is not None and self.training and after.data_ptr() != state.data_ptr():
                    state.copy_(after)
        except BatchError as error:
            self._skip(error)
            return 0.0, torch.zeros_like(score, dtype=result_type(score))
        except ValueError as error:
            raise ValueError(f"{error} ({where})") if where else error from None
        if self._unproven:
            self._succeed()
        if not alone:
            grad = batch.of_own(grad, self._labels)
        return loss, grad if grad.shape == score.shape else grad.reshape(score.shape)
