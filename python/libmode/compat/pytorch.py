"""The MoDe loss with the constructor and the call of ``modeloss.pytorch.MoDeLoss``.

``modeloss`` 0.1.0 is the package of the authors of arXiv:2010.09745. Where results
differ, and why: docs/from-modeloss.md.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from .._native import int32
from ..torch import MoDeLoss as _MoDeLoss
from ..torch import mode_loss

_SBINS, _EPS = 32, 1e-4  # the defaults of what has no effect


class MoDeLoss(_MoDeLoss):
    """:class:`libmode.torch.MoDeLoss` for programs written for ``modeloss``.

    Its repr shows the options of libmode that the arguments stand for.

    Parameters
    ----------
    bins : int
        Number of mass bins.
    sbins, eps : number
        Have no effect: the integral over scores has no grid, and no bound divides by
        zero. A warning says so for values other than the defaults.
    memory : bool
        The loss is that of the batch together with all events of earlier batches since
        the last :meth:`reset`, with the scores that they had; what a call takes grows with
        them. The gradient goes to the batch alone, multiplied by the number of all events
        over that of the batch, so that the strength of the loss does not change with what
        is remembered. After ``eval()`` no more is. The memory is no part of the state_dict.
    background_label : integer
        The loss sees the events whose target is this.
    background_only : bool
        False pools all events, whatever their target.
    power : number
        Must be 2.
    order : int
        Degree of the polynomial dependence on mass that costs nothing, 0 to 16.
    lambd : float, optional
        ``slope_penalty``: adds ``lambd * c_1^2`` to the integrand; order >= 1.
    max_slope : float, optional
        Bound on the slope c_1 relative to c_0. Order 0 has no slope to bound.
    monotonic : bool
        Keep the allowed dependence monotonic in mass. At orders 0 and 1 it always is.
    dynamicbins : bool
        Bins of equal numbers of events, or else of equal widths.
    normalize : bool
        Map the lowest and the highest mass to -1 and 1. False: masses are inside
        [-1, 1] already, and one of a selected event outside is an error.
    sign_func : str
        Must be "tanh".

    Raises
    ------
    ValueError, TypeError
        For what cannot be honoured, and as :func:`libmode.mode_loss`.
    """

    def __init__(
        self,
        bins: int = 32,
        sbins: int = _SBINS,
        memory: bool = False,
        background_label: float = 0,
        background_only: bool = True,
        power: float = 2,
        order: int = 0,
        lambd: float | None = None,
        max_slope: float | None = None,
        monotonic: bool = False,
        eps: float = _EPS,
        dynamicbins: bool = True,
        normalize: bool = True,
        sign_func: str = "tanh",
    ) -> None:
        if power != 2:
            raise ValueError(f"power = {power!r}: must be 2, the loss is made of squared residuals")
        if sign_func != "tanh":
            raise ValueError(f"sign_func = {sign_func!r}: must be 'tanh', the function in both bounds")
        if sbins != _SBINS:
            warnings.warn(f"sbins = {sbins!r} has no effect: the integral over scores is exact", stacklevel=2)
        if eps != _EPS:
            warnings.warn(f"eps = {eps!r} has no effect: no bound divides by zero", stacklevel=2)
        if isinstance(background_label, float) and background_label.is_integer():  # as targets often are
            background_label = int(background_label)

        options: dict[str, Any] = {"order": order, "bins": bins}
        if lambd is not None:
            options["slope_penalty"] = lambd
        if max_slope is not None and order != 0:
            options["max_slope"] = max_slope
        if monotonic and order not in (0, 1):
            options["monotonic"] = True
        if not dynamicbins:
            options["binning"] = "uniform"
        if not normalize:
            options["mass_range"] = (-1, 1)
        super().__init__(int32("background_label", background_label), bool(background_only), **options)
        self.memory = bool(memory)
        self.normalize = bool(normalize)
        self._past: list[Tensor] = []  # scores, masses and weights of what is remembered

    def forward(self, pred: Tensor, target: Tensor, x_biased: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape ().

        All arguments have one shape, whichever; (n,) may stand beside (n, 1). With
        ``background_only=False`` the target is not looked at.
        """
        like = pred
        pred = _flat("pred", pred, like)
        target = _flat("target", target, like) if self.background_only else target
        x_biased = _flat("x_biased", x_biased, like)
        weights = None if weights is None else _flat("weights", weights, like)
        if not self.normalize:
            self._check_range(target, x_biased)
        if not self.memory:
            return super().forward(pred, target, x_biased, weights)

        batch = [pred, x_biased, torch.ones_like(pred) if weights is None else weights]
        if self.background_only:
            batch = [values[target == self.background_label] for values in batch]
        events = [torch.cat([old.to(new.device), new]) for old, new in zip(self._past, batch)] if self._past else batch
        loss = mode_loss(*events, **self.options)
        if self.training:
            self._past = [values.detach() for values in events]
        ratio = len(events[0]) / max(1, len(batch[0]))
        return loss.detach() + ratio * (loss - loss.detach())

    def reset(self) -> None:
        """Forgets all events."""
        self._past = []

    def extra_repr(self) -> str:
        return super().extra_repr() + ", memory=True" * self.memory

    def _check_range(self, target: Tensor, x_biased: Tensor) -> None:
        """Raises ValueError for a mass of a selected event that the loss would leave out."""
        outside = (x_biased < -1) | (x_biased > 1)
        if self.background_only:
            outside &= target == self.background_label
        if outside.any():
            first = int(outside.nonzero()[0])
            raise ValueError(
                f"x_biased[{first}] = {x_biased[first].item()}: with normalize=False every mass must be inside [-1, 1]"
            )


def _flat(name: str, tensor: Tensor, pred: Tensor) -> Tensor:
    """All elements of a tensor whose shape is that of ``pred``, but for a last dimension of 1."""
    if not torch.is_tensor(tensor):
        raise TypeError(f"{name} is {type(tensor).__name__}: expected a tensor")
    if tensor.squeeze(-1).shape != pred.squeeze(-1).shape:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but pred has shape {tuple(pred.shape)}")
    return tensor.reshape(-1)
