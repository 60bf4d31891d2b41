"""Events of files: the values of the expressions, which pandas computes, where the cut is passed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .formats import Source, Table, opened
from .problem import Problem, known

# Text in quotes, names of columns with or without backticks, and whole numbers.
PARTS = re.compile(
    r"""'[^']*'|"[^"]*"|`(?P<quoted>[^`]*)`|(?<![\w.])(?:(?P<name>[^\W\d][\w.]*)|(?P<whole>\d+)(?![\w.]))"""
)


METHOD = re.compile(r"""[])}'"`]\s*\.\s*[^\W\d]\w*""")  # a method of a result, which may write a file
NUMBERS = (bool, int, float, np.number, np.bool_)
# How pandas computes: without numexpr, and without the variables of this program.
ALONE: dict[str, Any] = {"engine": "python", "local_dict": {}, "global_dict": {}}


class Wanted(NamedTuple):
    """The expressions of the user; None for an option that is left out."""

    scores: tuple[str, ...]
    mass: str
    weight: str | None = None
    label: str | None = None
    cut: str | None = None


class Events(NamedTuple):
    """The arrays of n events."""

    scores: NDArray[np.float64]  #: (n, k)
    mass: NDArray[np.float64]  #: (n,)
    weight: NDArray[np.float64]  #: (n,) 1 without weights
    label: NDArray[np.bool_]  #: (n,) True for signal; False without labels

    def where(self, chosen: NDArray[Any]) -> Events:
        """The events that ``chosen`` selects, as an index of NumPy."""
        return Events(*(array[chosen] for array in self))

    @staticmethod
    def joined(parts: Iterable[Events]) -> Events:
        """All events of the parts, in their order."""
        return Events(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def read(source: Source, wanted: Wanted) -> tuple[int, Events]:
    """The number of entries of a file, and its events that pass the cut."""
    try:
        with opened(source) as table:
            return _read(str(source), table, wanted)
    except Problem:
        raise
    # What uproot, pyarrow and h5py raise for a damaged file has no common class.
    except Exception as error:
        raise Problem(f"{source} cannot be read: {_reason(error)}.") from error


def _read(file: str, table: Table, wanted: Wanted) -> tuple[int, Events]:
    texts = [*wanted.scores, wanted.mass, *filter(None, (wanted.weight, wanted.label, wanted.cut))]
    names = [name for name in table.columns if any(name in _names(text) for text in texts)]
    columns = {name: _column(table.read(name)) for name in names}
    lengths = [len(column) for column in columns.values()]
    if lengths and min(lengths) < max(lengths):
        raise Problem(f"{file}: the columns {', '.join(names)} have {lengths} entries: must be equal.")
    frame = pd.DataFrame(columns, copy=False)
    entries, place = len(frame), np.arange(len(frame))

    def values(option: str, text: str, expected: str, truth: bool = False) -> NDArray[Any]:
        """The values of an expression at ``place``, which are finite or, for ``truth``, 1 or 0."""
        numbers = _computed(frame, f"{option} {text!r}", text, file, table, truth)[place]
        good = (numbers == 0) | (numbers == 1) if truth else np.isfinite(numbers)
        if not good.all():
            at = int(np.argmin(good))
            raise Problem(f"{option} {text!r} is {numbers[at]:g} at entry {place[at]} of {file}: expected {expected}.")
        return numbers.astype(bool) if truth else numbers

    if wanted.cut is not None:
        place = place[values("--cut", wanted.cut, "1 or 0, as a comparison gives", truth=True)]
    number = "a finite number; leave such events out with --cut"
    scores = [values("--score", score, number) for score in wanted.scores]
    weight, label = np.ones(len(place)), np.zeros(len(place), bool)
    if wanted.weight is not None:
        weight = values("--weight", wanted.weight, number)
    if wanted.label is not None:
        label = values("--label", wanted.label, "1 for signal or 0 for background", truth=True)
    events = Events(np.column_stack(scores), values("--mass", wanted.mass, number), weight, label)
    if not names:
        raise Problem(f"--mass {wanted.mass!r} and --score name no column of {file}.")
    return entries, events


def _names(text: str) -> set[str]:
    """All that may be the name of a column in an expression."""
    return {text, *(name for part in PARTS.finditer(text) for name in (part["quoted"], part["name"]) if name)}


def _column(values: NDArray[Any]) -> Any:
    """A column for pandas. Numbers are doubles, as in ROOT's expressions: integers of NumPy would wrap around."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind in "iuf" and values.ndim == 1:
        return values.astype(float)
    if values.dtype.kind == "S":
        return np.char.decode(values)
    return values if values.ndim == 1 else list(values)


def _computed(frame: pd.DataFrame, named: str, text: str, file: str, table: Table, truth: bool) -> NDArray[np.float64]:
    """The values of an expression. The name of a column is an expression too."""

    def missing(name: str) -> Problem:
        hint = f"; {table.hint}" if table.hint else ""
        return Problem(f"{named}: {file} has no column {name!r}; it has {known(table.columns, name)}{hint}.")

    def written(part: re.Match[str]) -> str:
        """A dotted name in backticks. Whole numbers as doubles, since 9**9**9 would not end."""
        if part["name"] and "." in part["name"]:
            if part["name"] not in frame:
                raise missing(part["name"])
            return f"`{part['name']}`"
        return f"{part[0]}.0" if part["whole"] else part[0]

    if METHOD.search(text) and text not in frame:
        raise Problem(f"{named} has {METHOD.findall(text)[0]!r}: expected columns, numbers, operators and functions.")
    try:
        with np.errstate(all="ignore"):
            formula = PARTS.sub(written, text).replace("\n", " ")
            values = np.asarray(frame[text] if text in frame else frame.eval(formula, **ALONE))
    except Problem:
        raise
    except pd.errors.UndefinedVariableError as error:
        raise missing(str(error).split("'")[1]) from None
    except Exception as error:
        raise Problem(f"{named} cannot be computed from {file}: {_reason(error)}.") from None
    if values.dtype.kind not in "biuf":
        at = next((place for place, value in enumerate(np.ravel(values)) if not isinstance(value, NUMBERS)), 0)
        one = np.ravel(values)[at] if values.size else "empty"
        raise Problem(f"{named} is {one!r:.60} at entry {at} of {file}: expected one number for each entry.")
    if values.shape not in ((), (len(frame),)):
        raise Problem(
            f"{named} has shape {values.shape} for {len(frame)} entries of {file}: expected one number for each."
        )
    if values.dtype.kind == "b" and re.search(r"\)\s*\+", text) and not truth:
        raise Problem(f"{named} adds what is true or false: expected numbers, as in 1 * (pt > 300) + 1 * (pt > 400).")
    return np.broadcast_to(values.astype(float), len(frame))


def _reason(error: Exception) -> str:
    """The first line of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
