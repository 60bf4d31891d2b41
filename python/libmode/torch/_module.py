"""What the losses of the core have in common as modules, and how tensors are read."""

from __future__ import annotations

from typing import Any, TypedDict

import torch
from torch import Tensor, nn

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._front import Events, together
from .._options import EXAMPLE, keywords_only, plain
from ..option_types import DisCoOptions, FlatnessOptions, Loss, LossOptions
from ._op import core_loss, encode
from ._skip import or_skip


class _Arguments(TypedDict, total=False):
    background_only: bool
    on_bad_batch: OnBadBatch


class ModeArguments(_Arguments, LossOptions, total=False):
    """What MoDeLoss takes."""


class DisCoArguments(_Arguments, DisCoOptions, total=False):
    """What DisCoLoss takes."""


class FlatnessArguments(_Arguments, FlatnessOptions, total=False):
    """What FlatnessLoss takes."""


def events(score: Any, mass: Any, weight: Any, label: Any) -> Events:
    """Tensors of shape (n,), all of one length."""
    return Events(*together(read, score=score, mass=mass, weight=weight, label=label))


def read(name: str, tensor: Any) -> Tensor:
    """A tensor, if it is one of real numbers; scores must be floating."""
    if isinstance(tensor, Tensor) and (tensor.is_floating_point() or name != "score" and not tensor.is_complex()):
        return tensor
    kind = tensor.dtype if torch.is_tensor(tensor) else type(tensor).__name__
    wanted = "a floating-point tensor" if name == "score" else "a tensor of real numbers"
    raise TypeError(f"{name} is {kind}: expected {wanted}")


class CoreLoss(SkipsBadBatches, nn.Module):
    """A loss of the core as a module without parameters."""

    def __init__(
        self,
        loss: Loss,
        positional: tuple[object, ...],
        *,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        **options: Any,
    ) -> None:
        keywords_only(self, positional, EXAMPLE[loss])
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_only = background_only
        self.options = plain(loss, options)
        self._encoded = encode(loss, **self.options)

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
        return or_skip(self, self._loss, pred, target, mass, weights)

    def _loss(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None) -> Tensor:
        return core_loss(events(pred, mass, weights, target if self.background_only else None), self._encoded)

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        shown = dict(self.options)
        if not self.background_only:
            shown["background_only"] = False
        if self.on_bad_batch != "raise":
            shown["on_bad_batch"] = self.on_bad_batch
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
