"""Tells a validation in the loop of the epochs from the evaluation after the training, by the source of the program."""

from __future__ import annotations

import ast
import linecache
import sys
from functools import lru_cache

# By frame and code, the line that runs. These are numbers alone, so that objects with a Lines can be saved.
_Lines = dict[tuple[int, int], int]


class Lines:
    """The lines of the program that made an object, and the lines that trained with it."""

    def __init__(self) -> None:
        self._making, self._training = _lines(), _Lines()

    def trains(self) -> None:
        """Takes note of the running lines."""
        self._training = _lines()

    def in_loop(self) -> bool:
        """Whether a running line is in a loop that trains, and that does not make the object anew."""
        frame = sys._getframe(1)
        while frame is not None:
            where = id(frame), id(frame.f_code)
            if where in self._training:
                now, training, making = frame.f_lineno, self._training[where], self._making.get(where, -1)
                for first, last in _loops(frame.f_code.co_filename):
                    if first <= now <= last and first <= training <= last and not first <= making <= last:
                        return True
            frame = frame.f_back  # type: ignore[assignment]
        return False


def _lines() -> _Lines:
    lines, frame = _Lines(), sys._getframe(2)
    while frame is not None:
        lines[id(frame), id(frame.f_code)] = frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return lines


@lru_cache(maxsize=64)
def _loops(file: str) -> tuple[tuple[int, int], ...]:
    """The first and last lines of the loops of a file; nothing without its source."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    loops = (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While, ast.AsyncFor)))
    return tuple((node.lineno, node.end_lineno or node.lineno) for node in loops)
