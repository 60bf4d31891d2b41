"""The module and the function that users of PyTorch call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .._options import LossOptions
from ._op import MoDeFunction, encode

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
    if not torch.is_tensor(score) or not score.is_floating_point():
        kind = score.dtype if torch.is_tensor(score) else type(score).__name__
        raise TypeError(f"score is {kind}: expected a floating-point tensor")
    score = _vector("score", score)
    mass = _like("mass", mass, score)
    weight = None if weight is None else _like("weight", weight, score)
    label = None if label is None else _like("label", label, score)
    loss: Tensor = MoDeFunction.apply(score, mass, weight, label, options)
    return loss


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
        self, background_label: int | Sequence[int] = 0, background_only: bool = True, **options: Unpack[LossOptions]
    ) -> None:
        super().__init__()
        self.background_label = background_label
        self.background_only = background_only
        self.options = options
        self._encoded = encode(background_label, **options)

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
        return _apply(pred, mass, weights, target if self.background_only else None, self._encoded)

    def extra_repr(self) -> str:
        shown = dict(self.options)
        if self.background_label != 0:
            shown["background_label"] = self.background_label
        if not self.background_only:
            shown["background_only"] = False
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
