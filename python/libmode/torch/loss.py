"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._events import Events, events_of, takes_events
from .._monitor import Monitor
from .._native import BatchError
from ._device import device_loss, is_on_device, refusal, refused_options
from ._gather import Given, Group, checked_group, naming_ranks, of_all, only_a_part, processes
from ._module import CoreLoss, events, read
from ._op import as_numpy, checked, core_loss, evaluate, in_torch_func, score_range_of
from ._skip import or_skip
from .reference import joined
from .transform import ScoreTransform, transformed

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from .._options import Options
    from ..option_types import Loss, LossOptions
    from ._module import ModeArguments


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
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one, the scale of a GradScaler among its factors.
    mass, weight, label, category : Tensors of shape (n,) or (n, 1), mass also (n, d)
        As for :func:`libmode.mode_loss`. They get no gradient.
    loss : "mode", "disco" or "flatness", default "mode"
        As for :func:`libmode.mode_loss`.
    on_device : bool, optional
        Whether to compute by PyTorch's own operations where the tensors lie, in place of the core, which runs on the
        CPU. By default that is so for tensors on a GPU, if the device has the options: polynomials of order 0 to
        3 by projection, quantile bins or ``edges``, ``mass_range``, weights, one background label, ``unbiased``,
        ``reduction`` and a given ``score_range``. True: on the CPU too, and an error for other options.
    **options
        Those of :func:`libmode.mode_loss`.

    Returns
    -------
    Tensor of shape (), float64 for float64 scores and float32 otherwise, on
    the device of ``score``.

    Raises
    ------
    BatchError, ValueError, TypeError
        As :func:`libmode.mode_loss`.

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
    return _form(given, asked, on_device)


def _form(given: Events, asked: Options, on_device: bool | None, skip: bool = False) -> Tensor:
    """The loss of tensors that are checked, by the core or on their device."""
    if (on_device or not given.score.is_cpu) and is_on_device(on_device, asked.text, given):
        return device_loss(given, asked.text, skip=skip)
    return core_loss(given, asked)


def _signal(score: Tensor, background: Tensor) -> Tensor:
    try:
        return score[~background]
    except RuntimeError as error:
        if not in_torch_func():
            raise
        raise RuntimeError(
            "torch.vmap cannot transform a MoDeLoss with score_transform, since batches differ in how much signal they "
            "have: call it for each batch"
        ) from error


