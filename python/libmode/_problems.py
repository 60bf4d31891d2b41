"""What goes wrong in a training without an error: each problem with its test and its sentence, and when it is said."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._messages import level_of_the_user, line_of_the_user
from ._read import is_background, is_for_each

if TYPE_CHECKING:
    from ._options import Options

EVERY = 20  # calls from one look to the next
SELDOM = 100  # calls from one look at the masses to the next, after the first ten
PATIENCE = 5  # looks in a row with the same problem before the warning
SATURATED = 1 - 1e-6  # the mean of scores that a sigmoid in float32 no longer tells apart
LEAST_SPREAD = 0.01  # standard deviation of the logits of scores


class TrainingWarning(UserWarning):
    """A training goes wrong without an error.

    Examples
    --------
    >>> import warnings
    >>> import torch
    >>> from libmode import TrainingWarning
    >>> from libmode.torch import MoDeLoss
    >>> warnings.simplefilter("error", TrainingWarning)  # now it ends the training
    >>> mode, label, mass = MoDeLoss(order=0), torch.zeros(100), torch.rand(100)
    >>> for step in range(100):
    ...     loss = mode(torch.full((100,), 0.5), label, mass)
    Traceback (most recent call last):
        ...
    libmode.TrainingWarning: the scores of a batch are nearly equal (mean 0.5, standard deviation ...
    """

    __module__ = "libmode"  # the name by which it is imported, and so printed


class Said:
    """The warnings of one object: each thing once, or once for each line of the program that calls."""

    def __init__(self, in_lines: bool = False) -> None:
        self.calls, self.in_lines = 0, in_lines
        self.things: set[str] = set()
        self._filters: dict[str, Any] = {}

    def warn(self, thing: str, sentence: str, category: type[Warning] = TrainingWarning) -> None:
        """Warns, unless it has warned of this thing before, of the user's line."""
        if self.in_lines:
            thing = f"{thing} in {line_of_the_user()}"
            before, content = self._filters.get(thing, (None, None))
            if before is not warnings.filters or content != list(before):  # then it warns again, as Python does
                self.things.discard(thing)
                self._filters[thing] = warnings.filters, list(warnings.filters)
        if thing not in self.things:
            self.things.add(thing)
            warnings.warn(sentence, category, stacklevel=level_of_the_user())


IN_LINES = Said(in_lines=True)


class Monitor(Said):
    """Looks at every twentieth batch, and warns once of each problem."""

    _in_a_row = 0

    def look(self, score: NDArray[Any]) -> None:
        """Looks at scores, (n,), and warns if they are nearly equal in several looks in a row."""
        score = score.astype(np.float64)
        mean, spread = float(score.mean()), float(score.std())
        inside = 0 <= score.min() <= score.max() <= 1
        collapsed = spread <= LEAST_SPREAD * (mean * (1 - mean) if inside else 1) or inside and mean > SATURATED
        self._in_a_row = self._in_a_row + 1 if collapsed else 0
        if self._in_a_row >= PATIENCE:
            self.say(
                "collapsed",
                f"the scores of a batch are nearly equal (mean {mean:.3g}, standard deviation {spread:.1e}): the "
                "network collapsed to a constant. Lower the strength or learning rate, or give reference events",
            )

    def say(self, what: str, sentence: str) -> None:
        """Warns, once."""
        self.warn(what, f"{sentence}. (monitor=False turns such warnings off.)")


# Masses that are wrong: a missing mass often stands as -999, and 1 % of such events turn a line into a constant.
FAR = 5.0  # the range of all masses over the range of the bulk, at most
_SAMPLE, _LEAST = 1_000, 20  # events for the percentiles, and the least number of them
FAR_MASSES, _HALF = "far masses", "half masses"
_DIGITS = {"float16": 11, "bfloat16": 8}  # of the types of half precision, binary


def look_at_masses(said: Said, options: Options, mass: Any, label: Any) -> None:
    """Warns, once, if a few of the selected masses, (n,) or (d, n), are far from the others, or if they are labels."""
    if options.loss != "mode" or FAR_MASSES in said.things:
        return
    limits = [value for name in ("mass_range", "edges") if (value := options.values[name])]
    label = None if label is None else np.asarray(label)
    for k, row in enumerate(np.atleast_2d(mass)):
        if any(value[k] if is_for_each(value) else value for value in limits):
            continue
        low, high = row.min(initial=np.inf), row.max(initial=-np.inf)
        alike = label is None and len(row) >= _LEAST and low in (-1, 0) and high == 1
        if alike and ((row == low) | (row == high)).all():
            said.warn(
                FAR_MASSES,
                f"mass has only the values {low:g} and {high:g}, as labels have, and label is not given: "
                "a loss takes (score, mass, label=label). For two groups of events give edges between them",
            )
        elif sentence := far(row if label is None else row[is_background(label, options.labels)]):
            said.warn(FAR_MASSES, f"{sentence} mass_range")


def look_at_type(said: Said, kind: Any, mass: Any = None) -> None:
    """Warns, once, of masses of a type of half precision; ``mass`` has their values, if they are known."""
    name = str(kind).removeprefix("torch.")
    if name not in _DIGITS:
        return
    what = f"mass is in {name}, of {_DIGITS[name]} binary digits"
    if mass is not None:
        mass = np.asarray(mass, np.float64)
        values = np.unique(mass[np.isfinite(mass)])
        top = float(np.abs(values).max(initial=0))
        step = 2.0 ** (math.floor(math.log2(top)) + 1 - _DIGITS[name]) if top > 0 else 0.0
        what += f": masses near {top:.6g} are {step:.3g} apart, and {mass.size} masses have {len(values)} values"
    said.warn(
        _HALF,
        f"{what}. Give the masses in float32, and keep them out of what casts inputs, such as FSDP's "
        "cast_forward_inputs or a training in half precision",
    )


def say_if_far(mass: NDArray[Any], remedy: str) -> bool:
    """Warns if a few masses, (n,), are far from the others, with advice to give ``remedy``. Returns whether it did."""
    if sentence := far(mass):
        warnings.warn(f"{sentence} {remedy}", stacklevel=level_of_the_user())
    return sentence is not None


def far(mass: NDArray[Any]) -> str | None:
    """The beginning of a sentence about few masses, (n,), far from the others; None if there are none."""
    mass = mass[np.isfinite(mass)]  # a missing mass is NaN
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    some = mass[:: max(1, len(mass) // _SAMPLE)]
    others = some[(some > low) & (some < high)]
    if len(others) < _LEAST:
        return None
    percent = round((len(others) - 1) / 100)
    ends = percent, len(others) - 1 - percent
    first, last = np.partition(others, ends)[list(ends)].astype(np.float64)  # np.quantile takes as long as the loss
    width = last - first
    if not 0 < FAR * width < float(high) - float(low):
        return None
    # The sentence names the masses beyond half of the way from the bulk to the end.
    end, bulk = (low, first) if first - low > high - last else (high, last)
    there = (mass - bulk) / (end - bulk) > 0.5
    count = int(np.count_nonzero(there))
    several = "" if (mass[there] == end).all() else "down to " if end == low else "up to "
    return (
        f"mass is {several}{end:.6g} for {count} of {len(mass)} events ({100 * count / len(mass):.2g} %): its range, "
        f"{low:.6g} to {high:.6g}, is {(float(high) - float(low)) / width:.0f} times that from the 1st to the 99th "
        f"percentile of the others, {first:.6g} to {last:.6g}: leave out events without a mass, and give"
    )
