"""What has been said already, of what a training would else say with every batch."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from ._messages import level_of_the_user

# The calls of an object with a look at the masses: a look costs up to a fifth of the loss of a small batch.
_FIRST, _EVERY = 10, 20


class Said:
    """What one object has warned of: each thing once."""

    def __init__(self) -> None:
        self._calls, self._things = 0, set[str]()

    def due(self, thing: str) -> bool:
        """Counts a call, and says whether it should look for what it may have to say."""
        self._calls += 1
        return thing not in self._things and (self._calls <= _FIRST or self._calls % _EVERY == 0)

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        """Warns, unless the thing was said before."""
        if thing not in self._things:
            self._things.add(thing)
            warnings.warn(sentence, category, stacklevel=level_of_the_user())


class _InLines(Said):
    """What the calls of functions, which have no object, have warned of: each thing once for a line of the program.

    Python has this rule for equal sentences, and so forgets with each change of its filters what it has said.
    """

    def __init__(self) -> None:
        self._filters: dict[tuple[str, str, int], Any] = {}

    def due(self, thing: str) -> bool:
        return True

    def warn(self, thing: str, sentence: str, category: type[Warning] = UserWarning) -> None:
        level = level_of_the_user()
        frame = sys._getframe(level - 1)
        line, filters = (thing, frame.f_code.co_filename, frame.f_lineno), warnings.filters
        before, content = self._filters.get(line, (None, None))
        if before is not filters or content != list(filters):
            self._filters[line] = filters, list(filters)
            warnings.warn(sentence, category, stacklevel=level)


IN_LINES = _InLines()