class MoDeLoss(CoreLoss):
    """The MoDe loss (arXiv:2010.09745) as a module without parameters.

    Parameters
    ----------
    background_only : bool, default True
        False pools all events, whatever their target. Otherwise the loss sees the
        events whose target is ``background_label``.
    per_class : bool, default False
        Pred has shape (n, k), a column for each of k classes, such as the probabilities of
        a softmax: the loss is the mean of those of the columns. ``background_label`` says
        which classes are background, one or several, each with bins of its own.
    on_bad_batch : {"raise", "skip"}, default "raise"
        What to do with a batch for which :func:`libmode.mode_loss` raises
        :class:`libmode.BatchError`, for instance one that has no background. "skip"
        returns the loss 0 with gradient 0, counts it in the attribute ``skipped``, and
        warns (RuntimeWarning) at the first one; torch.compile leaves such a loss out of
        its graph. Other errors, as for scores that are NaN, are raised all the same.
    score_transform : callable or "signal_efficiency", optional
        Integrates over W(s) instead of s, the paper's footnote 1. A callable
        takes and returns a tensor of shape (n,) and must not decrease;
        ``score_range`` is that of s. "signal_efficiency" is the fraction of the
        batch's signal with scores up to s, each event counting once, linear
        between every tenth of them or every hundredth part: it weights all
        working points alike. The gradient follows the scores through W, but
        not the events that define W.
    monitor : bool, default True
        In training mode, look at every twentieth batch and warn, once each, if scores collapse to one, the
        classifier is given up, bins have too few events, or with ``unbiased=False`` most of the loss
        is noise (:class:`libmode.TrainingWarning`).
    gather : bool, default False
        In a training with several processes (torch.distributed), the loss of all their events, the same on
        each, in place of that of the own ones, whose mean is another loss. The gradient by the own scores is
        multiplied by the number of processes, so that the mean that DistributedDataParallel and FSDP take over them
        is that of one process with all the batches. Every process has to call the loss at every step, as it
        has to call its network; an error of one is an error of all. Batches may differ in size, and have no background.
        See docs/scaling.md.
    process_group : ProcessGroup, optional
        Of ``gather``: by default that of all processes. It has to be the one over which gradients are averaged.
    on_device : bool, optional
        As for :func:`mode_loss`. On a GPU nobody looks at the values then: a batch without a loss is an error of the
        device, and ``on_bad_batch="skip"`` gives 0 without a warning and without counting. The monitor sleeps.
    **options
        Those of :func:`libmode.mode_loss`.

    Raises
    ------
    ValueError, TypeError
        For options that are out of range or unknown, and for positional arguments: all are keywords.
    BatchError, ValueError, TypeError
        When called: as :func:`libmode.mode_loss`.

    Notes
    -----
    The values of the arguments are copied: an array of edges may change later.

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
        self._monitor = Monitor() if monitor else None
        self.on_device, self.score_transform = on_device, score_transform
        if on_device and (why := refused_options(self._encoded)):  # now, not with the first batch
            raise ValueError(refusal(why))
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    @takes_events
    def forward(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None = None,
        *,
        category: Tensor | None = None,
        reference: Events | None = None,
    ) -> Tensor:
        """The loss of a batch, shape ().

        Each argument has shape (n,) or (n, 1), and mass also (n, d) for d variables;
        with ``per_class``, pred has shape (n, k) for k classes. ``reference`` are further events, with the
        scores that the network has for them now, see :class:`Reference`: they count in the
        distributions and get no gradient. The batch's is multiplied by the number of all
        these background events over that of the batch, so that the strength of the loss need not change.
        """
        if reference is None:
            by = self._of_classes if self.per_class else self._loss
        elif self.per_class:
            raise ValueError("reference and per_class = True: there are no reference events of several classes")
        else:
            by = partial(self._loss, reference=reference)
        loss = or_skip(self, by, pred, target, mass, weight, category)
        if self._monitor is not None and self.training and not self.per_class:
            self._watch(self._monitor, pred, target, mass, weight, category, reference)
        return loss

    def _watch(self, monitor: Monitor, pred: Tensor, *others: Any) -> None:
        """Lets the monitor see a batch now and then, where its values are at hand."""
        if torch.compiler.is_compiling() or in_torch_func() or not (pred.is_cpu or self.on_device is False):
            return
        if not self.gather:
            only_a_part(monitor, type(self).__name__)
        if monitor.due():
            self._look(monitor, self._given(pred, *others))

    @torch.no_grad()
    def _look(self, monitor: Monitor, given: Given) -> None:
        """Lets the monitor see a batch that has a loss, without a transform of the scores."""
        own, unbiased = given.events, self.options.get("unbiased", True)
        try:
            loss, bias, count = self._evaluated(given)
        except BatchError:
            return
        monitor.look(
            as_numpy(own.score),
            as_numpy(self._background(own.label)) if self.background_only else None,
            loss=loss if unbiased else loss - bias,
            bias=bias,
            events=count,
            bins=bins if isinstance(bins := self.options.get("bins"), int) else None,
            unbiased=unbiased,
        )

    def _evaluated(self, given: Given) -> Sequence[float]:
        """The loss of the scores as they are, its bias and the number of events."""
        if self._gathers:
            given = of_all(lambda: given, self._encoded, self.process_group)
        every = given.events if self.background_only else given.events._replace(label=None)
        _, _, found = evaluate(*every, self._checked, loss_alone=False)
        return found.loss, found.bias, found.events

    def _given(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weight: Tensor | None,
        category: Tensor | None,
        reference: Events | None,
    ) -> Given:
        batch = events_of(read, pred, mass, weight, read("target", target), category)
        every = batch if reference is None else joined(batch, reference, self._labels)
        return Given(every, len(batch.score))

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
            return _form(
                events(pred, mass, weight, label, category), self._checked, self.on_device, self.on_bad_batch == "skip"
            )
        given = self._given(pred, target, mass, weight, category, reference)
        return self._loss_of(given.events, given.batch)

    @property
    def _gathers(self) -> bool:
        return self.gather and processes(self.process_group) > 1

    def _loss_of_all(self, pred: Tensor, *others: Any) -> Tensor:
        """The loss of the events of all processes."""
        given = of_all(partial(self._given, pred, *others), self._encoded, self.process_group)
        with naming_ranks(given):
            return self._loss_of(given.events, given.batch)

    def _loss_of(self, every: Events, count: int) -> Tensor:
        """The loss of a batch of so many events, and of the reference events after them."""
        score, asked = every.score, self._checked
        background = torch.ones_like(score, dtype=torch.bool) if every.label is None else self._background(every.label)
        if self.score_transform is not None:
            score_range = score_range_of(asked.text, score.dtype)
            signal = _signal(every.score, background)
            score, score_range = transformed(score, self.score_transform, score_range, signal)
            asked = checked("mode", **{**self.options, "score_range": score_range})
        every = every._replace(score=score, label=every.label if self.background_only else None)
        loss = _form(every, asked, self.on_device, self.on_bad_batch == "skip")
        if count == len(every.score):
            return loss
        counted = background if self.background_only else torch.ones_like(background)
        of_batch = counted[:count].sum(dtype=loss.dtype).clamp(min=1)
        return loss + (counted.sum(dtype=loss.dtype) / of_batch - 1) * (loss - loss.detach())

    def _background(self, target: Tensor) -> Tensor:
        return torch.stack([target == label for label in self._labels]).any(0)

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        shown = [super().extra_repr()]
        if self.score_transform is not None:
            shown.append(f"score_transform={self.score_transform!r}")
        if self.gather:
            shown.append("gather=True")
        if self.on_device is not None:
            shown.append(f"on_device={self.on_device}")
        return ", ".join(filter(None, shown))


# What is sent and received is not part of a graph.
_outside_of_the_graph: Callable[..., Tensor] = torch.compiler.disable(MoDeLoss._loss_of_all)  # type: ignore[no-untyped-call]
