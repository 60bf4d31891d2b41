"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from .._native import int32
from .._options import LossOptions
from ._op import MoDeFunction, decode, encode
from .history import Events, History
from .transform import ScoreTransform, transformed

if TYPE_CHECKING:
    from typing_extensions import Unpack


def mode_loss(
    score: Tensor,
    mass: Tensor,
    weight: Tensor | None = None,
    label: Tensor | None = None,
    *,
    background_label: int | Sequence[int] = 0,
    **options: Unpack[LossOptions],
) -> Tensor:
    """The MoDe loss (arXiv:2010.09745) of tensors, differentiable in ``score``.

    Parameters
    ----------
    score : Tensor of shape (n,) or (n, 1), floating
        Outputs of the classifier, inside ``score_range``. float16 and bfloat16
        are computed in float32.
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
    ValueError, TypeError
        As :func:`libmode.mode_loss`.
    """
    return _apply(score, mass, weight, label, encode(background_label, **options))


def _apply(score: Tensor, mass: Tensor, weight: Tensor | None, label: Tensor | None, options: str) -> Tensor:
    loss: Tensor = MoDeFunction.apply(*_checked(score, mass, weight, label), options)
    return loss


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


class MoDeLoss(nn.Module):
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

    Examples
    --------
    >>> mode = MoDeLoss(order=1, unbiased=True, moments="projection")
    >>> loss = bce(score, target) + 1000 * mode(score, target, mass)
    """

    def __init__(
        self,
        background_label: int | Sequence[int] = 0,
        background_only: bool = True,
        *,
        history: int = 0,
        score_transform: ScoreTransform | None = None,
        **options: Unpack[LossOptions],
    ) -> None:
        super().__init__()
        self.background_label = background_label
        self.background_only = background_only
        self.options = options
        self.score_transform = score_transform
        self._encoded = encode(background_label, **options)
        decoded = decode(self._encoded)
        self._labels, self._score_range = decoded.labels, decoded.score_range
        if int32("history", history) < 0:
            raise ValueError(f"history = {history}: must not be negative")
        self.history = History(history) if history else None
        if not (score_transform is None or callable(score_transform) or score_transform == "signal_efficiency"):
            raise ValueError(f"score_transform = {score_transform!r}: must be a callable or 'signal_efficiency'")

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
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
        background = torch.stack([target == label for label in self._labels]).any(0)
        signal = batch.score[~background]
        history = self.history if self.training else None
        if history is not None and self.background_only:
            batch = batch.where(background)
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
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
