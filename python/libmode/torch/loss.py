"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .._events import Events, is_background
from .._monitor import EVERY, Monitor
from .._native import ModeResult
from .._options import Options
from .._said import Said
from .._typing import Never, Unpack
from ..option_types import Loss, LossOptions
from ._device import device_loss, is_on_device, refuse_options
from ._gather import Group, checked_group, given_of, naming_ranks, of_all, only_a_part, processes
from ._module import CoreLoss, ModeArguments, events
from ._op import as_numpy, checked, core_loss, evaluate, in_torch_func, score_range_of
from .transform import ScoreTransform, transformed


def mode_loss(
    score: Tensor,
    mass: Tensor,
    *,
    weight: Tensor | None = None,
    label: Tensor | None = None,
    category: Tensor | None = None,
    loss: Loss = "mode",
    on_device: bool | None = None,
    **options: Unpack[LossOptions],
) -> Tensor:
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : Tensor of shape (n,) or (n, 1), floating
        Inside ``score_range``. Half precision is computed in float32, up to the product of the gradient with the
        incoming gradient.
    mass, weight, label, category : Tensors of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. They get no gradient.
    loss : "mode", "disco" or "flatness", default "mode"
        As for :func:`libmode.mode_loss`.
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
    >>> print(f"{mode_loss(score, mass, loss='disco').item():.3f}")
    0.352
    """
    given, asked = events(score, mass, weight, label, category), checked(loss, **options)
    if on_device and is_on_device(asked.text, given):
        return device_loss(given, asked.text)
    return core_loss(given, asked)


class MoDeLoss(CoreLoss):
    """The MoDe loss (arXiv:2010.09745) as a module without parameters.

    Parameters
    ----------
    background_only : bool, default True
        False pools all events, whatever their target. Otherwise the loss sees the
        events whose target is ``background_label``.
    per_class : bool, default False
        Pred has shape (n, k), a column for each of k classes, such as the probabilities of a softmax. The loss is the
        mean over columns. ``background_label`` names the background classes, each with its own bins.
    on_bad_batch : {"raise", "skip"}, default "raise"
        What to do with a batch for which :func:`libmode.mode_loss` raises :class:`libmode.BatchError`, for instance
        without background. "skip" returns the loss 0 with gradient 0, counts it in the attribute ``skipped``, and
        warns (RuntimeWarning) at the first one; torch.compile leaves such a loss out of its graph. Other errors, for
        instance of NaN scores, are always raised.
    score_transform : callable or "signal_efficiency", optional
        Integrates over W(s) instead of s, the paper's footnote 1. A callable takes and returns a tensor of shape (n,)
        and must not decrease; ``score_range`` is that of s. "signal_efficiency" is the fraction of the batch's signal
        with scores up to s, linear between every tenth of them or every hundredth part. It gives all working points
        equal weight. The gradient follows the scores through W, but not the events that define W.
    monitor : bool, default True
        In training mode, check every twentieth batch and warn, once each, if the scores collapse, the classifier
        stops separating, bins have too few events, or with ``unbiased=False`` most of the loss is noise
        (:class:`libmode.TrainingWarning`).
    gather : bool, default False
        With several processes (torch.distributed), compute the loss of the events of all processes, the same on each.
        The gradient is multiplied by the number of processes. So the mean that DistributedDataParallel and FSDP take
        is the gradient of one process with all batches. Every process must call the loss at every step; an error on
        one is an error on all. See docs/scaling.md.
    process_group : ProcessGroup, optional
        For ``gather``: the group that averages gradients; by default all processes.
    on_device : bool, optional
        As for :func:`mode_loss`. With True the CPU does not see the values: a batch without a loss is an error of the
        GPU, and ``on_bad_batch="skip"`` gives 0 without a warning or a count. The monitor is off.
    **options
        Those of :func:`libmode.mode_loss`.

    Raises
    ------
    ValueError, TypeError
        For options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import MoDeLoss
    >>> _ = torch.manual_seed(1)
    >>> x, mass = torch.randn(2_000, 3), 50 + 250 * torch.rand(2_000)
    >>> target = torch.randint(0, 2, (2_000,)).float()  # 0 is background
    >>> network = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Sigmoid())
    >>> mode = MoDeLoss(order=1, max_slope=0.5, mass_range=(50, 300))
    >>> mode
    MoDeLoss(order=1, max_slope=0.5, mass_range=(50.0, 300.0))
    >>> score = network(x)[:, 0]
    >>> loss = torch.nn.functional.binary_cross_entropy(score, target) + 1000 * mode(score, target, mass)
    >>> loss.backward()
    >>> loss.shape, network[0].weight.grad.shape
    (torch.Size([]), torch.Size([1, 3]))
    """

    _defaults = {**CoreLoss._defaults, "score_transform": None, "gather": False, "on_device": None}

    def __init__(
        self,
        *positional: Never,
        score_transform: ScoreTransform | None = None,
        monitor: bool = True,
        gather: bool = False,
        process_group: Group = None,
        on_device: bool | None = None,
        **arguments: Unpack[ModeArguments],
    ) -> None:
        super().__init__("mode", positional, **arguments)
        self.gather, self.process_group = checked_group(gather, process_group)
        self._labels = self._checked.labels
        self._monitor, self._said = Monitor() if monitor else None, Said()
        self.on_device, self.score_transform = on_device, score_transform
        if on_device:  # now, not with the first batch
            refuse_options(self._encoded)
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    def _watched(self, *arguments: Any) -> tuple[Tensor, Tensor, ModeResult]:
        """:func:`evaluate`, which takes note of all that the core finds where the monitor is to look."""
        monitor = self._monitor
        of_core: Callable[..., tuple[Tensor, Tensor, ModeResult]] = partial(evaluate, said=self._said)
        if monitor is None or not self.training or self.per_class:
            return of_core(*arguments)
        monitor.calls += 1
        if monitor.calls == 1 and not self.gather:
            only_a_part(monitor, type(self).__name__)
        if monitor.calls % EVERY:  # monitor.due(), with a call less
            return of_core(*arguments)
        found = of_core(*arguments, loss_alone=False)
        self._found = found[2]
        return found

    def _look(self, pred: Tensor, target: Tensor) -> None:
        """Lets the monitor see a batch that has a loss."""
        monitor, found, self._found = self._monitor, self._found, None
        assert monitor is not None and found is not None
        unbiased, bins = self.options.get("unbiased", True), self.options.get("bins")
        label = as_numpy(target).ravel() if self.background_only else None
        monitor.look(
            as_numpy(pred).ravel(),
            None if label is None else is_background(label, self._labels),
            loss=found.loss if unbiased else found.loss - found.bias,
            bias=found.bias,
            events=found.events,
            bins=bins if isinstance(bins, int) else None,
            unbiased=unbiased,
        )

    def _loss(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None,
        category: Tensor | None,
        reference: Events | None = None,
    ) -> Tensor:
        if self.gather and processes(self.process_group) > 1:
            return _outside_of_the_graph(self, pred, target, mass, weight, category, reference)
        if reference is None and self.score_transform is None:
            label = target if self.background_only else None
            given = events(pred, mass, weight, label, category)
            return self._form(given, self._checked)
        every, count, *_ = given_of(self._labels, pred, target, mass, weight, category, reference)
        return self._loss_of(every, count)

    def _form(self, given: Events, asked: Options) -> Tensor:
        """The loss of tensors that are checked, by the core or on their device."""
        if self.on_device and is_on_device(asked.text, given):
            return device_loss(given, asked.text, skip=self.on_bad_batch == "skip")
        return core_loss(given, asked, self._watched)

    def _loss_of_all(self, *arguments: Any) -> Tensor:
        """The loss of the events of all processes."""
        given = of_all(partial(given_of, self._labels, *arguments), self._encoded, self.process_group)
        with naming_ranks(given):
            return self._loss_of(given.events, given.batch)

    def _loss_of(self, every: Events, count: int) -> Tensor:
        """The loss of a batch of so many events, and of the reference events after them."""
        score, asked = every.score, self._checked
        background = torch.ones_like(score, dtype=torch.bool)
        if every.label is not None:
            background = is_background(every.label, self._labels)
        if self.score_transform is not None:
            try:
                signal = score[~background]
            except RuntimeError as error:
                if not in_torch_func():
                    raise
                raise RuntimeError(
                    "torch.vmap cannot transform a MoDeLoss with score_transform, since batches differ in how much "
                    "signal they have: call it for each batch"
                ) from error
            score_range = score_range_of(asked.text, score.dtype)
            score, score_range = transformed(score, self.score_transform, score_range, signal)
            asked = checked("mode", **{**self.options, "score_range": score_range})
        every = every._replace(score=score, label=every.label if self.background_only else None)
        loss = self._form(every, asked)
        if count == len(every.score):
            return loss
        counted = background if self.background_only else torch.ones_like(background)
        of_batch = counted[:count].sum(dtype=loss.dtype).clamp(min=1)
        return loss + (counted.sum(dtype=loss.dtype) / of_batch - 1) * (loss - loss.detach())


# What is sent and received is not part of a graph.
_outside_of_the_graph: Callable[..., Tensor] = torch.compiler.disable(MoDeLoss._loss_of_all)  # type: ignore[no-untyped-call]
