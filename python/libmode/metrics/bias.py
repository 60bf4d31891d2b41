"""The signal that a fit finds in selected background, where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import erf, sqrt
from typing import Any

import numpy as np

from .._events import of_one_index, takes_events
from ._arguments import Doubles, number, numbers
from ._fit import F_TEST, FLOOR, UNDER_SIGNAL, Fit, degree_of, family, lowest_degree
from ._split import spectrum

ENERGY = 13_000.0


@dataclass(frozen=True)
class SignalBias:
    """The result of a fit to a spectrum, see :func:`signal_bias`."""

    signal: float  #: fitted number of signal events (sum of weights), of either sign
    error: float  #: its standard error, from the second derivatives at the minimum
    selected: float  #: number of events (sum of weights) in the spectrum
    chi2: float  #: likelihood ratio of Baker and Cousins, distributed as chi^2
    ndof: int  #: bins less parameters
    degree: int  #: of the background

    @property
    def significance(self) -> float:
        """The signal bias: signal / error."""
        return self.signal / self.error


@dataclass(frozen=True, eq=False)
class SpuriousSignal:
    """:func:`signal_bias` over the signal masses, see :func:`spurious_signal`."""

    signal_mass: Doubles  #: (k,)
    signal: Doubles  #: (k,), NaN at masses where the fit has no events
    error: Doubles  #: (k,), the same
    degree: int  #: of the background

    @property
    def significance(self) -> Doubles:
        """signal / error, of shape (k,)."""
        return self.signal / self.error


@takes_events
def signal_bias(
    mass: Any,
    bins: Any = None,
    signal_mass: float | None = None,
    signal_width: float | Callable[[float], float] | None = None,
    *,
    background: Any = "polynomial",
    degree: int | str | None = None,
    energy: float = ENERGY,
    weight: Any = None,
    cut: float | None = None,
) -> SignalBias:
    """Fits a smooth background and a signal to the masses of selected background.

    Bin b expects, with degree + 1 parameters c of the background and the number N of signal events::

        mu_b = integral over b of [ B(m; c) + N Gauss(m; signal_mass, signal_width) ] dm

        B(m; c) = c_0 P_0(x) + ... + c_d P_d(x)                               polynomial
        log B   = c_0 P_0(x) + ... + c_d P_d(x)                               exponential
        log B   = c_0 + c_1 log m + ... + c_d log^d m                         power
        log B   = c_0 + c_1 log(1 - z) + c_2 log z + ... + c_d log^(d-1) z    dijet
        B       = t_b (c_0 P_0(x) + ... + c_d P_d(x)) / (width of b)          template t

    with d the degree, P_l the Legendre polynomials, x the mass scaled to [-1, 1]
    over the bins, and z = m / energy (the dijet function is that of T. Aaltonen et
    al., PRD 79 (2009) 112002). The fit minimizes::

        chi2 = 2 sum_b s_b ( mu_b - n_b + n_b log(n_b / mu_b) )

    (S. Baker and R. D. Cousins, NIM 221 (1984) 437) with n_b the sum of weights. s_b = sum w / sum w^2, over the next
    bins with 25 effective events, gives the scaled Poisson distribution of G. Bohm and G. Zech, NIM A 748 (2014) 1.

    If there is no signal, signal / error has mean 0 and width 1. If the selection sculpts a bump, it is the
    significance that a search would claim (arXiv:2010.09745, section 3).

    Parameters
    ----------
    mass : (n,) real numbers, in any unit, or a histogram of background, see ``libmode.metrics``
        Masses of the selected background, ``mass[score >= threshold]``.
    bins, weight
        As for :func:`efficiency`.
    signal_mass : number inside the bins
    signal_width : number above 0, or a function of the mass
        The standard deviation. N counts the part of the Gaussian outside the bins too.
    background : "polynomial", "exponential", "power", "dijet", or (bins,) numbers above 0
        "power" and "dijet" need masses above 0. Numbers are a template t: the spectrum before the selection in these
        bins, from simulation with many more events, since the fit ignores its fluctuations.
    degree : int or "f-test", optional
        2 for polynomial and dijet, 1 for the others by default; 2, 3 or 4 for dijet. A polynomial needs the degree of
        the spectrum before the selection plus the order of the loss, a template only the order of the loss. "f-test"
        takes the lowest degree that describes these events and that neither of the next two degrees improves, at 5 %.
        It mistakes a wide bump for background: find the degree on the events before the selection, and give it here.
    energy : number above the last edge
        The collision energy in the units of mass, for "dijet". 13,000 by default: GeV.
    cut : number, optional
        Of a histogram: the edge of score from which events are selected; all by default.

    Returns
    -------
    SignalBias, of NaN where the fit expects less than 0.01 events in a bin where the signal is

    Raises
    ------
    ValueError, TypeError
        If the background can take the shape of the signal; if no degree describes the events, for "f-test".

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import signal_bias
    >>> rng = np.random.default_rng(1)
    >>> mass = np.append(50 + rng.exponential(60, 10_000), rng.normal(120, 10, 300))  # a bump, of 300 events
    >>> found = signal_bias(mass, np.arange(50, 251, 5), 120, 10, degree="f-test")
    >>> print(f"degree {found.degree}: {found.signal:.0f} +- {found.error:.0f}")
    degree 5: 334 +- 72
    >>> found = signal_bias(mass, np.arange(50, 251, 5), 120, lambda m: m / 12, background="dijet", energy=500)
    >>> print(f"{found.significance:.1f}")
    5.9
    """
    fit = _Fit(mass, bins, weight, cut, background, degree, energy)
    if signal_mass is None or signal_width is None:
        raise TypeError("signal_mass and signal_width are both needed")
    mean = number("signal_mass", signal_mass)
    width = signal_width(mean) if callable(signal_width) else signal_width
    return fit.signal("signal_mass", mean, number("signal_width", width, 0))


@takes_events
def spurious_signal(
    mass: Any,
    bins: Any = None,
    signal_masses: Any = None,
    signal_width: Any = None,
    background: Any = "polynomial",
    *,
    degree: int | str | None = None,
    energy: float = ENERGY,
    weight: Any = None,
    cut: float | None = None,
) -> SpuriousSignal:
    """:func:`signal_bias` for each of several signal masses.

    ATLAS made this test for H -> gamma gamma (arXiv:1207.7214, section 5; its conditions in ATL-PHYS-PUB-2020-028):
    the largest signal found in background over the range of masses.

    Parameters
    ----------
    mass, bins, background, degree, energy, weight, cut
        As for :func:`signal_bias`. "f-test" chooses one degree for all masses.
    signal_masses : (k,) numbers inside the bins
    signal_width : number above 0, or (k,) of them, or a function of the mass

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import spurious_signal
    >>> falling = 50 + np.random.default_rng(1).exponential(60, 10_000)
    >>> bins, options = np.arange(50, 251, 5), {"background": "dijet", "degree": 3, "energy": 500}
    >>> found = spurious_signal(falling, bins, [90, 125, 170], lambda m: 0.08 * m, **options)
    >>> found.significance.round(1)
    array([-0.5,  1.2, -0.7])
    """
    fit = _Fit(mass, bins, weight, cut, background, degree, energy)
    if signal_masses is None or signal_width is None:
        raise TypeError("signal_masses and signal_width are both needed")
    of_one_index({"signal_masses": signal_masses, "signal_width": signal_width})
    masses = numbers("signal_masses", signal_masses)
    given = [signal_width(at) for at in masses.tolist()] if callable(signal_width) else signal_width
    widths = numbers("signal_width", np.full(len(masses), given) if np.ndim(given) == 0 else given)
    if len(widths) != len(masses):
        raise ValueError(f"signal_width has length {len(widths)}, but signal_masses has length {len(masses)}")
    found = [
        fit.signal(f"signal_masses[{k}]", at, number(f"signal_width[{k}]", width, 0))
        for k, (at, width) in enumerate(zip(masses.tolist(), widths.tolist(), strict=True))
    ]
    signal, error = np.array([[one.signal, one.error] for one in found]).T
    return SpuriousSignal(masses, signal, error, fit.degree)


class _Fit:
    """A spectrum, and the background that is fitted to it."""

    def __init__(self, mass: Any, bins: Any, weight: Any, cut: Any, background: Any, degree: Any, energy: Any) -> None:
        try:
            import iminuit  # noqa: F401
        except ImportError as error:
            raise ImportError("signal_bias and spurious_signal need iminuit: pip install 'libmode[report]'") from error
        kind = family(background)
        events = spectrum(mass, None, bins, weight, cut)
        self._edges, count = events.bins.axes[0], events.bins.count
        sums = self._edges, events.weight[0], events.square[0]
        self._selected = float(sums[1].sum())
        by_test = isinstance(degree, str) and degree == F_TEST
        if by_test and self._selected <= 0:
            by_test, degree = False, None  # an empty selection has no degree to test
        self.degree = lowest_degree(*sums, kind, energy) if by_test else degree_of(kind, degree)
        if count <= self.degree + 2:
            raise ValueError(f"degree = {self.degree} with {count} bins: expected more bins than degree + 2 parameters")
        self._name, self._fit = kind.name, Fit(*sums, kind, self.degree, energy)
        self._without = self._fit.background() if self._selected > 0 else None

    def signal(self, name: str, mean: float, width: float) -> SignalBias:
        """The fit with a Gaussian; ``name`` is what errors call its mean."""
        edges = self._edges
        if not edges[0] <= mean <= edges[-1]:
            raise ValueError(f"{name} = {mean:g}: expected it inside bins, from {edges[0]:g} to {edges[-1]:g}")
        fraction = np.diff([erf((edge - mean) / (sqrt(2) * width)) / 2 for edge in edges])
        selected, ndof = self._selected, len(edges) - self.degree - 3
        if self._without is None:
            return SignalBias(np.nan, np.nan, selected, np.nan, ndof, self.degree)
        if not self._fit.distinct(fraction, self._without):
            raise ValueError(
                f"background = {self._name!r} of degree = {self.degree} can take the shape of the signal in "
                "these bins: expected a signal that it cannot describe"
            )
        found = self._fit.signal(fraction, self._without)
        # The error means nothing where no events are expected in a bin that the signal reaches.
        known = np.isfinite(found.error) and (found.expected[fraction > UNDER_SIGNAL * fraction.max()] > FLOOR).all()
        signal, error = (float(found.parameters[-1]), found.error) if known else (np.nan, np.nan)
        return SignalBias(signal, error, selected, found.chi2, ndof, self.degree)
