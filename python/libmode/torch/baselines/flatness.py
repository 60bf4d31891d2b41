"""The flatness loss for PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._bad_batches import OnBadBatch
from ..._options import BinOptions, keywords_only
from ._module import BaselineLoss

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack


class FlatnessLoss(BaselineLoss):
    """The flatness loss (arXiv:1305.7248; section 2.1 of arXiv:2010.09745), to compare with.

    The loss of a batch is that of :func:`libmode.baselines.flatness_loss`.

    Parameters
    ----------
    background_label : int or sequence of int, default 0
        The loss sees the events whose target is this. With several, it is the
        sum over them, each with its own bins.
    background_only : bool, default True
        False pools all events, whatever their target.
    on_bad_batch : {"raise", "skip"}, default "raise"
        As for :class:`libmode.torch.MoDeLoss`.
    **options
        bins, binning, edges, mass_range, score_range, as of :func:`libmode.mode_loss`.

    Examples
    --------
    >>> flatness = FlatnessLoss(bins=20)
    >>> loss = bce(score, target) + 100 * flatness(score, target, mass)
    """

    which = "flatness"

    def __init__(
        self,
        *positional: Never,
        background_label: int | Sequence[int] = 0,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        **options: Unpack[BinOptions],
    ) -> None:
        keywords_only(self, positional, "bins=20")
        super().__init__(
            background_label, background_only, on_bad_batch, dict(options), tuple(BinOptions.__annotations__)
        )
