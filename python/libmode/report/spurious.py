"""The signal that a fit finds in selected background: what is fitted, and where."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
OF_RANGE = 20  # the signal is so many times narrower than the range where there is none to look at
WIDEST = 8  # and at least so many times, else a polynomial has its shape


class Search(NamedTuple):
    """The signal that the user looks for; None or empty for what was not given."""

    mass: float | None = None  #: where the fitted signal is quoted
    masses: tuple[float, ...] = ()  #: of the scan
    widths: tuple[float, ...] = ()  #: standard deviations: one, or one for each of the masses


ANY = Search()


class Plan(NamedTuple):
    """What is fitted."""

    edges: NDArray[np.float64]  #: (k + 1,) of equal bins, in units of mass
    signal_mass: NDArray[np.float64]  #: (m,) of the signals that are tried, one after the other
    signal_width: float | NDArray[np.float64]  #: their standard deviation; (m,) where the signals differ
    quoted: float | None  #: the mass whose signal is quoted; None for the mass of the largest one

    def scan(self, histogram: Histogram, degree: int | str, cut: float | None = None) -> SpuriousSignal:
        """:func:`libmode.metrics.spurious_signal` of the background, or of that with ``score >= cut``."""
        return metrics.spurious_signal(histogram, *self[:3], degree=degree, cut=cut)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit to the background before any selection, and what it finds there."""

    plan: Plan
    degree: int  #: of the polynomial: what describes the background, and the order on top
    before: SpuriousSignal  #: in the background before any selection

    def scan(self, histogram: Histogram, cut: float) -> SpuriousSignal:
        """The same of the background with ``score >= cut``.

        Raises
        ------
        ValueError
            With the reason, where the fit has no events at any mass.
        """
        found = self.plan.scan(histogram, self.degree, cut)
        if np.isnan(found.signal).all():
            raise ValueError("the fit has too few selected events at all masses")
        return found


def quoted(scan: SpuriousSignal, mass: float | None) -> tuple[float, float, float] | None:
    """The mass that is quoted, its signal and its standard error; without ``mass`` where signal / error is largest.

    None where that fit has too few events.
    """
    at = int(np.nanargmax(scan.significance)) if mass is None else int(np.flatnonzero(scan.signal_mass == mass)[0])
    if np.isnan(scan.signal[at]):
        return None
    return float(scan.signal_mass[at]), float(scan.signal[at]), float(scan.error[at])


def plan(mass: NDArray[Any], signal: NDArray[Any] | None, order: int, search: Search = ANY) -> Plan:
    """Chooses the bins and the signals by masses of background (n,), and of signal (k,) where there is a label.

    The range holds the central 95 % of the background. Where the search has no width, it is half of what holds the
    central 68.3 % of the signal or, where there is no label, a twentieth of the range.

    Raises
    ------
    ValueError
        With the reason, where there is no such fit.
    Problem
        For a search outside the range.
    """
    low, high = (float(q) for q in np.quantile(mass, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2]))
    if low == high:
        raise ValueError(f"the central 95 % of the background have one mass, {low:g}")
    for option, values in (("--signal-mass", (search.mass,)), ("--signal-masses", search.masses)):
        for value in values:
            if value is not None and not low <= value <= high:
                raise Problem(
                    f"{option} {value:g} is outside the central 95 % of the background, {low:.4g} to {high:.4g}."
                )
    widths = search.widths or (_width(low, high, signal),)
    if not max(widths) <= (high - low) / WIDEST:
        raise ValueError(
            f"the signal has a width of {max(widths):.3g} in mass, and the background a range of {high - low:.3g}: "
            "a fit tells a peak from a polynomial where it is at least 8 times narrower"
        )
    bins = min(max(math.ceil((high - low) / min(widths)), LEAST_BINS + 2 * order), MOST_BINS)
    return Plan(np.linspace(low, high, bins + 1), *_scanned(low, high, widths, search), search.mass)


def fit(histogram: Histogram, plan: Plan, order: int) -> Fit:
    """Chooses the polynomial by the background before any selection.

    It has the degree that an F-test chooses, and ``order`` more, since the selection may multiply the spectrum with
    such a polynomial.

    Raises
    ------
    ValueError
        With the reason, where no polynomial describes the background.
    """
    chosen = plan.scan(histogram, "f-test")
    degree = chosen.degree + order
    return Fit(plan, degree, plan.scan(histogram, degree) if order else chosen)


def _width(low: float, high: float, signal: NDArray[Any] | None) -> float:
    if signal is None:
        return (high - low) / OF_RANGE
    below, above = np.quantile(signal, [0.1585, 0.8415])
    if not below < above:
        raise ValueError(f"the central 68.3 % of the signal have one mass, {below:g}")
    return float(above - below) / 2


def _scanned(
    low: float, high: float, widths: tuple[float, ...], search: Search
) -> tuple[NDArray[np.float64], float | NDArray[np.float64]]:
    """The masses of the scan, with the one that is quoted among them, and the width or widths."""
    if search.masses:
        order = np.argsort(search.masses)
        masses = np.array(search.masses)[order]
        return masses, widths[0] if len(widths) == 1 else np.array(widths)[order]
    width = widths[0]
    masses = np.linspace(low + 2 * width, high - 2 * width, min(int((high - low) / width) - 3, MOST_MASSES))
    return (masses if search.mass is None else np.union1d(masses, [search.mass])), width
