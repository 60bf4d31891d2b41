"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .._arrays import no_background
from .._front import Events, events_of
from .._native import BatchError, int32
from ._module import CoreLoss, events, read
from ._op import as_numpy, core_loss, decode, encode, in_torch_func, score_range_of
from .history import History
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
    history : int, default 0
        In training mode, the last so many background events of earlier
        batches, with the scores that they had, are counted with each batch. The
        gradient goes to the batch alone, multiplied by the number of all these
        events over that of the batch, so that the strength of the loss need not
        change. In evaluation mode they are neither used nor changed.
        Beware: a network that oscillates can have a small loss over its old scores
        together while its scores at every single step depend on the mass, so that what
        looks decorrelated is not. Prefer no history, and with one judge the
        network by events that it has not seen, in evaluation mode.
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
        history: int = 0,
        score_transform: ScoreTransform | None = None,
        **arguments: Unpack[ModeArguments],
    ) -> None:
        super().__init__("mode", positional, **arguments)
        self._labels = decode(self._encoded).labels
        self.score_transform = score_transform
        size = int32("history", history)
        if size < 0:
            raise ValueError(f"history = {size}: must not be negative")
        if size and self.per_class:
            raise ValueError(f"history = {size} and per_class = True: there is no history of several classes")
        self.history = History(size) if size else None
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    def _loss(
        self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None, category: Tensor | None
    ) -> Tensor:
        if self.history is None and self.score_transform is None:
            return super()._loss(pred, target, mass, weights, category)
        batch = events_of(read, pred, mass, weights, read("target", target), category)
        return self._extended(batch if self.background_only else batch._replace(label=None), batch.label)

    def reset(self) -> None:
        """Forgets the history."""
        if self.history is not None:
            self.history.reset()

    def _extended(self, batch: Events, target: Tensor) -> Tensor:
        """The loss with a history or a transform."""
        history = self.history if self.training else None
        if history is not None and in_torch_func():
            raise RuntimeError(
                "torch.func cannot transform a MoDeLoss that has a history, which is not a function of its arguments: "
                "leave history out, or call eval() before"
            )
        background = torch.stack([target == label for label in self._labels]).any(0)
        signal = _signal(batch.score, background)
        if history is not None and self.background_only:
            batch = batch.where(background)
            if not (len(batch.score) or len(history)) and len(target):
                raise BatchError(no_background(as_numpy(target), self._labels[0]))
        every = batch if history is None else history.followed_by(batch)
        score, encoded = every.score, self._encoded
        if self.score_transform is not None:
            score_range = score_range_of(encoded, score.dtype)
            score, score_range = transformed(score, self.score_transform, score_range, signal)
            encoded = encode("mode", **{**self.options, "score_range": score_range})
        loss = core_loss(every._replace(score=score), encoded)
        if history is not None:  # only now: a batch that was refused leaves no trace
            history.remember(every)
            earlier = len(every.score) - len(batch.score)
            loss = loss + earlier / max(1, len(batch.score)) * (loss - loss.detach())
        return loss

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        transform = [] if self.score_transform is None else [f"score_transform={self.score_transform!r}"]
        return ", ".join(filter(None, [super().extra_repr(), *transform]))
