"""DisCo for PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..._bad_batches import OnBadBatch
from ..._options import DisCoOptions, keywords_only
from ._module import BaselineLoss

if TYPE_CHECKING:
    from typing_extensions import Never, Unpack


class DisCoLoss(BaselineLoss):
    """DisCo, the squared distance correlation of score and mass (arXiv:2001.05310), to compare with.

    The loss of a batch is that of :func:`libmode.baselines.disco_loss`, on the CPU,
    without the n x n arrays of the authors' code.

    Parameters
    ----------
    unbiased : bool, default False
        The bias-corrected form, which for independent score and mass has mean
        0 (nearly) whatever the size of the batch, and may be negative.
    background_label : int or sequence of int, default 0
        The loss sees the events whose target is this. With several, it is the
        sum over them.
    background_only : bool, default True
        False pools all events, whatever their target.
    on_bad_batch : {"raise", "skip"}, default "raise"
        As for :class:`libmode.torch.MoDeLoss`.

    Raises
    ------
    BatchError
        When called with a batch whose selected scores, or masses, are all equal,
        and otherwise as :func:`libmode.baselines.disco_loss`.

    Examples
    --------
    >>> disco = DisCoLoss()
    >>> loss = bce(score, target) + 10 * disco(score, target, mass)
    """

    which = "disco"

    def __init__(
        self,
        *positional: Never,
        background_label: int | Sequence[int] = 0,
        background_only: bool = True,
        on_bad_batch: OnBadBatch = "raise",
        **options: Unpack[DisCoOptions],
    ) -> None:
        keywords_only(self, positional, "unbiased=True")
        super().__init__(
            background_label, background_only, on_bad_batch, dict(options), tuple(DisCoOptions.__annotations__)
        )
