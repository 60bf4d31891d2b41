"""The signal that a fit finds in selected background: what is fitted, and at which masses."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..metrics._histogram import Histogram
from ..metrics._search import search
from ..metrics.bias import SpuriousSignal
from .problem import Problem


class Search(NamedTuple):
    """The signal that the user looks for; None or empty for what the user leaves out."""

    mass: float | None = None  #: where the fitted signal is quoted
    masses: tuple[float, ...] = ()  #: of the scan
    widths: tuple[float, ...] = ()  #: standard deviations: one, or one for each of the masses
    background: str = "polynomial"  #: the shape that is fitted


class Scan(NamedTuple):
    """The plan of the fits: bins, signals and shape of the background."""

    edges: NDArray[np.float64]  #: of equal bins, in units of mass
    signal_mass: NDArray[np.float64]  #: (m,)
    signal_width: float | NDArray[np.float64]  #: the standard deviation; (m,) where the signals differ
    quoted: float | None  #: the mass whose signal is quoted; None for the largest signal / error, of either sign
    rows: bool  #: whether the user gave the masses, so that each has a row in the tables
    background: str  #: the shape that is fitted

    def of(self, histogram: Histogram, order: int, background_order: int | None, **cut: float) -> SpuriousSignal:
        """:func:`libmode.metrics.spurious_signal` of selected background."""
        fits = metrics.spurious_signal(
            histogram,
            order=order,
            background_order=background_order,
            bins=self.edges,
            signal_masses=self.signal_mass,
            signal_width=self.signal_width,
            background=self.background,
            **cut,
        )
        if np.isnan(fits.signal).all():
            raise ValueError("the fit has too few selected events at every mass")
        return fits

    def numbers(self, fits: SpuriousSignal) -> dict[str, Any]:
        """The fits, and the quoted one, which is None if it has too few events."""
        columns = {name: getattr(fits, name) for name in ("signal_mass", "signal", "error")}
        quoted = fits.most_significant._asdict()
        if self.quoted is not None:
            at = int(np.flatnonzero(fits.signal_mass == self.quoted)[0])
            quoted = {name: float(values[at]) for name, values in columns.items()}
        known = None if math.isnan(quoted["signal"]) else quoted
        return columns | {"chi2": fits.chi2, "ndof": fits.ndof, "quoted": known}


def plan(background: NDArray[Any], signal: NDArray[Any], order: int, wanted: Search) -> Scan:
    """Chooses the bins and the signals by masses of background and signal, the latter empty without a label."""
    least, most = float(background.min()), float(background.max())
    masses = np.array(sorted({*wanted.masses, *([] if wanted.mass is None else [wanted.mass])}))
    for mass in masses.tolist():
        if not least < mass < most:
            raise Problem(f"the signal mass {mass:g} is outside the background, from {least:.4g} to {most:.4g}.")
    widths = np.array(wanted.widths)[np.argsort(wanted.masses) if len(wanted.widths) > 1 else slice(None)]
    edges, _, widths = search(background, signal, order, None, None, masses, widths if len(widths) else None)
    if wanted.masses:
        return Scan(
            edges, masses, widths if len(widths) > 1 else float(widths[0]), wanted.mass, True, wanted.background
        )
    _, scan, _ = search(background, signal, order, edges, None, None, widths)
    return Scan(edges, np.union1d(scan, masses), float(widths[0]), wanted.mass, False, wanted.background)
