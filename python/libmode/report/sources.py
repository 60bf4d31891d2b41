"""The files that FILE[:TREE] means."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from pathlib import Path
from typing import NamedTuple

from .problem import Problem


class Source(NamedTuple):
    """A file, and the tree, group or data set in it; None for the only one that there is."""

    path: Path
    tree: str | None

    def __str__(self) -> str:
        return str(self.path) if self.tree is None else f"{self.path}:{self.tree}"


def find(arguments: Sequence[str]) -> list[Source]:
    """The files of all arguments, each argument's in alphabetical order.

    A name with ``*``, ``?`` or ``[`` is a pattern (``**`` also means folders), unless there is a file of that name.

    Raises
    ------
    Problem
        For an argument that names no file, and for a file that is named twice.
    """
    found: list[Source] = []
    for argument in arguments:
        found += _of(argument)
    seen: set[tuple[Path, str | None]] = set()
    for source in found:
        key = source.path.resolve(), source.tree
        if key in seen:
            raise Problem(f"{source} is named twice, so that its events would count twice.")
        seen.add(key)
    return found


def _of(argument: str) -> list[Source]:
    before, colon, tree = argument.rpartition(":")
    tries = [(argument, None)] + ([(before, tree)] if colon and before and tree else [])
    for name, inside in tries:
        paths = [Path(name)] if Path(name).exists() else sorted(map(Path, glob(name, recursive=True)))
        files = [path for path in paths if path.is_file()]
        if files:
            return [Source(path, inside) for path in files]
        if paths:
            raise Problem(f"{name} is a directory: expected a file, or a pattern such as '{name}/*.root'.")
    raise Problem(f"there is no file {argument!r}.")
