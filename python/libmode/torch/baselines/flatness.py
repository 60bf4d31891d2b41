"""The flatness loss for PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._module import CoreLoss

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack

    from .._module import FlatnessArguments


class FlatnessLoss(CoreLoss):
    """The flatness loss (arXiv:1305.7248; section 2.1 of arXiv:2010.09745), to compare with.

    The loss of a batch is that of :func:`libmode.baselines.flatness_loss`.

    Parameters
    ----------
    background_label, background_only, on_bad_batch
        As for :class:`libmode.torch.MoDeLoss`.
    **options
        bins, binning, edges, mass_range, score_range, as of :func:`libmode.mode_loss`.

    Examples
    --------
    >>> flatness = FlatnessLoss(bins=20)
    >>> loss = bce(score, target) + 100 * flatness(score, target, mass)
    """

    def __init__(self, *positional: Never, **arguments: Unpack[FlatnessArguments]) -> None:
        super().__init__("flatness", positional, **arguments)
