"""The closure of the ABCD method for all pairs of cuts on two scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .._arrays import no_background
from .._bad_batches import OnBadBatch, SkipsBadBatches
from .._native import BatchError
from .._read import check_labels, together, whole
from ._module import as_arguments, in_python
from ._tensors import as_numpy, as_tensor, result_type
from .distance import correlation
from .transform import on_lines

_SEGMENTS = 100  # of an axis, at most
_LEAST = 10  # events in a segment: with fewer, its slope is noise


class ABCDLoss(SkipsBadBatches, nn.Module):
    r"""The non-closure of the ABCD method with two scores, over all pairs of cuts at once.

    The method cuts the plane of two scores at (u, v) and predicts the background of region A, above both cuts, by
    N_B N_C / N_D. With D(u, v) = F(u, v) - F_1(u) F_2(v) of the distributions of background,

    .. math::

        N_A N_D - N_B N_C = N^2 D, \qquad \mathrm{var}\, D = F_1 (1 - F_1) F_2 (1 - F_2) / N

    for independent scores. On the axes t_k = log(F_k/(1 - F_k)), where dt = dF/(F (1 - F)), the distance covariance is

    .. math::

        \mathrm{dCov}^2(t_1, t_2) = 4 \int\!\!\int D^2\, dt_1 dt_2
        = \frac{4}{N} \int\!\!\int \frac{D^2}{\mathrm{var}\, D}\, dF_1 dF_2,

    which is 4/N times the mean squared significance of the non-closure over all cuts. The loss is the unbiased distance
    correlation dCorr^2(t_1, t_2): of mean 0 where the scores are independent, and N (pi^2/3 - 3) times it is the mean
    squared significance. Axes are linear between at most 100 quantiles of the background with 10 events or more between
    them. The gradient follows the scores through fixed axes, less its mean over the background of about the same
    score: a change that depends on one score alone changes no closure. It takes O(n log n) time, on the CPU.

    Parameters
    ----------
    background_label : int, default 0
        The loss sees the events whose label is this.
    on_bad_batch : {"raise", "skip"}, default "raise"
        As for :class:`libmode.torch.MoDeLoss`.

    Raises
    ------
    BatchError
        When called with fewer than 4 background events, with background of one value of a score, or with weights
        without a positive sum.
    ValueError, TypeError
        For scores that are not finite, and arrays of different lengths.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch import ABCDLoss
    >>> _ = torch.manual_seed(1)
    >>> label = (torch.rand(4_000) < 0.3).float()  # 0 is background
    >>> common = torch.randn(4_000)
    >>> first, second = (torch.sigmoid(common + 2 * torch.randn(4_000)).requires_grad_() for _ in range(2))
    >>> abcd = ABCDLoss(background_label=0, on_bad_batch="skip")
    >>> loss = abcd(first, second, label)
    >>> loss.backward()
    >>> print(f"{loss.item():.3f}")
    0.029
    >>> mass = 100 + 50 * common  # one score and a given variable: one gradient
    >>> print(f"{abcd(first, mass, label, weight=torch.rand(4_000)).item():.2f}")
    0.18
    """

    def __init__(self, *, background_label: int = 0, on_bad_batch: OnBadBatch = "raise") -> None:
        super().__init__()
        self._set_on_bad_batch(on_bad_batch)
        self.background_label = whole("background_label", background_label)

    @in_python
    def forward(
        self,
        score_1: Tensor,
        score_2: Tensor,
        label: Tensor,
        weight: Tensor | None = None,
        *,
        reference: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """The loss of a batch, shape (), of arguments of shape (n,) or (n, 1); ``score_2`` may be a given variable.

        ``reference`` are background events, (k,), that define the axes: ``(score_1, score_2)``, or also weight.
        """
        try:
            value = self._loss(score_1, score_2, label, weight, reference)
        except BatchError as error:
            self._skip(error)
            return score_1.masked_fill(torch.ones_like(score_1, dtype=torch.bool), 0).sum(dtype=result_type(score_1))
        self._succeed()
        return value

    def _loss(self, score_1: Any, score_2: Any, label: Any, weight: Any, reference: Any) -> Tensor:
        arguments = {"score_1": score_1, "score_2": score_2, "label": label}
        arrays = together(as_tensor, **arguments, **({} if weight is None else {"weight": weight}))
        chosen = arrays[2] == self.background_label
        if not chosen.any():
            raise BatchError(no_background(as_numpy(arrays[2]), self.background_label))
        if arrays[2].is_floating_point():
            check_labels(as_numpy(arrays[2]), (self.background_label,))
        background = [_selected(name, array, chosen) for name, array in zip(arguments, arrays[:2], strict=False)]
        weights = None if weight is None else _selected("weight", arrays[3], chosen)
        axes: tuple[Tensor, Tensor, Tensor | None] = (background[0], background[1], weights)
        axis_1, axis_2, axis_weights = axes if reference is None else _reference_axes(reference)
        first = logit_of_quantile("score_1", background[0], axis_1, axis_weights, weights)
        second = logit_of_quantile("score_2", background[1], axis_2, axis_weights, weights)
        loss = correlation(first, second, weights, True, ("score_1", "score_2", "weight"))
        return loss.to(result_type(arrays[0]))

    def extra_repr(self) -> str:
        """The arguments that differ from their defaults."""
        return as_arguments({}, self, {"background_label": 0, "on_bad_batch": "raise"})


def _selected(name: str, values: Tensor, chosen: Tensor) -> Tensor:
    """The values of the background in float64, or a ValueError if they are not finite."""
    selected = values.to(chosen.device)[chosen].double()
    bad = ~selected.isfinite()
    if bad.any():
        place = int(chosen.nonzero()[int(bad.nonzero()[0]), 0])
        raise ValueError(f"{name}[{place}] = {values[place].item()}: every {name} of the background must be finite")
    return selected


def _reference_axes(reference: Any) -> tuple[Tensor, Tensor, Tensor | None]:
    if not isinstance(reference, Sequence) or len(reference) not in (2, 3):
        raise TypeError("reference: expected (score_1, score_2) or (score_1, score_2, weight) of background events")
    named = dict(zip(("score_1", "score_2", "weight"), reference, strict=False))
    try:
        arrays = together(as_tensor, **named)
        every = torch.ones_like(arrays[0], dtype=torch.bool)
        first, second, *weight = (_selected(name, array, every) for name, array in zip(named, arrays, strict=True))
    except (TypeError, ValueError) as error:
        raise type(error)(f"reference.{error}") from None
    return first, second, weight[0] if weight else None


class _AtRest(torch.autograd.Function):
    """t, whose gradient loses its mean over the events of a segment. Each event has a share of the segment's weight."""

    @staticmethod
    @in_python
    def forward(ctx: Any, t: Tensor, segment: Tensor, share: Tensor) -> Tensor:
        ctx.save_for_backward(segment, share)
        return t.view_as(t)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        segment, share = ctx.saved_tensors
        total = grad.new_zeros(int(segment.max()) + 1).index_add(0, segment, grad)
        return grad - share * total[segment], None, None


