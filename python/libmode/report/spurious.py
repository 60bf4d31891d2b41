"""The signal that a fit finds in selected background: what is fitted, and where."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics

CENTRAL = 0.95  # of the background is in the range of the fit: selections leave bins empty in the tails
MOST_DEGREE = 12  # of the polynomial that describes the background before the selection
LEAST_BINS, MOST_BINS = 20, 100  # of equal width, that of the signal or less; two more for each order
MOST_MASSES = 50
OF_RANGE = 20  # the signal is so many times narrower than the range where there is none to look at
WIDEST = 8  # and at least so many times, else a polynomial has its shape


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit to the background before any selection, and what it finds there."""

    edges: NDArray[np.float64]  #: (k + 1,) of equal bins, in units of mass
    signal_mass: NDArray[np.float64]  #: (m,) of the signals that are tried, one after the other
    signal_width: float  #: the standard deviation of the signal, a Gaussian
    degree: int  #: of the polynomial: what describes the background, and the order on top
    before: metrics.SpuriousSignal  #: in the background before any selection

    def scan(self, mass: NDArray[Any], weight: NDArray[Any] | None) -> metrics.SpuriousSignal:
        """:func:`libmode.metrics.spurious_signal` of selected masses, (n,); NaN where a fit fails.

        Raises
        ------
        ValueError, RuntimeError
            With the reason, where every fit fails.
        """

        def at(masses: NDArray[np.float64]) -> metrics.SpuriousSignal:
            return metrics.spurious_signal(
                mass, self.edges, masses, self.signal_width, degree=self.degree, weight=weight
            )

        try:
            return at(self.signal_mass)
        except RuntimeError as error:
            # One by one, which takes longer; but fits fail where few events are left.
            signal, error_of = np.full((2, len(self.signal_mass)), np.nan)
            for k in range(len(self.signal_mass)):
                with suppress(RuntimeError):
                    one = at(self.signal_mass[k : k + 1])
                    signal[k], error_of[k] = one.signal[0], one.error[0]
            if np.isnan(signal).all():
                raise error
            return metrics.SpuriousSignal(self.signal_mass, signal, error_of)


def largest(scan: metrics.SpuriousSignal) -> tuple[float, float]:
    """The largest signal over its standard error, and its mass."""
    at = int(np.nanargmax(scan.significance))
    return float(scan.significance[at]), float(scan.signal_mass[at])


def fit(mass: NDArray[Any], weight: NDArray[Any] | None, signal: NDArray[Any] | None, order: int) -> Fit:
    """Chooses the fit by the background before any selection.

    The range holds the central 95 % of the background. The width of the signal is half of what holds the central
    68.3 % of the masses of ``signal`` (k,) or, where that is None, a twentieth of the range. The polynomial has the
    lowest degree at which two more improve chi2 by less than 6, what is exceeded by chance in one case of 20 (a
    likelihood ratio test), and ``order`` more, since the selection may multiply the spectrum with such a polynomial.

    Raises
    ------
    ValueError, RuntimeError
        With the reason, where there is no such fit.
    """
    low, high = (float(q) for q in np.quantile(mass, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2]))
    if low == high:
        raise ValueError(f"the central 95 % of the background have one mass, {low:g}")
    width = (high - low) / OF_RANGE
    if signal is not None:
        below, above = np.quantile(signal, [0.1585, 0.8415])
        width = float(above - below) / 2
        if not 0 < width <= (high - low) / WIDEST:
            raise ValueError(
                f"the signal has a width of {width:.3g} in mass, and the background a range of {high - low:.3g}: "
                "a fit tells a peak from a polynomial where it is at least 8 times narrower"
            )
    bins = min(max(math.ceil((high - low) / width), LEAST_BINS + 2 * order), MOST_BINS)
    edges = np.linspace(low, high, bins + 1)
    masses = np.linspace(low + 2 * width, high - 2 * width, min(int((high - low) / width) - 3, MOST_MASSES))
    degree = _degree(mass, weight, edges, width) + order
    before = metrics.spurious_signal(mass, edges, masses, width, degree=degree, weight=weight)
    return Fit(edges, masses, width, degree, before)


def _degree(mass: NDArray[Any], weight: NDArray[Any] | None, edges: NDArray[np.float64], width: float) -> int:
    centre = float(edges[0] + edges[-1]) / 2
    chi2: list[float] = []
    for degree in range(MOST_DEGREE + 3):
        found = metrics.signal_bias(mass, edges, signal_mass=centre, signal_width=width, degree=degree, weight=weight)
        chi2.append(found.chi2)
        ndof = found.ndof + 2  # of the degree that is two less
        if degree >= 2 and chi2[-3] - chi2[-1] < 6 and chi2[-3] < ndof + 3 * math.sqrt(2 * ndof):
            return degree - 2
    raise ValueError(
        f"no polynomial of degree {MOST_DEGREE} or less describes the background before the selection: "
        f"chi2 is {chi2[-3]:.0f} for {ndof} degrees of freedom"
    )
