"""Events of files: the values of the expressions, where the cut is passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    second: str | None = None

    def options(self) -> list[tuple[str, str]]:
        """The options and expressions that become columns of events: all but the cut, in this order."""
        all_ = [*(("--score", text) for text in self.scores), ("--mass", self.mass)]
        all_ += [("--weight", self.weight)] if self.weight is not None else []
        all_ += [("--label", self.label)] if self.label is not None else []
        return all_ + ([("--second", self.second)] if self.second is not None else [])


class Events(NamedTuple):
    """n events, as float32 where that is what the expressions give, else as float64."""

    scores: list[NDArray[Any]]  #: each (n,)
    mass: NDArray[Any]  #: (n,)
    weight: NDArray[Any] | None  #: (n,)
    label: NDArray[np.bool_] | None  #: (n,), True for signal
    entries: int = 0  #: of the files, before the cut
    second: NDArray[Any] | None = None  #: (n,) the second score

    def where(self, chosen: NDArray[np.bool_]) -> Events:
        """Those for which ``chosen`` is true."""
        weight, label, second = (
            None if array is None else array[chosen] for array in (self.weight, self.label, self.second)
        )
        return Events([score[chosen] for score in self.scores], self.mass[chosen], weight, label, second=second)

    @classmethod
    def joined(cls, parts: Sequence[Events]) -> Events:
        """All events of the parts, at least one, in their order."""
        scores = [np.concatenate(of) for of in zip(*(part.scores for part in parts), strict=True)]
        mass = np.concatenate([part.mass for part in parts])
        weight, label, second = (
            None if of[0] is None else np.concatenate(of)
            for of in zip(*((part.weight, part.label, part.second) for part in parts), strict=True)
        )
        return cls(scores, mass, weight, label, sum(part.entries for part in parts), second)


def read(
    sources: Sequence[Source], wanted: Wanted, advance: Callable[[float], object] = lambda _: None
) -> Iterator[Events]:
    """The events of all files, in chunks.

    advance : is called with a part of the work, in bytes of the files

    Raises
    ------
    Problem
        For a file that cannot be read, a column that is missing or holds no numbers, a value that is not finite,
        a label other than 0 and 1, and where no event is left; with the option, the file and the entry.
    """
    entries, left = 0, 0
    for source in sources:
        size, done = source.path.stat().st_size, 0.0
        for events, of in _of_file(source, wanted):
            entries, left = entries + events.entries, left + len(events.mass)
            yield events
            step = size * events.entries / of if of else 0.0
            done += step
            advance(step)
        advance(size - done)
    if entries == 0:
        raise Problem(f"there are no entries in {', '.join(map(str, sources))}.")
    if left == 0:
        raise Problem(f"--cut {wanted.cut!r} is passed by none of the {entries} entries.")


def _of_file(source: Source, wanted: Wanted) -> Iterator[tuple[Events, int]]:
    """The events of each chunk that pass, and how many entries the file has."""
    try:
        with opened(source) as table:
            yield from _chunks(source, table, wanted)
    except (Problem, GeneratorExit):
        raise
    # What uproot, pyarrow and h5py raise for a damaged file has no common class.
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise Problem(f"{source} cannot be read: {reason.rstrip('.')}.") from error


def _chunks(source: Source, table: Table, wanted: Wanted) -> Iterator[tuple[Events, int]]:
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
            checked = _yes_or_no if option == "--label" else _finite
            found.append(checked(option, text, array, source, start, passed))
        *scores, mass = found[: len(wanted.scores) + 1]
        rest = iter(found[len(wanted.scores) + 1 :])
        weight = None if wanted.weight is None else next(rest)
        label = None if wanted.label is None else next(rest)
        second = None if wanted.second is None else next(rest)
        yield Events(scores, mass, weight, label, count, second), table.entries
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
