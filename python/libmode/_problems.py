"""What goes wrong in a training without an error: each problem with its test and its sentence, and when it is said."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ._messages import level_of_the_user
from ._native import BatchError
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
    >>> from libmode import TrainingWarning
    >>> warnings.simplefilter("error", TrainingWarning)  # now it ends the training
    >>> issubclass(TrainingWarning, UserWarning)
    True
    """

    __module__ = "libmode"  # the name by which it is imported, and so printed


class Said:
    """The warnings of one object, each thing once; those of functions each time, which Python's filters sort."""

    def __init__(self, of_functions: bool = False) -> None:
        self.calls, self.of_functions = 0, of_functions
        self.things: set[str] = set()

    def warn(self, thing: str, sentence: str, category: type[Warning] = TrainingWarning) -> None:
        """Warns of the user's line, unless it has warned of this thing before."""
        if thing not in self.things:
            warnings.warn(sentence, category, stacklevel=level_of_the_user())
            self.things |= set() if self.of_functions else {thing}


OF_FUNCTIONS = Said(of_functions=True)


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
            self.warn(
                "collapsed",
                f"the scores of a batch are nearly equal (mean {mean:.3g}, standard deviation {spread:.1e}): the "
                "network collapsed to a constant. Lower the strength or learning rate, or give reference events. "
                "(monitor=False turns such warnings off.)",
            )


# Masses that are wrong: a missing mass often stands as -999, and 1 % of such events turn a line into a constant.
FAR = 5.0  # the range of all masses over the range of the bulk, at most
_SAMPLE, _LEAST = 1_000, 20  # events for the percentiles, and the least number of them
FAR_MASSES = "far masses"


def look_at_masses(said: Said, options: Options, mass: Any, label: Any) -> None:
    """Warns, once, if a few of the selected masses, (d, n), are far from the others."""
    if options.loss != "mode" or FAR_MASSES in said.things:
        return
    limits = [value for name in ("mass_range", "edges") if (value := options.values[name])]
    chosen = slice(None) if label is None else is_background(label, options.labels)
    for k, row in enumerate(mass):
        has_limits = any(value[k] if is_for_each(value) else value for value in limits)
        if not has_limits and (sentence := far(row[chosen])):
            said.warn(FAR_MASSES, f"{sentence} mass_range")


def say_if_far(mass: NDArray[Any], remedy: str) -> bool:
    """Warns if a few masses, (n,), are far from the others, with advice to give ``remedy``. Returns whether it did."""
    if sentence := far(mass):
        warnings.warn(f"{sentence} {remedy}", stacklevel=level_of_the_user())
    return sentence is not None


def far(mass: NDArray[Any]) -> str | None:
    """The beginning of a sentence about few masses, (n,), far from the others; None if there are none."""
    if not (finite := np.isfinite(mass)).all():  # a missing mass is NaN
        mass = mass[finite]
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    some = np.sort(mass[:: max(1, len(mass) // _SAMPLE)])  # np.quantile takes as long as the loss
    others = some[some.searchsorted(low, "right") : some.searchsorted(high, "left")]
    if len(others) < _LEAST:
        return None
    percent = round((len(others) - 1) / 100)
    first, last = float(others[percent]), float(others[-1 - percent])
    if not 0 < FAR * (width := last - first) < float(high) - float(low):
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


OnBadBatch = Literal["raise", "skip"]

# The most batches in a row that are skipped: before the first batch with a loss, and later.
_AT_FIRST, _LATER = 10, 100


class SkipsBadBatches:
    """The part of a module that skips batches with a :class:`libmode.BatchError`, or raises the error."""

    _gets = "the loss 0"  #: what a bad batch gets
    _called: str | None = None  #: the name of the module, by default the name of its class

    def _set_on_bad_batch(self, on_bad_batch: OnBadBatch, said: Said | None = None) -> None:
        if on_bad_batch not in get_args(OnBadBatch):
            raise ValueError(f"on_bad_batch = {on_bad_batch!r}: must be 'raise' or 'skip'")
        self.on_bad_batch: OnBadBatch = on_bad_batch
        self.skipped = 0
        """How many batches were skipped."""
        self._in_a_row, self._most_in_a_row, self._said_of_bad = 0, _AT_FIRST, said or Said()
        self._unproven = True  # until a batch with a loss follows: to ask takes less time than a call

    def _succeed(self) -> None:
        """Takes note of a batch with a loss."""
        self._in_a_row, self._most_in_a_row, self._unproven = 0, _LATER, False

    def _skip(self, error: BatchError) -> None:
        """Counts a bad batch and warns at the first, or raises ``error``: by option, or after many in a row."""
        if self.on_bad_batch == "raise":
            advice = f"Leave a small last batch out, or give on_bad_batch='skip', and it gets {self._gets}"
            raise BatchError(f"{error}. {advice}") from None
        self.skipped += 1
        self._in_a_row, self._unproven, name = self._in_a_row + 1, True, self._called or type(self).__name__
        if self._in_a_row >= self._most_in_a_row:
            raise BatchError(f"{name} skipped {self._in_a_row} batches in a row. The last one: {error}") from None
        self._said_of_bad.warn("bad batch", f"{name} gives a batch {self._gets}: {error}", RuntimeWarning)
