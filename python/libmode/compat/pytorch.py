"""The MoDe loss with the constructor and the call of ``modeloss.pytorch.MoDeLoss``.

``modeloss`` 0.1.0 is the package of the authors of arXiv:2010.09745. Where results
differ, and why: docs/from-modeloss.md.
"""

from __future__ import annotations

import warnings
from typing import Any

from .._messages import needed
from ..option_types import LossOptions
from ._arguments import Arguments, described, without_options

with needed("torch", by="libmode.compat.pytorch", extra="torch"):
    import torch
    from torch import Tensor

    from ..torch import Events
    from ..torch import MoDeLoss as _MoDeLoss

_MEMORY = 1_000_000  # events, which take some 30 ms a call; modeloss keeps all of them


class MoDeLoss(Arguments, _MoDeLoss):
    __doc__ = described(
        """:class:`libmode.torch.MoDeLoss` for programs written for ``modeloss``.

    Its repr shows the options of libmode that the arguments stand for.""",
        memory="""Adds up to 1,000,000 background events of earlier batches to each batch, with their scores at that
        time. So a training can look decorrelated and not be: a warning says so.""",
        examples=""">>> import torch
    >>> from libmode.compat.pytorch import MoDeLoss  # in place of modeloss.pytorch
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), torch.rand(2_000)
    >>> mode = MoDeLoss(bins=16, order=1, lambd=0.1)
    >>> mode
    MoDeLoss(order=1, bins=16, moments='quadrature', unbiased=False, slope_penalty=0.1)
    >>> loss = mode(torch.sigmoid(mass + torch.randn(2_000)), target, mass)
    >>> print(f"{loss.item():.4f}")
    0.0020
    >>> mode.reset()  # with memory=True it forgets earlier batches""",
    )

    _skipping = "libmode.torch.MoDeLoss(on_bad_batch='skip')"

    def _make(self, options: LossOptions, memory: bool, background_only: bool) -> None:
        _MoDeLoss.__init__(self, background_only=background_only, **options)
        self.memory = memory
        self.reset()
        if memory:
            warnings.warn(
                "memory = True averages over scores that the network no longer has: one that oscillates can look "
                "decorrelated and not be. Use libmode.torch.MoDeLoss or MoDeConstraint with reference events",
                stacklevel=4,
            )

    def reset(self) -> None:
        """Forgets earlier batches."""
        self._kept: Events | None = None

    def forward(  # type: ignore[override]  # modeloss has no categories
        self, pred: Tensor, target: Tensor, x_biased: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch, shape (). All arguments have the same shape, up to a last dimension of 1."""
        like = pred
        pred = _flat("pred", pred, like)
        target = _flat("target", target, like) if self.background_only else pred  # any tensor of this shape
        x_biased = _flat("x_biased", x_biased, like)
        weights = None if weights is None else _flat("weights", weights, like)
        if not self.normalize:
            self._check_range(target, x_biased)
        if not (self.memory and self.training):
            return super().forward(pred, target, x_biased, weights)
        loss = super().forward(pred, target, x_biased, weights, reference=self._kept)
        self._remember(Events(pred, target, x_biased, weights))
        return loss

    def _loss(self, *arguments: Any, **reference: Any) -> Tensor:
        try:
            return super()._loss(*arguments, **reference)
        except ValueError as error:
            raise without_options(error) from None

    def _remember(self, batch: Events) -> None:
        """Adds the background events of the batch, with their scores, to those of earlier batches."""
        if self.background_only:
            batch = batch.where(batch.label == self._label)
        kept = (None,) * len(batch) if self._kept is None else self._kept
        self._kept = Events(
            *(
                None if new is None else torch.cat([new[:0] if old is None else old, new.detach()])[-_MEMORY:]
                for old, new in zip(kept, batch, strict=True)
            )
        )

    def _check_range(self, target: Tensor, x_biased: Tensor) -> None:
        """Raises ValueError for a mass of a selected event outside [-1, 1]."""
        outside = (x_biased < -1) | (x_biased > 1)
        if self.background_only:
            outside &= target == self._label
        if outside.any():
            first = int(outside.nonzero()[0])
            raise ValueError(
                f"x_biased[{first}] = {x_biased[first].item()}: with normalize=False every mass must be inside [-1, 1]"
            )


def _flat(name: str, tensor: Tensor, pred: Tensor) -> Tensor:
    """All elements of a tensor with the shape of ``pred``, up to a last dimension of 1."""
    if not torch.is_tensor(tensor):
        raise TypeError(f"{name} is {type(tensor).__name__}: expected a tensor")
    if tensor.squeeze(-1).shape != pred.squeeze(-1).shape:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but pred has shape {tuple(pred.shape)}")
    return tensor.reshape(-1)
