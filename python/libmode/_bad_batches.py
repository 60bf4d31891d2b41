"""Skipping or raising for a batch without a loss."""

from __future__ import annotations

from typing import Literal, get_args

from ._native import BatchError
from ._problems import Said

OnBadBatch = Literal["raise", "skip"]

# The most batches in a row that are skipped: before the first batch with a loss, and later.
_AT_FIRST, _LATER = 10, 100


class SkipsBadBatches:
    """The part of a module that skips batches with a :class:`libmode.BatchError`, or raises the error."""

    # Parts of the sentences of the error and the warning:
    _without_last = "DataLoader(..., drop_last=True)"  #: how to leave out a last batch that is too small
    _skipping = "on_bad_batch='skip'"  #: the argument that skips bad batches
    _gets = "the loss 0"  #: what a bad batch gets
    _counts = ", and counts further ones in .skipped"  #: the end of the warning
    _called: str | None = None  #: the name of the module, by default the name of its class

    def _set_on_bad_batch(self, on_bad_batch: OnBadBatch, said: Said | None = None) -> None:
        if on_bad_batch not in get_args(OnBadBatch):
            raise ValueError(f"on_bad_batch = {on_bad_batch!r}: must be 'raise' or 'skip'")
        self.on_bad_batch: OnBadBatch = on_bad_batch
        self.skipped = 0
        """How many batches were skipped."""
        self._in_a_row, self._most_in_a_row, self._said_of_bad = 0, _AT_FIRST, said or Said()
        self._unproven = True  # until a batch with a loss follows: to ask takes less time than a call

    def _succeed(self) -> None:
        """Takes note of a batch with a loss."""
        self._in_a_row, self._most_in_a_row, self._unproven = 0, _LATER, False

    def _skip(self, error: BatchError) -> None:
        """Counts a bad batch and warns at the first, or raises ``error``: by option, or after many in a row."""
        if self.on_bad_batch == "raise":
            raise BatchError(
                f"{error}. If this is the last batch and smaller than the others, {self._without_last} leaves it out; "
                f"{self._skipping} gives every such batch {self._gets}"
            ) from None
        self.skipped += 1
        self._in_a_row, self._unproven = self._in_a_row + 1, True
        if self._in_a_row >= self._most_in_a_row:
            which = "first" if self._most_in_a_row == _AT_FIRST else "last"
            raise BatchError(
                f"{self._called or type(self).__name__} has skipped the {which} {self._in_a_row} batches, so it "
                f"does nothing. The last one: {error}"
            ) from None
        sentence = f"{self._called or type(self).__name__} gives a batch {self._gets}{self._counts}: {error}"
        self._said_of_bad.warn("bad batch", sentence, RuntimeWarning)
