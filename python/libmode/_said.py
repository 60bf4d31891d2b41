"""Warnings that come once, where a training would repeat them with every batch."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ._messages import level_of_the_user

# An object looks at the masses in its first ten calls, and then in every twentieth: a look takes up to a fifth of the
# time of the loss of a small batch.
_FIRST, _EVERY = 10, 20


class Said:
    """The warnings of one object: each thing once."""

    def __init__(self) -> None:
        self._calls, self._things = 0, set[str]()

    def due(self, thing: str) -> bool:
        """Counts a call. Returns whether it should look for this thing."""
        self._calls += 1
        return thing not in self._things and (self._calls <= _FIRST or self._calls % _EVERY == 0)

    def has_said(self, thing: str) -> bool:
        """Whether it has warned of this thing before."""
        return thing in self._things

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        """Warns, unless it has warned of this thing before."""
        if thing not in self._things:
            self._things.add(thing)
            warnings.warn(sentence, category, stacklevel=level_of_the_user())


class _InLines(Said):
    """The warnings of functions, which have no object: each thing once for a line of the program.

    Python does the same for equal sentences, and starts again when the filters of warnings change.
    """

    def __init__(self) -> None:
        self._filters: dict[tuple[str, str, int], Any] = {}

    def due(self, thing: str) -> bool:
        return True

    def has_said(self, thing: str) -> bool:
        return False

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        level = level_of_the_user()
        frame = sys._getframe(level - 1)
        line, filters = (thing, frame.f_code.co_filename, frame.f_lineno), warnings.filters
        before, content = self._filters.get(line, (None, None))
        if before is not filters or content != list(filters):
            self._filters[line] = filters, list(filters)
            warnings.warn(sentence, category, stacklevel=level)


IN_LINES = _InLines()
