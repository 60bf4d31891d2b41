"""Planing: weights that give background the mass spectrum of signal, before any training."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import torch
from torch import Tensor

from ..._front import together
from .._module import read


class Planing(NamedTuple):
    """What :func:`planing` returns.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch.baselines import planing
    >>> _ = torch.manual_seed(1)
    >>> found = planing(torch.rand(1_000), torch.randint(0, 2, (1_000,)), bins=4)
    >>> found.weight.shape, found.weight.dtype, round(found.effective_size, -2)
    (torch.Size([1000]), torch.float32, 500.0)
    """

    weight: Tensor
    """(n,), float32: 1 for signal, p_S(m)/p_B(m) for background, of mean 1."""
    effective_size: float
    """(sum w)^2 / sum w^2 over background: as many events without weights know as much."""


def planing(mass: Tensor, label: Tensor, *, bins: int = 50, floor: float = 0.1, background_label: int = 0) -> Planing:
    """Weights w(m) = p_S(m) / p_B(m) for background events, from histograms.

    Chang, Cohen, Ostdiek, arXiv:1709.10106. A classifier trained with them, which the
    cross entropy takes, learns nothing from the mass alone, but still what other
    features tell through the mass. For comparison with MoDe.

    Parameters
    ----------
    mass, label : (n,) or (n, 1), on one device
        Masses in any unit. Every label other than ``background_label`` counts as signal.
    bins : int
        Bins of equal width from the lowest to the highest mass.
    floor : float, default 0.1
        p_B counts as at least this fraction of a flat spectrum, against huge weights where
        there is little background. 0 for none; then signal where there is no background is an error.

    Returns
    -------
    Planing
        ``weight`` (n,), float32, and ``effective_size``.

    Raises
    ------
    ValueError
        For shapes, a mass that is not finite, no event of either class, all masses equal.

    Warns
    -----
    RuntimeWarning
        If the weights leave less than a tenth of the background's size.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch.baselines import planing
    >>> _ = torch.manual_seed(1)
    >>> label = torch.randint(0, 2, (20_000,))
    >>> mass = torch.where(label == 1, 100 + 20 * torch.randn(20_000), 50 + 150 * torch.rand(20_000))
    >>> weight, effective_size = planing(mass, label)
    >>> background = label == 0
    >>> means = mass[label == 1].mean(), (weight * mass)[background].mean(), mass[background].mean()
    >>> print(*(f"{mean:.0f}" for mean in means))  # of signal, of background with the weights and without
    100 100 125
    """
    mass, label = together(read, mass=mass.detach(), label=label.detach())
    if bins < 1:
        raise ValueError(f"bins = {bins}: must be at least 1")
    if not 0 <= floor <= 1:
        raise ValueError(f"floor = {floor}: must be between 0 and 1")
    wrong = ~mass.isfinite()
    if wrong.any():
        at = int(wrong.nonzero()[0])
        raise ValueError(f"mass[{at}] = {mass[at].item()}: every mass must be finite")
    background = label == background_label
    for name, count in (("background", int(background.sum())), ("signal", int((~background).sum()))):
        if not count:
            raise ValueError(
                f"no {name} event among the {len(label)} labels, with background_label = {background_label}"
            )
    low, high = mass.min().item(), mass.max().item()
    if low == high:
        raise ValueError(f"all masses are {low}: there is nothing to plane")

    place = ((mass.double() - low) / (high - low) * bins).long().clamp(0, bins - 1)
    p_signal = _fractions(place[~background], bins)
    p_background = _fractions(place[background], bins)
    denominator = p_background.clamp(min=floor / bins)
    if ((denominator == 0) & (p_signal > 0)).any():
        at = int(((denominator == 0) & (p_signal > 0)).nonzero()[0])
        step = (high - low) / bins
        raise ValueError(
            f"bin {at} of {bins}, mass in [{low + at * step:g}, {low + (at + 1) * step:g}], has signal but no "
            "background: give a floor, or fewer bins"
        )
    ratio = torch.where(denominator > 0, p_signal / denominator, 0)[place[background]]
    ratio = ratio / ratio.mean()
    effective = (ratio.sum() ** 2 / (ratio**2).sum()).item()
    if effective < len(ratio) / 10:
        warnings.warn(
            f"planing leaves the {len(ratio)} background events the power of {effective:.0f}: raise floor",
            RuntimeWarning,
            stacklevel=2,
        )
    weight = torch.ones_like(mass, dtype=torch.float32)
    weight[background] = ratio.float()
    return Planing(weight, effective)


def _fractions(place: Tensor, bins: int) -> Tensor:
    return torch.bincount(place, minlength=bins).double() / len(place)
