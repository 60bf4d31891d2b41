"""A warning where few masses are so far from all others that they make the range which is taken by default.

A mass that is not known is often written as -999: one per cent of it turns a polynomial of order 1 into a constant.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._messages import level_of_the_user

if TYPE_CHECKING:
    from ._options import Options

FAR = 5.0  # how many times the range of the bulk the range of all masses may be
_SAMPLE = 1_000  # events from which the percentiles are taken
_LEAST = 20  # events that have percentiles

# Of the calls with the same options, which are looked at: a look costs up to as much as the loss of a small batch.
FIRST, EVERY = 10, 100


def look(options: Options, mass: NDArray[Any], label: NDArray[Any] | None) -> None:
    """Warns, once for these options, if the masses that a call selects, (n,) or (d, n), are so."""
    options.calls += 1
    if options.far_masses_said or options.calls > FIRST and options.calls % EVERY:
        return
    rows = [row for k, row in enumerate(np.atleast_2d(mass)) if options.takes_default_range(k)]
    if rows and label is not None:
        chosen = np.isin(label, options.labels)
        rows = [row[chosen] for row in rows]
    options.far_masses_said = any(say_if_far(row, "mass_range") for row in rows)


def say_if_far(mass: NDArray[Any], remedy: str) -> bool:
    """Warns if masses, (n,), are so, and says whether it did; ``remedy`` is the argument that the user should give."""
    sentence = far(mass)
    if sentence:
        sentence += f": leave out events without a mass, and give {remedy}"
        warnings.warn(sentence, stacklevel=level_of_the_user())
    return sentence is not None


def far(mass: NDArray[Any]) -> str | None:
    """What is to be said of masses, (n,), if they are so."""
    low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    if not np.isfinite(high - low):  # masses may be absent
        mass = mass[np.isfinite(mass)]
        low, high = mass.min(initial=np.inf), mass.max(initial=-np.inf)
    some = mass[:: max(1, len(mass) // _SAMPLE)]
    others = some[(some > low) & (some < high)]
    if len(others) < _LEAST:
        return None
    first, last = np.quantile(others.astype(np.float64), (0.01, 0.99))
    width = last - first
    if not 0 < FAR * width < float(high) - float(low):
        return None
    # Those that are further than half the way out are named.
    end, bulk = (low, first) if first - low > high - last else (high, last)
    there = (mass - bulk) / (end - bulk) > 0.5
    count = int(np.count_nonzero(there))
    several = "" if (mass[there] == end).all() else "down to " if end == low else "up to "
    times = (float(high) - float(low)) / width
    return (
        f"mass is {several}{end:.6g} for {count} of {len(mass)} events ({100 * count / len(mass):.2g} %): its range, "
        f"{low:.6g} to {high:.6g}, is {times:.0f} times that from the 1st to the 99th percentile of the others, "
        f"{first:.6g} to {last:.6g}"
    )
