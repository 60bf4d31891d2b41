"""The signal that a fit finds in selected background: what is fitted, and at which masses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..metrics._histogram import Histogram
from ..metrics.bias import SpuriousSignal
from .problem import Problem

CENTRAL = 0.95  # of the background is in the range of the fit: selections leave bins empty in the tails
LEAST_BINS, MOST_BINS = 20, 100  # of equal width, that of the signal or less; two more for each order
MOST_MASSES = 50
OF_RANGE = 20  # the signal is so many times narrower than the range if there is no label
AROUND = 3  # The fit goes so many widths beyond the masses that the user gives, as far as there is background.
FEWEST = 10  # labeled signal events nearest to a mass, of which its width is taken
NARROW = 8  # and at least so many times, else a polynomial has its shape


class Search(NamedTuple):
    """The signal that the user looks for; None or empty for what is not given."""

    mass: float | None = None  #: where the fitted signal is quoted
    masses: tuple[float, ...] = ()  #: of the scan
    widths: tuple[float, ...] = ()  #: standard deviations: one, or one for each of the masses


class Scan(NamedTuple):
    """The fits of one signal after the other."""

    edges: NDArray[np.float64]  #: of equal bins, in units of mass
    signal_mass: NDArray[np.float64]  #: (m,)
    signal_width: float | NDArray[np.float64]  #: the standard deviation; (m,) where the signals differ
    quoted: float | None  #: the mass whose signal is quoted; None for the largest signal / error
    rows: bool  #: whether the user gave the masses, so that each has a row in the tables

    def of(self, histogram: Histogram, degree: int | str, cut: float | None = None) -> SpuriousSignal:
        """:func:`libmode.metrics.spurious_signal` of the background with ``score >= cut``."""
        found = metrics.spurious_signal(
            histogram, self.edges, self.signal_mass, self.signal_width, degree=degree, cut=cut
        )
        if np.isnan(found.signal).all():
            raise ValueError("the fit has too few selected events at every mass")
        return found

    def numbers(self, found: SpuriousSignal) -> dict[str, Any]:
        """The fits, and the one that is quoted; None in its place where that fit has too few events."""
        if self.quoted is None:
            at = int(np.nanargmax(found.signal / found.error))
        else:
            at = int(np.flatnonzero(found.signal_mass == self.quoted)[0])
        columns = {name: getattr(found, name) for name in ("signal_mass", "signal", "error")}
        quoted = {name: float(values[at]) for name, values in columns.items()}
        return columns | {"quoted": None if math.isnan(quoted["signal"]) else quoted}


def plan(mass: NDArray[Any], signal: NDArray[Any], order: int, search: Search) -> Scan:
    """Chooses the bins and the signals by masses of background and signal, the latter empty without a label."""
    low, high = (float(edge) for edge in np.quantile(mass, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2]))
    if low == high:
        raise ValueError(f"the central 95 % of the background has a single mass, {low:g}")
    least, most = float(mass.min()), float(mass.max())
    given = sorted({*search.masses, *([] if search.mass is None else [search.mass])})
    for value in given:
        if not least < value < most:
            raise Problem(f"the signal mass {value:g} is outside the background, from {least:.4g} to {most:.4g}.")
    if search.widths:
        widths = np.array(search.widths)[np.argsort(search.masses) if len(search.widths) > 1 else slice(None)]
    else:
        widths = _widths(signal, np.sort(search.masses), (high - low) / OF_RANGE)
    for value in given:  # the range reaches around the signals that the user asks for
        width = float(widths[given.index(value)] if len(widths) == len(given) else widths.max())
        low, high = min(low, max(value - AROUND * width, least)), max(high, min(value + AROUND * width, most))
    if not 0 < widths.min() <= widths.max() <= (high - low) / NARROW:
        raise ValueError(
            f"the signal has a width of {widths.max():.3g} in mass, and the background a range of {high - low:.3g}: "
            f"a fit needs a peak that is at least {NARROW} times narrower, see --signal-width"
        )
    bins = min(max(math.ceil((high - low) / widths.min()), LEAST_BINS + 2 * order), MOST_BINS)
    edges = np.linspace(low, high, bins + 1)
    if search.masses:
        each = widths if len(widths) > 1 else float(widths[0])
        return Scan(edges, np.sort(search.masses), each, search.mass, True)
    width = float(widths[0])
    masses = np.linspace(low + 2 * width, high - 2 * width, min(int((high - low) / width) - 3, MOST_MASSES))
    return Scan(edges, masses if search.mass is None else np.union1d(masses, search.mass), width, search.mass, False)


def _widths(signal: NDArray[Any], masses: NDArray[Any], default: float) -> NDArray[np.float64]:
    """Half of the central 68 % of the labeled signal; of several masses, each by the events that are nearest to it."""
    if len(masses) < 2:
        groups = [signal]
    else:
        nearest = np.argmin(np.abs(signal[:, None] - masses), axis=1)
        groups = [signal[nearest == k] for k in range(len(masses))]
    return np.array(
        [float(np.diff(np.quantile(own, [0.1585, 0.8415]))[0]) / 2 if len(own) >= FEWEST else default for own in groups]
    )
