"""DisCo and the flatness loss for PyTorch."""

from __future__ import annotations

from ..._typing import Never, Unpack
from .._module import CoreLoss, DisCoArguments, FlatnessArguments


class DisCoLoss(CoreLoss):
    """DisCo, the squared distance correlation of score and mass (arXiv:2001.05310), to compare with.

    The loss of a batch is what :func:`libmode.mode_loss` computes with ``loss="disco"``, with its ``unbiased``.

    Parameters
    ----------
    background_label, background_only, on_bad_batch
        As for :class:`libmode.torch.MoDeLoss`.

    Raises
    ------
    BatchError
        When called with a batch whose selected scores, or masses, are all equal,
        and otherwise as :func:`libmode.mode_loss`.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch.baselines import DisCoLoss
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), torch.rand(2_000)
    >>> score = torch.sigmoid(mass + torch.randn(2_000)).requires_grad_()
    >>> print(f"{DisCoLoss()(score, target, mass).item():.2f}")
    0.08
    """

    def __init__(self, *positional: Never, **arguments: Unpack[DisCoArguments]) -> None:
        super().__init__("disco", positional, **arguments)


class FlatnessLoss(CoreLoss):
    """The flatness loss (arXiv:1305.7248; section 2.1 of arXiv:2010.09745), to compare with.

    The loss of a batch is what :func:`libmode.mode_loss` computes with ``loss="flatness"``.

    Parameters
    ----------
    background_label, background_only, on_bad_batch
        As for :class:`libmode.torch.MoDeLoss`.
    **options
        bins, binning, edges, mass_range, score_range, as of :func:`libmode.mode_loss`.

    Raises
    ------
    BatchError, ValueError, TypeError
        For bad options at once, and when called as :func:`libmode.mode_loss`.

    Examples
    --------
    >>> import torch
    >>> from libmode.torch.baselines import FlatnessLoss
    >>> _ = torch.manual_seed(1)
    >>> target, mass = torch.randint(0, 2, (2_000,)).float(), torch.rand(2_000)
    >>> score = torch.sigmoid(mass + torch.randn(2_000)).requires_grad_()
    >>> print(f"{FlatnessLoss(bins=20)(score, target, mass).item():.4f}")
    0.0080
    """

    def __init__(self, *positional: Never, **arguments: Unpack[FlatnessArguments]) -> None:
        super().__init__("flatness", positional, **arguments)
