"""Events of files: the values of the expressions, where the cut is passed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .expressions import Expression
from .formats import Source, Table, opened
from .problem import Problem


class Wanted(NamedTuple):
    """The expressions of the user; None for an option that is left out."""

    scores: tuple[str, ...]
    mass: str
    weight: str | None = None
    label: str | None = None
    cut: str | None = None
    second: str | None = None


class Events(NamedTuple):
    """The arrays of n events."""

    scores: NDArray[np.float64]  #: (n, k), with the second score last
    mass: NDArray[np.float64]  #: (n,)
    weight: NDArray[np.float64]  #: (n,) 1 without weights
    label: NDArray[np.bool_]  #: (n,) True for signal; False without labels

    def where(self, chosen: NDArray[np.bool_]) -> Events:
        """The events for which ``chosen``, (n,), is true."""
        return Events(self.scores[chosen], self.mass[chosen], self.weight[chosen], self.label[chosen])

    @staticmethod
    def joined(parts: Sequence[Events]) -> Events:
        """All events of the parts, in their order."""
        return Events(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def read(
    sources: Sequence[Source], wanted: Wanted, advance: Callable[[float], object] = lambda _: None
) -> Iterator[tuple[int, Events]]:
    """The number of entries of each chunk, and its events that pass the cut; ``advance`` is told the bytes."""
    for source in sources:
        try:
            with opened(source) as table:
                for entries, events in _chunks(source, table, wanted):
                    yield entries, events
                    advance(source.path.stat().st_size * entries / max(table.entries, 1))
        except (Problem, GeneratorExit):
            raise
        # What uproot, pyarrow and h5py raise for a damaged file has no common class.
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise Problem(f"{source} cannot be read: {reason.rstrip('.')}.") from error


def _chunks(source: Source, table: Table, wanted: Wanted) -> Iterator[tuple[int, Events]]:
    def expressions(option: str, *texts: str | None) -> list[Expression]:
        return [Expression(option, text, table, str(source)) for text in texts if text is not None]

    scores = expressions("--score", *wanted.scores) + expressions("--second", wanted.second)
    mass, weight = expressions("--mass", wanted.mass), expressions("--weight", wanted.weight)
    label, cut = expressions("--label", wanted.label), expressions("--cut", wanted.cut)
    every = [*cut, *scores, *mass, *weight, *label]
    needs = list(dict.fromkeys(name for expression in every for name in expression.needs))
    if not needs:
        raise Problem(f"--mass {wanted.mass!r} and --score name no column of {source}.")
    start = 0
    for columns in table.chunks(needs):
        columns = {name: _flat(column) for name, column in columns.items()}
        for name, column in columns.items():
            if len(column) and (column.ndim > 1 or column.dtype.kind not in "biuf"):
                at = next((place for place, value in enumerate(column) if not _is_number(value)), 0)
                raise Problem(
                    f"column {name!r} of {source} has {column[at]!r:.60} at entry {start + at}: expected one number "
                    "for each entry."
                )
        entries = len(columns[needs[0]])
        place = np.arange(start, start + entries)  # in the file, for errors
        start += entries
        for expression in cut:
            passed = expression.truth(columns, place, "1 or 0, as a comparison gives")
            columns, place = {name: column[passed] for name, column in columns.items()}, place[passed]
        events = Events(
            np.column_stack([expression.finite(columns, place) for expression in scores]),
            mass[0].finite(columns, place),
            weight[0].finite(columns, place) if weight else np.ones(len(place)),
            label[0].truth(columns, place, "1 for signal or 0 for background") if label else np.zeros(len(place), bool),
        )
        yield entries, events


def _flat(column: NDArray[Any]) -> NDArray[Any]:
    """A column (n, 1) as (n,), and missing values as NaN."""
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    return np.ma.filled(column.astype(float), np.nan) if isinstance(column, np.ma.MaskedArray) else column


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
