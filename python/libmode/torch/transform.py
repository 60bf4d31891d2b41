"""The loss as an integral over a function W of the score: footnote 1 of arXiv:2010.09745, w(s) ds = dW(s).

J(s) depends only on the order of the scores, and is 0 below and above all of them. So the integral of J dW is the loss
of the scores W(s_i), from the lowest to the highest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from .._native import BatchError

ScoreTransform = Callable[[Tensor], Tensor] | Literal["signal_efficiency"]
Range = tuple[float, float] | None


def transformed(score: Tensor, transform: ScoreTransform, score_range: Range, signal: Tensor) -> Tensor:
    """W of the scores inside ``score_range``, (n,); ``signal``, (k,), are the scores of signal."""
    if score_range is not None:
        outside = (score < score_range[0]) | (score > score_range[1])
        if outside.any():
            at = int(outside.nonzero()[0])
            raise ValueError(f"score[{at}] = {score[at].item():g}: outside of score_range {score_range}")
    return _called(score, transform) if callable(transform) else _signal_efficiency(score, score_range, signal)


def _signal_efficiency(score: Tensor, score_range: Range, signal: Tensor) -> Tensor:
    """The fraction of signal with scores up to s, linear between knots that are ten events or 1 % apart."""
    n = len(signal)
    if not n:
        raise BatchError("score_transform = 'signal_efficiency' needs signal in the batch: every label is background")
    if not signal.isfinite().all():
        raise ValueError("score_transform = 'signal_efficiency': the score of a signal event is not finite")
    score = score if score.dtype in (torch.float32, torch.float64) else score.float()
    segments = min(max(n // 10, 1), 100)
    rank = torch.arange(1, segments + 1, device=score.device) * n // segments
    knots, height = signal.detach().to(score.dtype).sort().values[rank - 1], rank.to(score.dtype) / n
    low = score.detach().min() if score_range is None else knots.new_full((), score_range[0])
    knots, height = torch.cat([low[None], knots]), torch.cat([height.new_zeros(1), height])
    # Only the last of knots that are equal within rounding counts.
    apart = knots.diff() > 1e-6 * (knots[-1] - low)
    kept = torch.cat([apart, apart.new_ones(1)])
    knots, height = knots[kept], height[kept]
    if len(knots) == 1:
        return torch.where(score < knots, 0.0, 1.0) + 0 * score
    return on_lines(score, knots, height)[0].clamp(0, 1)


def on_lines(score: Tensor, knots: Tensor, height: Tensor) -> tuple[Tensor, Tensor]:
    """The heights at scores, (n,), on lines between increasing knots, and the index of the knot above each score."""
    right = torch.searchsorted(knots, score.detach(), right=True).clamp(1, len(knots) - 1)
    slope = (height[right] - height[right - 1]) / (knots[right] - knots[right - 1])
    return height[right - 1] + slope * (score - knots[right - 1]), right


def refuse_parameters(transform: Callable[[Tensor], Tensor], score: Tensor) -> None:
    """Raises ValueError if a callable has parameters, which would get no gradient."""
    result = transform(score.detach())
    if torch.is_tensor(result) and result.requires_grad:
        raise ValueError(
            "score_transform has parameters of its own, which get no gradient: set their requires_grad to False"
        )


def _called(score: Tensor, transform: Callable[[Tensor], Tensor]) -> Tensor:
    result = transform(score)
    if not torch.is_tensor(result) or result.shape != score.shape or not result.is_floating_point():
        what = f"shape {tuple(result.shape)}, {result.dtype}" if torch.is_tensor(result) else type(result).__name__
        raise ValueError(f"score_transform returned {what} for scores of shape {tuple(score.shape)}, {score.dtype}")
    if not result.requires_grad:
        raise ValueError("score_transform returned scores without a derivative: compute them with operations of torch")
    order = score.detach().argsort()
    falls = result.detach()[order].diff() < 0
    if falls.any():
        first, second = order[falls.nonzero()[0, 0] :][:2]
        raise ValueError(
            f"score_transform falls from {result[first].item():g} at score {score[first].item():g} "
            f"to {result[second].item():g} at {score[second].item():g}: it must not decrease"
        )
    return result
