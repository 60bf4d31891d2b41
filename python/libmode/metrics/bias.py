"""The signal that a fit finds in selected background, where there is none."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import erf, sqrt
from typing import Any, NamedTuple

import numpy as np

from .._events import takes_events
from .._messages import level_of_the_user
from .._read import number, numbers, of_one_index, whole
from .._typing import Unpack
from ._bins import Doubles
from ._fit import FLOOR, UNDER_SIGNAL, Fit, family, lowest_order
from ._histogram import sample
from ._sample import Histogram, Selection, checked_order, refuse_unknown, selected
from ._search import search
from .mass import divided

ENERGY = 13_000.0
MOST_ABSORBED = 5.0  # the error of a signal over that for a known background, above which a fit says little
INSIDE = 3.0  # widths from the ends of the fit; nearer to them every fit is uncertain


class FitOptions(Selection, total=False):
    """The keywords of both functions, see :func:`signal_bias`."""

    signal_width: Any
    background: Any
    background_order: int | None
    energy: float


@dataclass(frozen=True)
class SignalBias:
    """The result of a fit to a spectrum, see :func:`signal_bias`."""

    signal: float  #: fitted number of signal events (sum of weights), of either sign
    error: float  #: its standard error, by the Fisher information of the fitted spectrum
    counting_error: float  #: the error if the shape and size of the background were known
    selected: float  #: number of events (sum of weights) in the spectrum
    chi2: float  #: likelihood ratio of Baker and Cousins, distributed as chi^2
    ndof: int  #: bins less parameters
    background_order: int  #: of the background before the selection

    @property
    def significance(self) -> float:
        """The signal bias: signal / error."""
        return self.signal / self.error


class OneSignal(NamedTuple):
    """One of the fits of a :class:`SpuriousSignal`."""

    signal_mass: float
    signal: float
    error: float


@dataclass(frozen=True, eq=False)
class SpuriousSignal:
    """:func:`signal_bias` over the signal masses, see :func:`spurious_signal`."""

    signal_mass: Doubles  #: (k,)
    signal: Doubles  #: (k,), NaN at masses where the fit has no events
    error: Doubles  #: (k,), the same
    counting_error: Doubles  #: (k,), the errors if the background were known; see :func:`signal_bias`
    background_order: int  #: of the background before the selection
    chi2: float  #: of the fit of the background alone, as :attr:`SignalBias.chi2`; NaN without events
    ndof: int  #: its bins less its parameters

    @property
    def significance(self) -> Doubles:
        """signal / error, of shape (k,)."""
        return self.signal / self.error

    @property
    def largest(self) -> OneSignal:
        """The fit with the most signal events of either sign: a systematic uncertainty. NaN where no fit has events."""
        return self._with_most(np.abs(self.signal))

    @property
    def most_significant(self) -> OneSignal:
        """The fit with the largest signal over its error, of either sign: what a search would claim."""
        return self._with_most(np.abs(self.significance))

    def _with_most(self, size: Doubles) -> OneSignal:
        at = int(np.argmax(np.nan_to_num(size, nan=-1)))
        return OneSignal(*(float(values[at]) for values in (self.signal_mass, self.signal, self.error)))


@takes_events
def signal_bias(
    score: Any = None,
    label: Any = None,
    mass: Any = None,
    *,
    weight: Any = None,
    order: int | None = None,
    signal_mass: float | None = None,
    **options: Unpack[FitOptions],
) -> SignalBias:
    """Fits a smooth background and a signal to the masses of selected background.

    Bin b expects, with d + 1 parameters c of the background and the number N of signal events::

        mu_b = integral over b of [ B(m; c) + N Gauss(m; signal_mass, signal_width) ] dm

        B(m; c) = c_0 P_0(x) + ... + c_d P_d(x)                               polynomial
        log B   = c_0 P_0(x) + ... + c_d P_d(x)                               exponential
        log B   = c_0 + c_1 log m + ... + c_d log^d m                         power
        log B   = c_0 + c_1 log(1 - z) + c_2 log z + ... + c_d log^(d-1) z    dijet
        B       = t_b (c_0 P_0(x) + ... + c_d P_d(x)) / (width of b)          template t

    with P_l the Legendre polynomials, x the mass scaled to [-1, 1] over the bins, and z = m / energy (the dijet
    function is that of T. Aaltonen et al., PRD 79 (2009) 112002). d is the order of the background before the selection
    plus the ``order`` of the polynomial by which the selection may multiply it. The fit minimizes::

        chi2 = 2 sum_b s_b ( mu_b - n_b + n_b log(n_b / mu_b) )

    (S. Baker and R. D. Cousins, NIM 221 (1984) 437) with n_b the sum of weights. s_b = sum w / sum w^2, over the next
    bins with 25 effective events, gives the scaled Poisson distribution of G. Bohm and G. Zech, NIM A 748 (2014) 1.

    If there is no signal, signal / error has mean 0 and width 1. If the selection sculpts a bump, it is the
    significance that a search would claim (arXiv:2010.09745, section 3). A flexible background absorbs a bump, and then
    the search would not see a signal either: ``error`` is far above ``counting_error``. A warning says so above a
    factor of 5.

    Parameters
    ----------
    score, label, mass, weight, signal_efficiency, background_efficiency, threshold, selected, bins, mass_range
        As for :func:`efficiency`, of one mass. Without ``score`` and ``selected`` all background is fitted. ``bins``
        are edges. By default they have equal widths, at most the signal's, over ``mass_range``. Without one they
        hold the central 95 % of the background and three widths around the signal.
    order : int, at least 0
        The degree of the polynomial in mass that the analysis allows the background efficiency to follow.
    signal_mass : number inside the bins
    signal_width : number above 0
        The standard deviation. N counts the part of the Gaussian outside the bins too. By default half of the central
        68 % of the signal, or a twentieth of the range of the background if there is no signal.
    background : "polynomial", "exponential", "power", "dijet", or (bins,) numbers above 0
        "power" and "dijet" need masses above 0. Numbers are a template t: the spectrum before the selection in these
        bins, from simulation with many more events, since the fit ignores its fluctuations.
    background_order : int, optional
        The order of the background before the selection; at least 2 for "dijet". By default an F-test finds the lowest
        one that describes all background events and that neither of the next two improves, at 5 %; 0 for a template.
        Without the events before the selection, the F-test mistakes a wide bump for background.
    energy : number above the last edge
        The collision energy in the units of mass, for "dijet". 13,000 by default: GeV.

    Returns
    -------
    SignalBias, of NaN where the fit expects less than 0.01 events in a bin where the signal is

    Raises
    ------
    ValueError, TypeError
        If the background can take the shape of the signal; if no order describes the events in the F-test.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import signal_bias
    >>> rng = np.random.default_rng(1)
    >>> mass = np.append(50 + rng.exponential(60, 10_000), rng.normal(120, 10, 300))  # a bump, of 300 events
    >>> signal = {"signal_mass": 120, "signal_width": 10, "bins": np.arange(50, 251, 5)}
    >>> result = signal_bias(mass=mass, order=0, **signal)
    >>> print(f"order {result.background_order}: {result.signal:.0f} +- {result.error:.0f}")
    order 5: 334 +- 72
    >>> result = signal_bias(mass=mass, order=0, background="dijet", energy=500, background_order=2, **signal)
    >>> print(f"{result.significance:.1f}")
    5.9
    """
    if signal_mass is None:
        raise TypeError("signal_mass is missing: where is the signal?")
    masses = np.array([number("signal_mass", signal_mass)])
    return _fits("signal_mass", masses, score, label, mass, weight, order, options)[0][0]


@takes_events
def spurious_signal(
    score: Any = None,
    label: Any = None,
    mass: Any = None,
    *,
    weight: Any = None,
    order: int | None = None,
    signal_masses: Any = None,
    **options: Unpack[FitOptions],
) -> SpuriousSignal:
    """:func:`signal_bias` for each of several signal masses.

    ATLAS made this test for H -> gamma gamma (arXiv:1207.7214, section 5; its conditions in ATL-PHYS-PUB-2020-028):
    the largest signal result in background over the range of masses.

    Parameters
    ----------
    score, label, mass, weight, order, **options
        As for :func:`signal_bias`. The F-test chooses one order for all masses.
    signal_masses : (k,) numbers inside the bins, optional
        By default up to 50 over the range of the bins, with two widths left at either end.
    signal_width : number above 0, or (k,) of them, optional
        By default as for :func:`signal_bias`.

    Returns
    -------
    SpuriousSignal
        Arrays over the masses; ``largest`` and ``most_significant`` are one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import spurious_signal
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], [40_000, 4_000])
    >>> mass = np.where(label, rng.normal(120, 8, 44_000), 50 + rng.exponential(60, 44_000))
    >>> score = rng.normal(2.0 * label)  # does not depend on the mass
    >>> result = spurious_signal(score, label, mass, signal_efficiency=0.5, order=0)
    >>> print(f"{result.largest.signal:.0f} +- {result.largest.error:.0f} at {result.largest.signal_mass:.0f}")
    -52 +- 23 at 76
    """
    of_one_index({"signal_masses": signal_masses, "signal_width": options.get("signal_width")})
    masses = None if signal_masses is None else numbers("signal_masses", signal_masses)
    return _fits("signal_masses", masses, score, label, mass, weight, order, options)[1]


def _fits(
    name: str, masses: Doubles | None, score: Any, label: Any, mass: Any, weight: Any, order: Any, options: FitOptions
) -> tuple[list[SignalBias], SpuriousSignal]:
    """Fits of selected background with a signal at each of the masses, by themselves and together."""
    function = "signal_bias" if name == "signal_mass" else "spurious_signal"
    refuse_unknown(function, options, FitOptions)
    order, edges, width = checked_order(order), options.get("bins"), options.get("signal_width")
    widths = None if width is None else numbers("signal_width", np.atleast_1d(width))
    events = sample(score, label, mass, weight, options)
    if events.mass.shape[1] > 1:
        raise ValueError(f"mass has {events.mass.shape[1]} columns: expected one, shape (n,)")
    passed = selected(events, options, optional=True)
    if not isinstance(events, Histogram):
        background, signal = (events.mass[events.signal == which, 0] for which in (False, True))
        edges, masses, widths = search(background, signal, order, edges, options.get("mass_range"), masses, widths)
    elif masses is None or widths is None:
        raise TypeError(f"{name} and signal_width are needed with a histogram")
    spectrum = divided(events, passed, edges)
    if len(widths) == 1:
        widths = np.full(len(masses), widths[0])
    if len(widths) != len(masses):
        raise ValueError(f"signal_width has length {len(widths)}, but {name} has length {len(masses)}")
    for k, each in enumerate(widths):
        number(f"signal_width[{k}]", float(each), above=0)
    fit = Background(spectrum.bins.axes[0], spectrum.weight, spectrum.square, order, options)
    places = [f"{name}[{k}]" for k in range(len(masses))] if name == "signal_masses" else [name]
    fits = [fit.signal(*one) for one in zip(places, masses.tolist(), widths.tolist(), strict=True)]
    signal, error, counting = np.array([[one.signal, one.error, one.counting_error] for one in fits]).T
    fit.warn(masses, widths, error, counting)
    return fits, SpuriousSignal(masses, signal, error, counting, fit.background_order, fit.chi2, fit.ndof)


class Background:
    """A spectrum, and the background that is fitted to it."""

    def __init__(self, edges: Doubles, weight: Doubles, square: Doubles, order: int, options: FitOptions) -> None:
        """Of sums over selected events and others, (2, bins)."""
        try:
            import iminuit  # noqa: F401
        except ImportError as error:
            raise ImportError("signal_bias and spurious_signal need iminuit: pip install 'libmode[report]'") from error
        kind, energy = family(options.get("background", "polynomial")), options.get("energy", ENERGY)
        chosen = options.get("background_order")
        if chosen is not None:
            chosen = whole("background_order", chosen, kind.least)
        elif kind.template is not None or weight.sum() <= 0:
            chosen = kind.least
        else:
            chosen = lowest_order(edges, weight.sum(axis=0), square.sum(axis=0), kind, energy)
        self.background_order, self._degree = chosen, chosen + order
        if len(edges) <= self._degree + 3:
            raise ValueError(
                f"background_order + order = {self._degree} with {len(edges) - 1} bins: expected more bins than "
                "parameters, one more than that and a signal"
            )
        self._edges, self._selected = edges, float(weight[0].sum())
        self._name, self._fit = kind.name, Fit(edges, weight[0], square[0], kind, self._degree, energy)
        self._without = self._fit.background() if self._selected > 0 else None
        self.chi2 = self._without.chi2 if self._without else np.nan  # of the background alone
        self.ndof = len(edges) - self._degree - 2

    def signal(self, name: str, mean: float, width: float) -> SignalBias:
        """The fit with a Gaussian; ``name`` is the name of its mean in errors."""
        edges = self._edges
        if not edges[0] <= mean <= edges[-1]:
            raise ValueError(f"{name} = {mean:g}: expected it inside bins, from {edges[0]:g} to {edges[-1]:g}")
        fraction = np.diff([erf((edge - mean) / (sqrt(2) * width)) / 2 for edge in edges])
        rest = self._selected, np.nan, self.ndof - 1, self.background_order
        if self._without is None:
            return SignalBias(np.nan, np.nan, np.nan, *rest)
        if not self._fit.distinct(fraction, self._without):
            raise ValueError(
                f"background = {self._name!r} of order {self._degree} can take the shape of the signal in these bins: "
                "expected a signal that it cannot describe"
            )
        best = self._fit.signal(fraction, self._without)
        # The error means nothing where no events are expected in a bin that the signal reaches.
        known = np.isfinite(best.error) and (best.expected[fraction > UNDER_SIGNAL * fraction.max()] > FLOOR).all()
        numbers = (float(best.parameters[-1]), best.error, best.alone) if known else (np.nan,) * 3
        return SignalBias(*numbers, self._selected, best.chi2, *rest[2:])

    def warn(self, masses: Doubles, widths: Doubles, error: Doubles, counting: Doubles) -> None:
        """Warns where the background absorbs most of a signal."""
        inside = np.minimum(masses - self._edges[0], self._edges[-1] - masses) >= INSIDE * widths
        absorbed = np.where(inside, np.nan_to_num(error / counting), 0.0)
        at = int(np.argmax(absorbed))
        if absorbed[at] > MOST_ABSORBED:
            warnings.warn(
                f"background = {self._name!r} of order {self._degree} absorbs most of a signal at {masses[at]:g}: its "
                f"error is {error[at]:.3g}, and {counting[at]:.3g} if the background were known. A bump is absorbed "
                "too, so a small spurious signal says little: use a template, a lower background_order or another "
                "mass_range",
                UserWarning,
                stacklevel=level_of_the_user(),
            )
