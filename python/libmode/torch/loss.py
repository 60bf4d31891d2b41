"""The MoDe loss for PyTorch: a module and a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._events import Events, takes_events
from .._messages import keywords_only
from .._native import Evaluated
from .._option_values import plain
from .._options import Options, check
from .._problems import Monitor, Said
from .._read import flag, is_background
from .._strength import checked_strength, of_core
from .._typing import Never, Unpack
from ..option_types import Loss, LossOptions
from ._device import device_loss, is_on_device, refuse_options
from ._digits import KeepsDigits
from ._gather import Batch, Group, checked_group, gather_events, naming_ranks, only_a_part, processes, read_batch
from ._module import NO_LABELS, as_arguments, in_python, or_skip, read_tensors
from ._op import as_numpy, checked, core_loss, evaluate, result_type, score_limits, stands_for_others, strong_op
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
    tensors, settings = read_tensors(score, label, mass, weight, category), checked(loss, **options)
    if on_device and is_on_device(settings.text, tensors):
        return device_loss(tensors, settings.text)
    return core_loss(tensors, settings)


class MoDeLoss(SkipsBadBatches, KeepsDigits):
    """The MoDe loss (arXiv:2010.09745) as a module without parameters.

    Parameters
    ----------
    background_only : bool, default True
        False pools all events, whatever their label. Otherwise the loss sees the events whose label is
        ``background_label``.
    per_class : bool, default False
        The score has shape (n, k), a column for each of k classes, such as the probabilities of a softmax. The loss is
        the mean over columns. ``background_label`` names the background classes, each with its own bins.
    on_bad_batch : {"raise", "skip"}, default "raise"
        What to do with a batch for which :func:`libmode.mode_loss` raises :class:`libmode.BatchError`, for instance
        without background. "skip" returns the loss 0 with gradient 0, counts it in the attribute ``skipped``, and
        warns (RuntimeWarning) at the first one; torch.compile leaves such a loss out of its graph. Other errors, for
        instance of NaN scores, are always raised.
    score_transform : callable or "signal_efficiency", optional
        Integrates over W(s) instead of s, the paper's footnote 1. A callable takes and returns a tensor of shape (n,)
        and must not decrease; ``score_range`` limits s. "signal_efficiency" is the fraction of the batch's signal
        with scores up to s, linear between every tenth of them or every hundredth part. It gives all working points
        equal weight. The gradient follows the scores through W, but not the events that define W.
    strength : float, optional
        K multiplies the loss by ``K |C|/|M|``, for scores from 0 to 1. C is the gradient of the mean cross entropy by
        the scores of background, w_i/(1 - s_i) over the number of events, at most 100 w_i for an event. M is the
        gradient of the plain loss. Both norms are averages over 200 batches, and the factor is constant in the backward
        pass. So K has no unit: with 1 both gradients are as large. Start with 30, and scan 10 to 300. Left out, it is
        the plain loss.
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

    if TYPE_CHECKING:
        norms: Tensor  # TorchScript reads annotations of classes, but no texts
    _name = "norms"
    _defaults: dict[str, Any] = {"background_only": True, "per_class": False, "on_bad_batch": "raise"}
    _defaults |= {"strength": None, "score_transform": None, "gather": False, "on_device": None}

    def __init__(
        self,
        *positional: Never,
        background_only: bool = True,
        per_class: bool = False,
        on_bad_batch: OnBadBatch = "raise",
        score_transform: ScoreTransform | None = None,
        strength: float | None = None,
        monitor: bool = True,
        gather: bool = False,
        process_group: Group = None,
        on_device: bool | None = None,
        **options: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_only = flag("background_only", background_only)
        self.per_class = flag("per_class", per_class)
        self.options = plain("mode", options, type(self).__init__)
        self._checked = check("mode", self.options)
        self._labels, self._encoded = self._checked.labels, self._checked.text
        self.gather, self.process_group = checked_group(gather, process_group)
        self._monitor, self._said = Monitor() if flag("monitor", monitor) else None, Said()
        self.on_device, self.score_transform = on_device, score_transform
        self.strength: float | None = None
        if strength is not None:
            excluded = {"per_class": self.per_class, "score_transform": score_transform is not None}
            self.strength = checked_strength(strength, self._checked, **excluded)
            # The number of batches, and the averages of |C| and |M|.
            self._hold(np.zeros(3))
        if on_device:  # now, not with the first batch
            refuse_options(self._encoded)
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    @in_python
    @takes_events
    def forward(
        self,
        score: Tensor,
        label: Tensor,
        mass: Tensor,
        weight: Tensor | None = None,
        *,
        category: Tensor | None = None,
        reference: Events | None = None,
    ) -> Tensor:
        """The loss of a batch, shape ().

        Each argument has shape (n,) or (n, 1), and mass also (n, d) for d variables; with ``per_class``, the score has
        shape (n, k) for k classes. ``reference`` are further events with scores of the current network, see
        :class:`libmode.torch.Reference`. They enter the distributions and get no gradient. The gradient of the batch is
        scaled up, as if the batch were all events.
        """
        loss: Callable[..., Tensor] = self._mean_over_classes if self.per_class else self._loss
        if reference is not None:
            if self.per_class:
                raise ValueError("reference and per_class = True: there are no reference events of several classes")
            loss = partial(loss, reference=reference)
        return or_skip(self, loss, score, label, mass, weight, category)

    def _mean_over_classes(self, score: Tensor, *others: Any) -> Tensor:
        if not isinstance(score, Tensor) or score.ndim != 2 or not score.shape[1]:
            what = f"has shape {tuple(score.shape)}" if isinstance(score, Tensor) else f"is {type(score).__name__}"
            raise ValueError(f"score {what}: per_class = True needs shape (n, k), a column for each class")
        return torch.stack([self._loss(column, *others) for column in score.unbind(1)]).mean()

    def extra_repr(self) -> str:
        """The options, and other arguments that differ from their defaults."""
        return as_arguments(self.options, self, self._defaults)

    def _by_operator(self, events: Events, options: Options, count: int, factor: Tensor) -> Tensor:
        """The loss of events times K |C|/|M|, by the operator. It takes the arguments of :meth:`_compute`."""
        loss: Tensor
        before = self.norms if events.score.is_meta else self._undo_rounding()
        loss, _, after = strong_op(*events, options.text, self.strength, before, count, factor)
        if self.training and not events.score.is_meta:
            self.norms.copy_(after)
            self._keep()
        return loss

    def _watched(self, *arguments: Any, count: int = 0, factor: float = 1.0) -> tuple[Tensor, Tensor, Evaluated]:
        """:func:`evaluate`, times K |C|/|M|; the monitor looks at some of the batches."""
        monitor = self._monitor
        if monitor is not None and self.training and not self.per_class:
            due = monitor.is_due()
            if monitor.calls == 1 and not self.gather:
                only_a_part(monitor, type(self).__name__)
            if due:
                monitor.look(as_numpy(arguments[0]))
        core: Callable[..., tuple[Tensor, Tensor, Evaluated]] = evaluate
        strength = None
        if self.strength is not None:
            averages = self._undo_rounding().detach().cpu().double()
            averages = averages if self.training else averages.clone()
            strength = of_core(self.strength, averages.data_ptr(), count, factor)
        loss, grad, evaluated = core(*arguments, said=self._said, strength=strength)
        if strength is not None and self.training:
            self._digits[0] = averages
            if self.norms is not averages:
                self.norms.copy_(averages)
        return loss, grad, evaluated

    def _loss(
        self,
        score: Tensor,
        label: Tensor,
        mass: Tensor,
        weight: Tensor | None,
        category: Tensor | None,
        reference: Events | None = None,
    ) -> Tensor:
        if label is None and self.background_only:
            raise TypeError(NO_LABELS)
        own = label if self.background_only else None
        if self.gather and processes(self.process_group) > 1:
            return _outside_of_the_graph(self, score, label, mass, weight, category, reference)
        if reference is None and self.score_transform is None:
            tensors = read_tensors(score, own, mass, weight, category)
            if not self.on_device and (self.strength is None or not stands_for_others(tensors.score)):  # a call less
                return core_loss(tensors, self._checked, self._watched)
            return self._compute(tensors, self._checked)
        return self._batch_loss(read_batch(self._labels, score, label, mass, weight, category, reference))

    def _compute(self, tensors: Events, options: Options, count: int = 0, factor: Tensor | None = None) -> Tensor:
        """The loss of checked tensors. With reference events ``count`` are the batch, whose gradient gets a factor."""
        if self.on_device and is_on_device(options.text, tensors):
            if self.strength is not None:
                raise ValueError("strength and a loss on the device: leave on_device out, and the core computes it")
            return device_loss(tensors, options.text, skip=self.on_bad_batch == "skip")
        if self.strength is not None and stands_for_others(tensors.score):
            return self._by_operator(tensors, options, count, torch.ones(()) if factor is None else factor)
        watched = self._watched
        if factor is not None and self.strength is not None:
            watched = partial(watched, count=count, factor=factor.item())
        return core_loss(tensors, options, watched)

    def _gathered_loss(self, *arguments: Any) -> Tensor:
        """The loss of the events of all processes."""
        batch = gather_events(partial(read_batch, self._labels, *arguments), self._encoded, self.process_group)
        with naming_ranks(batch):
            return self._batch_loss(batch)

    def _batch_loss(self, batch: Batch) -> Tensor:
        """The loss of a batch with its reference events. Their gradient goes to the batch, as if it were all events."""
        tensors, count, options = batch.events, batch.size, self._checked
        score = tensors.score
        background = torch.ones_like(score, dtype=torch.bool)
        if tensors.label is not None:
            background = is_background(tensors.label, self._labels)
        if self.score_transform is not None:
            limits, signal = score_limits(options.text, score.dtype), score[~background]
            score, limits = transformed(score, self.score_transform, limits, signal)
            options = checked("mode", **{**self.options, "score_range": limits})
        tensors = tensors._replace(score=score, label=tensors.label if self.background_only else None)
        if count == len(score):
            return self._compute(tensors, options)
        counted = background if self.background_only else torch.ones_like(background)
        kind = result_type(score)
        factor = counted.sum(dtype=kind) / counted[:count].sum(dtype=kind).clamp(min=1)
        loss = self._compute(tensors, options, count, factor)
        return loss + (factor - 1) * (loss - loss.detach())


# A graph cannot hold the exchange between processes.
_outside_of_the_graph: Callable[..., Tensor] = torch.compiler.disable(MoDeLoss._gathered_loss)  # type: ignore[no-untyped-call]
