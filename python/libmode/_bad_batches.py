"""What a loss that is called for each batch does where a batch has no loss."""

from __future__ import annotations

import warnings
from typing import Literal, get_args

from ._native import BatchError

OnBadBatch = Literal["raise", "skip"]


class SkipsBadBatches:
    """The part of a module that raises or skips; :class:`libmode.BatchError` says which batches are bad."""

    on_bad_batch: OnBadBatch
    skipped: int
    """How many batches were skipped."""

    #: How to leave out a last batch that is too small, for the end of a sentence.
    _without_last = "DataLoader(..., drop_last=True)"
    #: Which argument skips bad batches, for a sentence.
    _skipping = "on_bad_batch='skip'"
    #: What a bad batch is given, for both sentences, and how the warning goes on.
    _gets = "the loss 0"
    _counts = ", and counts further ones in .skipped"
    #: Who gives it; None: the class.
    _called: str | None = None

    def _set_on_bad_batch(self, on_bad_batch: OnBadBatch) -> None:
        if on_bad_batch not in get_args(OnBadBatch):
            raise ValueError(f"on_bad_batch = {on_bad_batch!r}: must be 'raise' or 'skip'")
        self.on_bad_batch, self.skipped = on_bad_batch, 0

    def _skip(self, error: BatchError) -> None:
        """Counts a bad batch and warns at the first one, or raises ``error`` with advice."""
        if self.on_bad_batch == "raise":
            raise BatchError(
                f"{error}. If this is the last batch and smaller than the others, {self._without_last} leaves it out; "
                f"{self._skipping} gives every such batch {self._gets}"
            ) from None
        self.skipped += 1
        if self.skipped == 1:
            warnings.warn(
                f"{self._called or type(self).__name__} gives a batch {self._gets}{self._counts}: {error}",
                RuntimeWarning,
                stacklevel=4,
            )
