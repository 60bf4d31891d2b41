"""The MoDe loss with the constructor and the call of ``modeloss.pytorch.MoDeLoss``.

``modeloss`` 0.1.0 is the package of the authors of arXiv:2010.09745. Where results
differ, and why: docs/from-modeloss.md.
"""

from __future__ import annotations

from .._missing import needed
from ._arguments import EPS, SBINS, label_of, options_of

with needed("torch", by="libmode.compat.pytorch", extra="torch"):
    import torch
    from torch import Tensor

    from ..torch import MoDeLoss as _MoDeLoss

_MEMORY = 1_000_000  # events, which take some 30 ms a call; modeloss keeps all of them


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
        Count up to 1,000,000 background events of earlier batches with each batch:
        ``history`` of :class:`libmode.torch.MoDeLoss`, which takes their number.
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

    _skipping = "libmode.torch.MoDeLoss(on_bad_batch='skip')"

    def __init__(
        self,
        bins: int = 32,
        sbins: int = SBINS,
        memory: bool = False,
        background_label: float = 0,
        background_only: bool = True,
        power: float = 2,
        order: int = 0,
        lambd: float | None = None,
        max_slope: float | None = None,
        monotonic: bool = False,
        eps: float = EPS,
        dynamicbins: bool = True,
        normalize: bool = True,
        sign_func: str = "tanh",
    ) -> None:
        if sign_func != "tanh":
            raise ValueError(f"sign_func = {sign_func!r}: must be 'tanh', the function in both bounds")
        options = options_of(
            bins=bins,
            sbins=sbins,
            power=power,
            order=order,
            lambd=lambd,
            max_slope=max_slope,
            monotonic=monotonic,
            eps=eps,
            dynamicbins=dynamicbins,
            normalize=normalize,
        )
        label = label_of(background_label)
        super().__init__(
            background_label=label, background_only=bool(background_only), history=_MEMORY if memory else 0, **options
        )
        self.normalize = bool(normalize)

    def forward(self, pred: Tensor, target: Tensor, x_biased: Tensor, weights: Tensor | None = None) -> Tensor:
        """The loss of a batch, shape ().

        All arguments have one shape, whichever; (n,) may stand beside (n, 1). With
        ``background_only=False`` the target is not looked at.
        """
        like = pred
        pred = _flat("pred", pred, like)
        target = _flat("target", target, like) if self.background_only else pred  # anything of the shape
        x_biased = _flat("x_biased", x_biased, like)
        weights = None if weights is None else _flat("weights", weights, like)
        if not self.normalize:
            self._check_range(target, x_biased)
        return super().forward(pred, target, x_biased, weights)

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
