"""The signal that a fit finds in selected background: what is fitted, and at which masses."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..metrics._fit import FAMILIES
from ..metrics._histogram import Histogram
from ..metrics._search import search
from ..metrics.bias import SpuriousSignal
from . import words
from .problem import Problem

TEMPLATE = "template"
APART = 3.0  # Shapes of background disagree if their signals over errors differ by this and by half of the largest.


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
        fits = self._fitted(histogram, self.background, order=order, background_order=background_order, **cut)
        if np.isnan(fits.signal).all():
            raise ValueError("the fit has too few selected events at every mass")
        return fits

    def _fitted(self, histogram: Histogram, shape: str, **options: Any) -> SpuriousSignal:
        template = shape == TEMPLATE  # the spectrum before the selection
        background = metrics.efficiency(histogram, threshold=-np.inf, bins=self.edges).background if template else shape
        usual = {"bins": self.edges, "signal_masses": self.signal_mass, "signal_width": self.signal_width}
        return metrics.spurious_signal(histogram, background=background, **usual | options)

    def orders(self, histogram: Histogram, order: int) -> dict[str, int]:
        """The order of each shape of background that describes the spectrum before the selection."""
        orders = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # these fits are to compare with the one that the user has chosen
            for shape in (*FAMILIES, TEMPLATE):
                with suppress(ValueError):
                    orders[shape] = self._fitted(histogram, shape, order=order).background_order
        return orders

    def by_shape(
        self, histogram: Histogram, order: int, orders: dict[str, int], mass: float, **cut: float
    ) -> dict[str, dict[str, float]]:
        """The signal at one mass by each of these shapes of background, in the events of a cut."""
        widths = np.broadcast_to(self.signal_width, self.signal_mass.shape)
        at = {"signal_masses": [mass], "signal_width": float(widths[self.signal_mass == mass][0])}
        by_shape = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for shape, background_order in orders.items():
                with suppress(ValueError):
                    fits = self._fitted(histogram, shape, order=order, background_order=background_order, **at, **cut)
                    if np.isfinite(fits.signal[0]):
                        by_shape[shape] = {"signal": float(fits.signal[0]), "error": float(fits.error[0])}
        return by_shape

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


def disagreement(mass: float, by_shape: dict[str, dict[str, float]]) -> str | None:
    """A sentence on the signals of different shapes at one mass if they are far apart; None if they are not."""
    sizes = {shape: one["signal"] / one["error"] for shape, one in by_shape.items()}
    low, high = min(sizes.values(), default=0.0), max(sizes.values(), default=0.0)
    if high - low < max(APART, abs(low) / 2, abs(high) / 2):
        return None
    each = ", ".join(f"{size:+.1f} ({shape})" for shape, size in sizes.items())
    return (
        f"the shapes of background disagree on the signal at {words.short(mass)}, in errors: {each}. A flexible shape "
        "takes a bump for background; the template, the spectrum before the cut, does not"
    )
