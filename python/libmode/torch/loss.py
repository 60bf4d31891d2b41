"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._front import Events, events_of
from .._monitor import Monitor
from .._native import BatchError
from ._module import CoreLoss, events, read
from ._op import as_numpy, core_loss, decode, encode, evaluate, in_torch_func, score_range_of
from ._skip import or_skip
from .reference import joined
from .transform import ScoreTransform, transformed

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from ..option_types import LossOptions
    from ._module import ModeArguments


def mode_loss(
    score: Tensor,
    mass: Tensor,
    *,
    weight: Tensor | None = None,
    label: Tensor | None = None,
    category: Tensor | None = None,
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
    """
    return core_loss(events(score, mass, weight, label, category), encode("mode", **options))


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
    **options
        Those of :func:`libmode.mode_loss`.

    The arguments are keywords. Their values are copied: an array of edges may change later.

    Examples
    --------
    >>> mode = MoDeLoss(order=1)
    >>> loss = bce(score, target) + 1000 * mode(score, target, mass)
    """

    def __init__(
        self,
        *positional: Never,
        score_transform: ScoreTransform | None = None,
        monitor: bool = True,
        **arguments: Unpack[ModeArguments],
    ) -> None:
        super().__init__("mode", positional, **arguments)
        self._labels = decode(self._encoded).labels
        self._monitor = Monitor() if monitor else None
        self.score_transform = score_transform
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    def forward(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weights: Tensor | None = None,
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
            loss = super().forward(pred, target, mass, weights, category=category)
        elif self.per_class:
            raise ValueError("reference and per_class = True: there are no reference events of several classes")
        else:
            loss = or_skip(self, partial(self._loss, reference=reference), pred, target, mass, weights, category)
        looks = self.training and not (self.per_class or torch.compiler.is_compiling() or in_torch_func())
        if looks and self._monitor is not None and self._monitor.due():
            self._look(self._monitor, pred, target, mass, weights, category, reference=reference)
        return loss

    @torch.no_grad()
    def _look(
        self, monitor: Monitor, pred: Tensor, target: Tensor, mass: Tensor, *others: Any, reference: Events | None
    ) -> None:
        """Lets the monitor see a batch that has a loss, without a transform of the scores."""
        weights, category = others
        batch = events(pred, mass, weights, target if self.background_only else None, category)
        every = batch if reference is None else joined(batch, reference, self._labels)
        try:
            found, _ = evaluate(every, self._encoded)
        except BatchError:
            return
        unbiased = self.options.get("unbiased", True)
        monitor.look(
            as_numpy(every.score),
            None if every.label is None else as_numpy(self._background(every.label)),
            loss=found.loss if unbiased else found.loss - found.bias,
            bias=found.bias,
            events=found.events,
            bins=bins if isinstance(bins := self.options.get("bins"), int) else None,
            unbiased=unbiased,
        )

    def _loss(
        self,
        pred: Tensor,
        target: Tensor,
        mass: Tensor,
        weights: Tensor | None,
        category: Tensor | None,
        reference: Events | None = None,
    ) -> Tensor:
        if reference is None and self.score_transform is None:
            return super()._loss(pred, target, mass, weights, category)
        batch = events_of(read, pred, mass, weights, read("target", target), category)
        every = batch if reference is None else joined(batch, reference, self._labels)
        score, encoded, background = every.score, self._encoded, self._background(every.label)
        if self.score_transform is not None:
            score_range = score_range_of(encoded, score.dtype)
            signal = _signal(every.score, background)
            score, score_range = transformed(score, self.score_transform, score_range, signal)
            encoded = encode("mode", **{**self.options, "score_range": score_range})
        every = every._replace(score=score, label=every.label if self.background_only else None)
        loss = core_loss(every, encoded)
        if reference is None:
            return loss
        counted = background if self.background_only else torch.ones_like(background)
        of_batch = counted[: len(batch.score)].sum(dtype=loss.dtype).clamp(min=1)
        return loss + (counted.sum(dtype=loss.dtype) / of_batch - 1) * (loss - loss.detach())

    def _background(self, target: Tensor) -> Tensor:
        return torch.stack([target == label for label in self._labels]).any(0)

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        transform = [] if self.score_transform is None else [f"score_transform={self.score_transform!r}"]
        return ", ".join(filter(None, [super().extra_repr(), *transform]))
