"""Events of files: the values of the expressions, which pandas computes, where the cut is passed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .formats import Columns, Problem, Source, known, opened

# How pandas computes: without numexpr, and without the variables of this program.
ALONE: dict[str, Any] = {"engine": "python", "local_dict": {}, "global_dict": {}}
QUOTED = re.compile("`([^`]*)`")  # a name in an expression that is no name of Python


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


def read_all(sources: Iterable[Source], wanted: Wanted) -> tuple[int, Events]:
    """The number of entries of all files, and their events that pass the cut."""
    counts, parts = zip(*(read(source, wanted) for source in sources), strict=True)
    events = Events(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
    if not len(events.mass):
        raise Problem(f"--cut is passed by none of {sum(counts)} entries." if any(counts) else "the files are empty.")
    if events.label.all():
        raise Problem("--label is 1 for all events: expected background, which has label 0.")
    return sum(counts), events


def read(source: Source, wanted: Wanted) -> tuple[int, Events]:
    """The number of entries of a file, and its events that pass the cut."""
    try:
        with opened(source) as columns:
            return _read(str(source), columns, wanted)
    except Problem:
        raise
    # What uproot, pyarrow and h5py raise for a damaged file has no common class.
    except Exception as error:
        raise Problem(f"{source} cannot be read: {_reason(error)}.") from error


def _read(file: str, columns: Columns, wanted: Wanted) -> tuple[int, Events]:
    texts = [*wanted.scores, wanted.mass, *filter(None, (wanted.weight, wanted.label, wanted.cut))]
    named = {name for text in texts for name in [text, *QUOTED.findall(text), *re.findall(r"\w+", text)]}
    frame = pd.DataFrame({name: _column(read()) for name, read in columns.items() if name in named}, copy=False)
    entries, place = len(frame), np.arange(len(frame))

    def values(option: str, text: str, expected: str, truth: bool = False) -> NDArray[Any]:
        """The values of an expression at ``place``, which are finite or, for ``truth``, 1 or 0."""
        numbers = _computed(frame, text, f"{option} {text!r}", file, columns)[place]
        good = (numbers == 0) | (numbers == 1) if truth else np.isfinite(numbers)
        if not good.all():
            at = int(np.argmin(good))
            raise Problem(f"{option} {text!r} is {numbers[at]:g} at entry {place[at]} of {file}: expected {expected}.")
        return numbers.astype(bool) if truth else numbers

    if wanted.cut is not None:
        place = place[values("--cut", wanted.cut, "1 or 0, as a comparison gives", truth=True)]
    number = "a finite number; leave such events out with --cut"
    scores = [values("--score", score, number) for score in wanted.scores]
    weight = values("--weight", wanted.weight or "1", number)
    label = values("--label", wanted.label or "0", "1 for signal or 0 for background", truth=True)
    return entries, Events(np.column_stack(scores), values("--mass", wanted.mass, number), weight, label)


def _column(values: Any) -> Any:
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


def _computed(frame: pd.DataFrame, text: str, named: str, file: str, columns: Columns) -> NDArray[np.float64]:
    """The values of an expression, one for each entry. The name of a column is an expression too."""
    try:
        if text in frame:
            values = np.asarray(frame[text])
        else:
            formula = " ".join(text.split())
            tree = ast.parse(QUOTED.sub("_", formula), mode="eval")
            if any(isinstance(part, ast.Attribute) for part in ast.walk(tree)):
                raise ValueError("a name with a dot needs backticks; methods, which may write files, are not called")
            if any(map(_is_endless, ast.walk(tree))):
                raise ValueError("it has a power of numbers alone: write its value")
            with np.errstate(all="ignore"):
                values = np.asarray(frame.eval(formula, **ALONE))
            if values.dtype.kind == "b" and isinstance(getattr(tree.body, "op", None), ast.Add):
                raise ValueError("it adds what is true or false: expected numbers, as in 1 * (pt > 300) + 1 * passed")
        return np.broadcast_to(values.astype(float), len(frame))
    except pd.errors.UndefinedVariableError as error:
        there = known(columns, str(error).split("'")[1])
        raise Problem(f"{named}: {error} in {file}; it has {there}.") from None
    except Exception as error:
        raise Problem(f"{named} cannot be computed from {file}: {_reason(error)}.") from None


def _is_endless(part: ast.AST) -> bool:
    """Whether it is a power such as 9**9**9, whose whole number has more digits than there is memory for."""
    if not (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow)):
        return False
    inside = [one for side in (part.left, part.right) for one in ast.walk(side)]
    if any(isinstance(one, ast.Name) for one in inside):
        return False
    sizes = [abs(one.value) for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, (int, float))]
    return len(sizes) > 2 or max(sizes, default=0) > 1_000


def _reason(error: Exception) -> str:
    """The first line of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