def logit_of_quantile(name: str, score: Tensor, axis: Tensor, weight: Tensor | None, own: Tensor | None) -> Tensor:
    """t(s) = log(F/(1 - F)) of scores, with the distribution F of ``axis``; linear between knots, constant outside."""
    axis = axis.detach().to(score.device)
    n = len(axis)
    order = axis.argsort(stable=True)
    value = axis[order]
    if n < 2 or value[0] == value[-1]:
        raise BatchError(
            f"{name}: all {n} background events have the same score {value[0].item():g}, so it has no axis"
        )
    w = torch.ones_like(value) if weight is None else weight.detach().to(value)[order]
    total = w.sum()
    if not total > 0:
        raise BatchError(
            f"weight: the {n} background events have sum of weights {total.item():g}, which must be positive"
        )
    quantile = ((w.cumsum(0) - w / 2) / total).clamp(0.5 / n, 1 - 0.5 / n)
    most = torch.tensor(2.0 * n).log()
    ranks = torch.sigmoid(torch.linspace(-most, most, _SEGMENTS - 1, dtype=torch.float64)) * n / _LEAST
    inner = (ranks.round() * _LEAST).long().clamp(min(_LEAST, n - 1), max(n - 1 - _LEAST, 0))
    places = torch.cat([torch.tensor([0]), inner, torch.tensor([n - 1])]).unique().to(value.device)  # type: ignore[no-untyped-call]
    knots, height = value[places], quantile[places]
    # Equal scores get the middle of their range of F. F must rise, and weights below 0 can prevent that.
    height = (height + quantile[torch.searchsorted(value, knots, right=True) - 1]) / 2
    rises = height > torch.cat([height.new_zeros(1), height.cummax(0).values[:-1]])
    apart = torch.cat([rises.new_ones(1), knots.diff() > 1e-9 * (knots[-1] - knots[0])])
    knots, height = knots[rises & apart], torch.logit(height[rises & apart])
    if len(knots) < 2:
        raise BatchError(f"{name}: the {n} background events are so much alike that they have no axis")
    t, right = on_lines(score, knots, height)
    t = t.clamp(height[0], height[-1])
    size = torch.ones_like(t) if own is None else own.abs()
    total = size.new_zeros(len(knots)).index_add(0, right, size)
    at_rest: Tensor = _AtRest.apply(t, right, size / total[right].clamp(min=1e-300))
    return at_rest
