"""What a loss that is called for each batch does where a batch has no loss."""

from __future__ import annotations

from typing import Literal, get_args

from ._native import BatchError
from ._said import Said

OnBadBatch = Literal["raise", "skip"]

# The most batches in a row that are skipped: before one had a loss, and after.
_AT_FIRST, _LATER = 10, 100


class SkipsBadBatches:
    """The part of a module that raises or skips; :class:`libmode.BatchError` says which batches are bad."""

    #: How to leave out a last batch that is too small, for the end of a sentence.
    _without_last = "DataLoader(..., drop_last=True)"
    #: Which argument skips bad batches, for a sentence.
    _skipping = "on_bad_batch='skip'"
    #: What a bad batch is given, for both sentences, and how the warning goes on.
    _gets = "the loss 0"
    _counts = ", and counts further ones in .skipped"
    #: Who gives it; None: the class.
    _called: str | None = None

    def _set_on_bad_batch(self, on_bad_batch: OnBadBatch, said: Said | None = None) -> None:
        if on_bad_batch not in get_args(OnBadBatch):
            raise ValueError(f"on_bad_batch = {on_bad_batch!r}: must be 'raise' or 'skip'")
        self.on_bad_batch: OnBadBatch = on_bad_batch
        self.skipped = 0
        """How many batches were skipped."""
        self._in_a_row, self._most_in_a_row, self._said_of_bad = 0, _AT_FIRST, said or Said()

    def _succeed(self) -> None:
        """Takes note of a batch that has a loss."""
        if self._in_a_row or self._most_in_a_row != _LATER:  # what an nn.Module takes long to set
            self._in_a_row, self._most_in_a_row = 0, _LATER

    def _skip(self, error: BatchError) -> None:
        """Counts a bad batch and warns at the first one, or raises ``error`` with advice, as after many in a row."""
        if self.on_bad_batch == "raise":
            raise BatchError(
                f"{error}. If this is the last batch and smaller than the others, {self._without_last} leaves it out; "
                f"{self._skipping} gives every such batch {self._gets}"
            ) from None
        self.skipped += 1
        self._in_a_row += 1
        if self._in_a_row >= self._most_in_a_row:
            which = "first" if self._most_in_a_row == _AT_FIRST else "last"
            raise BatchError(
                f"{self._called or type(self).__name__} has skipped the {which} {self._in_a_row} batches, so it "
                f"does nothing. The last one: {error}"
            ) from None
        sentence = f"{self._called or type(self).__name__} gives a batch {self._gets}{self._counts}: {error}"
        self._said_of_bad.warn("bad batch", sentence, RuntimeWarning)
