"""Events of files: the values of the expressions, where the cut is passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .expressions import Expression
from .formats import Columns, Table, opened
from .problem import Problem
from .sources import Source


@dataclass(frozen=True)
class Wanted:
    """The expressions, as the user gave them; None for what was not given."""

    scores: tuple[str, ...]
    mass: str
    weight: str | None = None
    label: str | None = None
    cut: str | None = None

    def options(self) -> list[tuple[str, str]]:
        """The options and expressions that become columns of events: all but the cut, in this order."""
        all_ = [*(("--score", text) for text in self.scores), ("--mass", self.mass)]
        all_ += [("--weight", self.weight)] if self.weight is not None else []
        return all_ + ([("--label", self.label)] if self.label is not None else [])


@dataclass(frozen=True, eq=False)
class Sample:
    """n events, as float32 where that is what the expressions give, else as float64."""

    scores: list[NDArray[Any]]  #: each (n,)
    mass: NDArray[Any]  #: (n,)
    weight: NDArray[Any] | None  #: (n,)
    label: NDArray[np.bool_] | None  #: (n,), True for signal
    entries: int  #: of the files, before the cut


def read(sources: Sequence[Source], wanted: Wanted, advance: Callable[[float], object] = lambda _: None) -> Sample:
    """Reads all files in chunks.

    advance : is called with a part of the work, in bytes of the files

    Raises
    ------
    Problem
        For a file that cannot be read, a column that is missing or holds no numbers, a value that is not finite,
        a label other than 0 and 1, and where no event is left; with the option, the file and the entry.
    """
    parts: list[list[NDArray[Any]]] = [[] for _ in wanted.options()]
    entries = 0
    for source in sources:
        size, done = source.path.stat().st_size, 0.0
        for values, count, of in _events(source, wanted):
            for part, value in zip(parts, values, strict=True):
                part.append(value)
            entries += count
            step = size * count / of if of else 0.0
            done += step
            advance(step)
        advance(size - done)
    if entries == 0:
        raise Problem(f"there are no entries in {', '.join(map(str, sources))}.")
    if not any(map(len, parts[0])):
        raise Problem(f"--cut {wanted.cut!r} is passed by none of the {entries} entries.")
    arrays = [_joined(part) for part in parts]
    count = len(wanted.scores)
    rest = iter(arrays[count + 1 :])
    weight = next(rest) if wanted.weight is not None else None
    label = next(rest).astype(bool) if wanted.label is not None else None
    return Sample(arrays[:count], arrays[count], weight, label, entries)


def _joined(part: list[NDArray[Any]]) -> NDArray[Any]:
    """The parts one after another; they are given back, so that a column is not held twice for longer than needed."""
    joined = np.concatenate(part)
    part.clear()
    return joined


def _events(source: Source, wanted: Wanted) -> Iterator[tuple[list[NDArray[Any]], int, int]]:
    """Of each chunk: the values of the events that pass, how many entries it has, and how many the file has."""
    try:
        with opened(source) as table:
            yield from _chunks(source, table, wanted)
    except Problem:
        raise
    # What uproot, pyarrow and h5py raise for a damaged file has no common class.
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Problem(f"{source} cannot be read: {reason.rstrip('.')}.") from error


def _chunks(source: Source, table: Table, wanted: Wanted) -> Iterator[tuple[list[NDArray[Any]], int, int]]:
    def made(option: str, text: str) -> Expression:
        return Expression(option, text, table.columns, str(source))

    values = [made(option, text) for option, text in wanted.options()]
    cut = None if wanted.cut is None else made("--cut", wanted.cut)
    needs = list(dict.fromkeys(name for one in [*values, *([cut] if cut else [])] for name in one.needs))
    if not needs:
        raise Problem(f"--mass {wanted.mass!r} and --score name no column of {source}.")
    start = 0
    for columns in table.chunks(needs):
        count = len(columns[needs[0]])
        _check(source, columns)
        passed = None
        if cut is not None:
            passed = _yes_or_no("--cut", wanted.cut, cut.of(columns, count), source, start, None)
            columns = {name: column[passed] for name, column in columns.items()}
        left = count if passed is None else int(passed.sum())
        found = []
        for (option, text), value in zip(wanted.options(), values, strict=True):
            array = value.of(columns, left)
            if option == "--label":
                found.append(_yes_or_no(option, text, array, source, start, passed))
            else:
                found.append(_finite(option, text, array, source, start, passed))
        yield found, count, table.entries
        start += count


def _check(source: Source, columns: Columns) -> None:
    """One number for each entry."""
    for name, column in columns.items():
        if column.ndim == 1 and column.dtype.kind in "biuf":
            continue
        first = column[0] if len(column) else None
        if isinstance(first, (str, bytes)):
            holds = "text"
        elif column.ndim > 1 or hasattr(first, "__len__"):
            holds = "several values for each entry"
        elif len(column) == 0:
            continue
        else:
            holds = f"values of type {type(first).__name__}"
        raise Problem(f"column {name!r} of {source} has {holds}: expected one number for each entry.")


def _entry(place: int, start: int, passed: NDArray[np.bool_] | None) -> int:
    """The number in the file of the event at this place of a chunk, after the cut."""
    return start + int(place if passed is None else np.flatnonzero(passed)[place])


def _finite(
    option: str, text: str, array: NDArray[Any], source: Source, start: int, passed: NDArray[np.bool_] | None
) -> NDArray[Any]:
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise Problem(
            f"{option} {text!r} is {array[place]} at entry {_entry(place, start, passed)} of {source}: "
            "expected a finite number; leave such events out with --cut."
        )
    return array.astype(np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64, copy=False)


def _yes_or_no(
    option: str, text: str | None, array: NDArray[Any], source: Source, start: int, passed: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    if array.dtype.kind != "b":
        bad = (array != 0) & (array != 1)
        if bad.any():
            place = int(np.argmax(bad))
            meaning = "1 for signal or 0 for background" if option == "--label" else "1 or 0, as a comparison gives"
            raise Problem(
                f"{option} {text!r} is {array[place]:g} at entry {_entry(place, start, passed)} of {source}: "
                f"expected {meaning}."
            )
    return array.astype(bool, copy=False)
