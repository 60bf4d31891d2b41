"""The constructor and the call of ``modeloss.pytorch.MoDeLoss`` 0.1.0, by the authors of arXiv:2010.09745."""

from __future__ import annotations

import warnings
from typing import Any

from .._messages import SIGMOID, needed, reworded
from .._read import whole
from ..option_types import LossOptions

with needed("torch", by="libmode.compat.pytorch", extra="torch"):
    import torch
    from torch import Tensor

    from ..torch import Events
    from ..torch import MoDeLoss as _MoDeLoss

_MEMORY = 1_000_000  # events, which take some 30 ms a call; modeloss keeps all of them


class MoDeLoss(_MoDeLoss):
    """:class:`libmode.torch.MoDeLoss` for programs written for ``modeloss``.

    Its repr shows the options of libmode that the arguments stand for. docs/from-modeloss.md has the differences.

    Parameters
    ----------
    bins, order, lambd, max_slope, monotonic, dynamicbins, normalize, background_label, background_only
        As for modeloss.
    sbins, eps, power, sign_func
        Have no effect. Other values than the defaults are a warning, and of ``power`` and ``sign_func`` an error.
    memory : bool
        Adds up to 1,000,000 background events of earlier batches to each batch, with their scores at that
        time. So a training can look decorrelated and not be: a warning says so.

    Examples
    --------
    >>> import torch
    >>> from libmode.compat.pytorch import MoDeLoss  # in place of modeloss.pytorch
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), torch.rand(2_000)
    >>> mode = MoDeLoss(bins=16, order=1, lambd=0.1)
    >>> mode
    MoDeLoss(order=1, bins=16, moments='quadrature', unbiased=False, slope_penalty=0.1)
    >>> loss = mode(torch.sigmoid(mass + torch.randn(2_000)), target, mass)
    >>> print(f"{loss.item():.4f}")
    0.0020
    >>> mode.reset()  # with memory=True it forgets earlier batches
    """

    _skipping = "libmode.torch.MoDeLoss(on_bad_batch='skip')"

    def __init__(
        self,
        bins: int = 32,
        sbins: int = 32,
        memory: bool = False,
        background_label: float = 0,
        background_only: bool = True,
        power: float = 2,
        order: int = 0,
        lambd: float | None = None,
        max_slope: float | None = None,
        monotonic: bool = False,
        eps: float = 1e-4,
        dynamicbins: bool = True,
        normalize: bool = True,
        sign_func: str = "tanh",
    ) -> None:
        if power != 2:
            raise ValueError(f"power = {power!r}: must be 2, the loss is made of squared residuals")
        if sign_func != "tanh":
            raise ValueError(f"sign_func = {sign_func!r}: must be 'tanh', the function in both bounds")
        if sbins != 32:
            warnings.warn(f"sbins = {sbins!r} has no effect: the integral over scores is exact", stacklevel=2)
        if eps != 1e-4:
            warnings.warn(f"eps = {eps!r} has no effect: no bound divides by zero", stacklevel=2)
        if isinstance(background_label, float) and background_label.is_integer():  # targets often are floats
            background_label = int(background_label)
        self._label = whole("background_label", background_label)
        options: LossOptions = {"order": order, "bins": bins, "moments": "quadrature", "unbiased": False}
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
        if self._label != 0:
            options["background_label"] = self._label
        super().__init__(background_only=bool(background_only), **options)
        self.normalize, self.memory = bool(normalize), bool(memory)
        self.reset()
        if memory:
            warnings.warn(
                "memory = True averages over scores that the network no longer has: one that oscillates can look "
                "decorrelated and not be. Use libmode.torch.MoDeLoss or MoDeConstraint with reference events",
                stacklevel=2,
            )

    def reset(self) -> None:
        """Forgets earlier batches."""
        self._kept: Events | None = None

    def forward(  # type: ignore[override]  # modeloss has no categories
        self, pred: Tensor, target: Tensor, x_biased: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """The loss of a batch, shape (). All arguments have the same shape, up to a last dimension of 1."""
        target = target if self.background_only else pred  # any tensor of this shape
        tensors = {"pred": pred, "target": target, "x_biased": x_biased}
        if weights is not None:
            tensors["weights"] = weights
        batch = Events(*(_flat(name, each, pred) for name, each in tensors.items()))
        mass = batch.mass
        seen = batch.label == self._label if self.background_only else torch.ones_like(mass, dtype=torch.bool)
        outside = seen & (mass.abs() > 1)
        if not self.normalize and outside.any():
            first = int(outside.nonzero()[0])
            raise ValueError(
                f"x_biased[{first}] = {mass[first].item()}: with normalize=False every mass must be inside [-1, 1]"
            )
        if not (self.memory and self.training):
            return super().forward(*batch[:4])
        loss = super().forward(*batch[:4], reference=self._kept)
        new = [None if each is None else each.detach() for each in batch.where(seen)]
        if self._kept is not None:
            new = [old if each is None else torch.cat([old, each]) for old, each in zip(self._kept, new, strict=True)]
        self._kept = Events(*(None if each is None else each[-_MEMORY:] for each in new))
        return loss

    def _run(self, *arguments: Any) -> tuple[Any, Tensor]:
        try:
            return super()._run(*arguments)
        except ValueError as error:  # without the advice to use an option that this class lacks
            raise reworded(error, {SIGMOID: "apply a sigmoid to raw outputs"}) from None


def _flat(name: str, tensor: Tensor, pred: Tensor) -> Tensor:
    """All elements of a tensor with the shape of ``pred``, up to a last dimension of 1."""
    if not torch.is_tensor(tensor):
        raise TypeError(f"{name} is {type(tensor).__name__}: expected a tensor")
    if tensor.squeeze(-1).shape != pred.squeeze(-1).shape:
        raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but pred has shape {tuple(pred.shape)}")
    return tensor.reshape(-1)
