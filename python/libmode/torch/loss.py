"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from .._arrays import no_background
from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._native import BatchError, int32
from .._options import LossOptions, keywords_only, plain, plain_background_label
from ._op import as_numpy, core_loss, decode, encode
from ._skip import or_skip
from .history import Events, History
from .transform import ScoreTransform, transformed

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack


def mode_loss(
    score: Tensor,
    mass: Tensor,
    *,
    weight: Tensor | None = None,
    label: Tensor | None = None,
    background_label: int | Sequence[int] = 0,
    **options: Unpack[LossOptions],
) -> Tensor:
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : Tensor of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16 are
        computed in float32, and so is the gradient until it is multiplied by the
        incoming one, the scale of a GradScaler among its factors.
    mass, weight, label : Tensors of shape (n,) or (n, 1)
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
    return _apply(score, mass, weight, label, encode(background_label, **options))


def _apply(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str) -> Tensor:
    return core_loss(_checked(score, mass, weight, label), options, "loss")


def _checked(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None) -> Events:
    """The tensors as (n,), all of one length."""
    if not torch.is_tensor(score) or not score.is_floating_point():
        kind = score.dtype if torch.is_tensor(score) else type(score).__name__
        raise TypeError(f"score is {kind}: expected a floating-point tensor")
    score = _vector("score", score)
    return Events(
        score,
        _like("mass", mass, score),
        None if weight is None else _like("weight", weight, score),
        None if label is None else _like("label", label, score),
    )


def _vector(name: str, tensor: Tensor) -> Tensor:
    if tensor.ndim == 2 and tensor.shape[1] == 1:
        return tensor.squeeze(1)
    if tensor.ndim != 1:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}: expected (n,) or (n, 1)")
    return tensor


def _like(name: str, tensor: Tensor, score: Tensor) -> Tensor:
    if not torch.is_tensor(tensor) or tensor.is_complex():
        kind = tensor.dtype if torch.is_tensor(tensor) else type(tensor).__name__
        raise TypeError(f"{name} is {kind}: expected a tensor of real numbers")
    tensor = _vector(name, tensor)
    if tensor.shape != score.shape:
        raise ValueError(f"{name} has length {tensor.shape[0]}, but score has length {score.shape[0]}")
    return tensor


def _signal(score: Tensor, background: Tensor) -> Tensor:
    try:
        return score[~background]
    except RuntimeError as error:
        if not torch._C._are_functorch_transforms_active():
            raise
        raise RuntimeError(
            "torch.vmap cannot transform a MoDeLoss with score_transform, since batches differ in how much signal they "
            "have: call it for each batch"
        ) from error


class MoDeLoss(SkipsBadBatches, nn.Module):
    """The MoDe loss (arXiv:2010.09745) as a module without parameters.

    Parameters
    ----------
    background_label : int or sequence of int, default 0
        The loss sees the events whose target is this. With several, it is the
        sum over them, each with its own bins.
    background_only : bool, default True
        False pools all events, whatever their target.
    history : int, default 0
        In training mode, the last so many background events of earlier
        batches, with the scores that they had, are counted with each batch. The
        gradient goes to the batch alone, multiplied by the number of all these
        events over that of the batch, so that the strength of the loss need not
        change. In evaluation mode they are neither used nor changed.
        Beware: a network that oscillates can have a small loss over its old scores
        together while its scores at every single step depend on the mass, so that what
        looks decorrelated is not. Prefer ``unbiased=True`` and no history, and with one
        judge the network by events that it has not seen, in evaluation mode.
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
        Those of :func:`libmode.mode_loss`: order, bins, binning, edges,
        mass_range, max_slope, slope_of, monotonic, moments, unbiased,
        slope_penalty, score_range, reduction.

    The arguments are keywords. Their values are copied: an array of edges may change later.

    Examples
    --------
    >>> mode = MoDeLoss(order=1, unbiased=True, moments="projection")
    >>> loss = bce(score, target) + 1000 * mode(score, target, mass)
    """

    def __init__(
        self,
        *positional: Never,
        background_label: int | Sequence[int] = 0,
        background_only: bool = True,
        history: int = 0,
        score_transform: ScoreTransform | None = None,
        on_bad_batch: OnBadBatch = "raise",
        **options: Unpack[LossOptions],
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_label = plain_background_label(background_label)
        self.background_only = background_only
        self.options = plain(options)
        self.score_transform = score_transform
        self._encoded = encode(self.background_label, **self.options)
        decoded = decode(self._encoded)
        self._labels, self._score_range = decoded.labels, decoded.score_range
        size = int32("history", history)
        if size < 0:
            raise ValueError(f"history = {size}: must not be negative")
        self.history = History(size) if size else None
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
        return or_skip(self, self._loss, pred, target, mass, weights)

    def _loss(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None) -> Tensor:
        label = target if self.background_only else None
        if self.history is None and self.score_transform is None:
            return _apply(pred, mass, weights, label, self._encoded)
        batch = _checked(pred, mass, weights, label)
        return self._extended(batch, _like("target", target, batch.score))

    def reset(self) -> None:
        """Forgets the history."""
        if self.history is not None:
            self.history.reset()

    def _extended(self, batch: Events, target: Tensor) -> Tensor:
        """The loss with a history or a transform."""
        history = self.history if self.training else None
        if history is not None and torch._C._are_functorch_transforms_active():
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
        events = batch if history is None else history.followed_by(batch)
        score, encoded = events.score, self._encoded
        if self.score_transform is not None:
            score, score_range = transformed(score, self.score_transform, self._score_range, signal)
            encoded = encode(self.background_label, **{**self.options, "score_range": score_range})
        loss = _apply(score, events.mass, events.weight, events.label, encoded)
        if history is not None:  # only now: a batch that was refused leaves no trace
            history.remember(events)
            earlier = len(events.score) - len(batch.score)
            loss = loss + earlier / max(1, len(batch.score)) * (loss - loss.detach())
        return loss

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        shown: dict[str, Any] = dict(self.options)
        if self.background_label != 0:
            shown["background_label"] = self.background_label
        if not self.background_only:
            shown["background_only"] = False
        if self.score_transform is not None:
            shown["score_transform"] = self.score_transform
        if self.on_bad_batch != "raise":
            shown["on_bad_batch"] = self.on_bad_batch
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
