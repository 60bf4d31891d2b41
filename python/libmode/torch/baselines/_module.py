"""What DisCoLoss and FlatnessLoss share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from ..._bad_batches import OnBadBatch, SkipsBadBatches
from ..._native import Loss
from ..._options import plain, plain_background_label
from .._op import core_loss, encode
from .._skip import or_skip
from ..loss import _checked


class BaselineLoss(SkipsBadBatches, nn.Module):
    """A loss of the core as a module without parameters."""

    which: Loss

    def __init__(
        self,
        background_label: int | Sequence[int],
        background_only: bool,
        on_bad_batch: OnBadBatch,
        given: dict[str, Any],
        names: Sequence[str],
    ) -> None:
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_label = plain_background_label(background_label)
        self.background_only = background_only
        self.options = plain(given, names)
        self._encoded = encode(self.background_label, **self.options)

    def forward(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape (); each argument has shape (n,) or (n, 1)."""
        return or_skip(self, self._loss, pred, target, mass, weights)

    def _loss(self, pred: Tensor, target: Tensor, mass: Tensor, weights: Tensor | None) -> Tensor:
        events = _checked(pred, mass, weights, target if self.background_only else None)
        return core_loss(events, self._encoded, self.which)

    def extra_repr(self) -> str:
        """The arguments that are not the defaults."""
        shown = {name: value for name, value in self.options.items() if value is not False}
        if self.background_label != 0:
            shown["background_label"] = self.background_label
        if not self.background_only:
            shown["background_only"] = False
        if self.on_bad_batch != "raise":
            shown["on_bad_batch"] = self.on_bad_batch
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())
