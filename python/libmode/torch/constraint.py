"""The layer that adds MoDe's gradient to whatever gradient comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import torch
from torch import Tensor, nn

from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._front import Events, events_of
from .._native import BatchError
from .._options import keywords_only
from .._plain import plain
from ._module import read
from ._op import decode, encode, evaluate, score_range_of
from .reference import joined
from .transform import ScoreTransform, transformed

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from ..option_types import LossOptions


class MoDeConstraint(SkipsBadBatches, nn.Module):
    def __init__(
        self,
        *positional: Never,
        relative_strength: float = 30.0,
        tolerance: float | None = None,
        score_transform: ScoreTransform | None = "odds",
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "skip",
        **options: Any,
    ) -> None:
        keywords_only(self, positional, "order=1")
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.relative_strength = relative_strength
        self.background_only = background_only
        self.score_transform = score_transform
        self.options = plain("mode", {"order": 1, **options})
        self._encoded = encode("mode", **self.options)
        self._labels = decode(self._encoded).labels

    def forward(self, score, target, mass, weights=None, *, category=None, reference=None):
        if not (self.training and torch.is_grad_enabled() and score.requires_grad):
            return score
        batch = events_of(read, score.detach(), mass, weights, read("target", target), category)
        try:
            grad = self._gradient(batch, reference)
        except BatchError as error:
            self._skip(error)
            return score
        return _Constrained.apply(score, grad, self)

    def _gradient(self, batch: Events, reference: Events | None) -> Tensor:
        n = len(batch.score)
        if not self.background_only:
            batch = batch._replace(label=None)
        every = batch if reference is None else joined(batch, reference, self._labels)
        encoded, score_range = self._encoded, score_range_of(self._encoded, every.score.dtype)
        if self.score_transform is None:
            result, grad = evaluate(every, encoded)
        else:
            with torch.enable_grad():
                leaf = every.score.requires_grad_()
                signal = every.score.detach()[(every.label != self._labels[0])] if every.label is not None else every.score
                changed, changed_range = transformed(leaf, self.score_transform, score_range, signal)
                encoded = encode("mode", **{**self.options, "score_range": changed_range})
                result, of_changed = evaluate(every._replace(score=changed.detach()), encoded)
                (grad,) = torch.autograd.grad(changed, leaf, of_changed.to(changed.dtype))
        self.result = result
        return grad[:n]


class _Constrained(torch.autograd.Function):
    @staticmethod
    def forward(ctx, score, grad, module):
        ctx.save_for_backward(score, grad)
        ctx.module = module
        return score.view_as(score)

    @staticmethod
    def backward(ctx, incoming):
        score, grad = ctx.saved_tensors
        m = ctx.module
        slope = score * (1 - score)
        grad = grad.reshape(score.shape)
        ratio = (incoming * slope).norm() / (grad * slope).norm()
        strength = m.strength_of(ratio) if hasattr(m, "strength_of") else m.relative_strength * ratio
        return incoming + strength * grad, None, None
