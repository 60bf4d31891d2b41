"""The signal that a fit finds in selected background, where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from ._arguments import Bins, number, numbers, weights, whole

# How much of a signal polynomials must leave, relative to it, for a fit to tell the two apart.
DISTINCT = 1e-3

# Minuit's: the signal is found within sqrt(0.002 TOLERANCE), 0.14 %, of its error.
TOLERANCE = 1e-3


@dataclass(frozen=True)
class SignalBias:
    """What the fit of a spectrum found, see :func:`signal_bias`.

    Examples
    --------
    >>> from libmode.metrics import signal_bias
    >>> bins = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    >>> found = signal_bias([1, 2, 2, 3, 3, 3, 4, 4, 5], bins, degree=0, template=[0, 0, 1, 0, 0])
    >>> print(f"{found.signal:.2f} +- {found.error:.2f}, significance {found.significance:.2f}")
    1.50 +- 1.84, significance 0.82
    >>> found.selected, found.ndof
    (9.0, 3)
    """

    signal: float  #: fitted number of signal events (sum of weights), of either sign
    error: float  #: its standard error, from the second derivatives at the minimum
    selected: float  #: number of events (sum of weights) in the spectrum
    chi2: float  #: likelihood ratio of Baker and Cousins, distributed as chi^2
    ndof: int  #: bins less parameters

    @property
    def significance(self) -> float:
        """The signal bias: signal / error."""
        return self.signal / self.error


@dataclass(frozen=True, eq=False)
class SpuriousSignal:
    """:func:`signal_bias` over the signal masses, see :func:`spurious_signal`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import spurious_signal
    >>> mass = np.random.default_rng(1).uniform(50, 250, 5_000)
    >>> found = spurious_signal(mass, np.arange(50, 251, 10), [100, 150], 10)
    >>> found.signal.shape, found.error.shape, found.significance.shape
    ((2,), (2,), (2,))
    """

    signal_mass: NDArray[np.float64]  #: (k,)
    signal: NDArray[np.float64]  #: (k,)
    error: NDArray[np.float64]  #: (k,)

    @property
    def significance(self) -> NDArray[np.float64]:
        """signal / error, of shape (k,)."""
        return self.signal / self.error


@takes_events
def signal_bias(
    mass: Any,
    bins: Any,
    *,
    signal_mass: float | None = None,
    signal_width: float | None = None,
    degree: int = 2,
    weight: Any = None,
    template: Any = None,
) -> SignalBias:
    """Fits a polynomial and a signal to the masses of selected background.

    The expectation of bin b is linear in its degree + 2 parameters, c_l and N::

        mu_b = integral over b of [ sum_l c_l P_l(x) + N Gauss(m; signal_mass, signal_width) ] dm

    with Legendre polynomials P_l of x, the mass scaled to [-1, 1] over the bins.
    N is free to be negative. The extended likelihood is maximised with iminuit::

        chi2 = 2 sum_b s_b ( mu_b - n_b + n_b log(n_b / mu_b) )

    (S. Baker and R. D. Cousins, NIM 221 (1984) 437), where n_b is the sum of
    weights, and s_b = sum w / sum w^2 makes of it the scaled Poisson
    distribution of G. Bohm and G. Zech, NIM A 748 (2014) 1; s_b = 1 without
    weights. In an empty bin, s_b is that of the whole spectrum. Where there is
    no signal, signal / error has mean 0 and width 1 if the selection left a
    polynomial of this degree, and says what a search would claim if not
    (arXiv:2010.09745, section 3).

    Parameters
    ----------
    mass : (n,) real numbers
        Masses of the background that is selected, ``mass[score >= threshold]``.
    bins : (b + 1,) increasing numbers, or an integer
        Edges, or how many bins of equal width there are from the lowest to the
        highest mass; events outside take no part.
    signal_mass : number inside the bins
    signal_width : number above 0
        The standard deviation. N counts the whole Gaussian, the part outside
        the bins too.
    degree : int, at least 0
        At least that of the dependence that the selection was allowed to have,
        and enough for the spectrum before it. There are more than degree + 2 bins.
    weight : (n,) real numbers of either sign, optional
    template : (b,) numbers that are not negative, optional
        The histogram of signal in these bins, up to a factor, in place of
        ``signal_mass`` and ``signal_width``. N counts the signal inside the bins.

    Returns
    -------
    SignalBias
        Signal and error in events, or in the units of the weights.

    Raises
    ------
    ValueError
        If the weights of a bin that has events do not have a positive sum, with
        the bin; if the polynomials can take the shape of the signal; for other
        bad values, with argument, value and place.
    RuntimeError
        If the fit does not converge, or only where it expects less than 0.01
        events in a bin, with the bin: the error of N would mean nothing there.
        Wider bins, so that all have events, or a narrower range help.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import signal_bias
    >>> rng = np.random.default_rng(1)
    >>> mass = np.append(rng.uniform(50, 250, 10_000), rng.normal(120, 10, 300))  # a bump, of 300 events
    >>> found = signal_bias(mass, np.arange(50, 251, 5), signal_mass=120, signal_width=10)
    >>> print(f"{found.signal:.0f} +- {found.error:.0f}")
    254 +- 55
    """
    spectrum = _Spectrum(mass, bins, degree, weight)
    if template is None:
        if signal_mass is None or signal_width is None:
            raise TypeError("signal_mass and signal_width are both needed where there is no template")
        return spectrum.fit(spectrum.gaussian(signal_mass, signal_width))
    if signal_mass is not None or signal_width is not None:
        raise TypeError("template is the signal, so signal_mass and signal_width have to be None")
    return spectrum.fit(spectrum.template(template))


@takes_events
def spurious_signal(
    mass: Any, bins: Any, signal_masses: Any, signal_width: Any, *, degree: int = 2, weight: Any = None
) -> SpuriousSignal:
    """:func:`signal_bias` for each of several signal masses.

    The test that ATLAS made for H -> gamma gamma (arXiv:1207.7214, section 5;
    its conditions in ATL-PHYS-PUB-2020-028): the largest signal found in
    background over the range of masses.

    Parameters
    ----------
    mass, bins
        As for :func:`signal_bias`.
    signal_masses : (k,) numbers inside the bins
    signal_width : number above 0, or (k,) of them
    degree, weight
        As for :func:`signal_bias`.

    Returns
    -------
    SpuriousSignal
        Arrays (k,).

    Raises
    ------
    ValueError, RuntimeError
        As :func:`signal_bias`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import spurious_signal
    >>> mass = np.random.default_rng(1).uniform(50, 250, 10_000)
    >>> found = spurious_signal(mass, np.arange(50, 251, 5), np.arange(80, 221, 20), 10)
    >>> print(f"{abs(found.significance).max():.1f}")  # the largest of eight, some of which share their events
    1.3
    """
    spectrum = _Spectrum(mass, bins, degree, weight)
    masses = numbers("signal_masses", signal_masses)
    each = np.full(len(masses), signal_width) if np.ndim(signal_width) == 0 else signal_width
    widths = numbers("signal_width", each, "signal_masses", masses)
    found = [spectrum.fit(spectrum.gaussian(*signal)) for signal in zip(masses.tolist(), widths.tolist(), strict=True)]
    return SpuriousSignal(masses, np.array([f.signal for f in found]), np.array([f.error for f in found]))


class _Spectrum:
    """A histogram and the background that is fitted to it."""

    def __init__(self, mass: Any, bins: Any, degree: Any, weight: Any) -> None:
        masses = numbers("mass", mass)
        weigh = weights(weight, "mass", masses)
        self.bins = Bins(bins, masses)
        self.degree = whole("degree", degree, 0)
        if self.bins.count <= self.degree + 2:
            raise ValueError(
                f"degree = {self.degree} with {self.bins.count} bins: expected more bins than degree + 2 parameters"
            )
        place = self.bins.find(masses)
        place, weigh = place[place >= 0], weigh[place >= 0]
        self.count = self.bins.sums(place, weigh)
        squares = self.bins.sums(place, weigh**2)
        bad = (squares > 0) & (self.count <= 0)
        if bad.any():
            worst = int(np.argmax(bad))
            raise ValueError(
                f"weight sums to {self.count[worst]:g} over the events in {self.bins.name(worst)}: "
                "expected a positive sum; use wider bins"
            )
        if not squares.any():
            raise ValueError("weight is 0 for all events inside bins: expected a spectrum")
        whole_scale = self.count.sum() / squares.sum()
        self.scale = np.divide(self.count, squares, out=np.full(self.bins.count, whole_scale), where=squares > 0)

        x = 2 * (self.bins.edges - self.bins.edges[0]) / (self.bins.edges[-1] - self.bins.edges[0]) - 1
        integrals = [np.polynomial.Legendre.basis(order).integ()(x) for order in range(self.degree + 1)]
        self.background = np.diff(np.array(integrals)).T

    def gaussian(self, signal_mass: Any, signal_width: Any) -> NDArray[np.float64]:
        """What fraction of the signal each bin has."""
        mean, width = number("signal_mass", signal_mass), number("signal_width", signal_width, 0)
        low, high = self.bins.edges[[0, -1]]
        if not low <= mean <= high:
            raise ValueError(f"signal_mass = {mean:g}: expected it inside bins, from {low:g} to {high:g}")
        return np.diff([erf((edge - mean) / (sqrt(2) * width)) / 2 for edge in self.bins.edges])

    def template(self, template: Any) -> NDArray[np.float64]:
        shape = numbers("template", template)
        if len(shape) != self.bins.count:
            raise ValueError(f"template has length {len(shape)}: expected {self.bins.count}, as many as there are bins")
        if np.min(shape) < 0:
            worst = int(np.argmin(shape))
            raise ValueError(f"template[{worst}] = {shape[worst]:g}: expected no negative number")
        if shape.sum() == 0:
            raise ValueError("template is 0 in all bins: expected a signal")
        fraction: NDArray[np.float64] = shape / shape.sum()
        return fraction

    def fit(self, signal: NDArray[np.float64]) -> SignalBias:
        from iminuit import Minuit  # here, so that other metrics need NumPy alone

        cost = _Likelihood(np.column_stack([self.background, signal]), self.count, self.scale)
        if cost.distinct < DISTINCT:
            raise ValueError(
                f"degree = {self.degree} gives polynomials that have the shape of the signal in these bins: "
                "expected a signal that they cannot describe"
            )
        minuit = Minuit(cost.value, cost.start, grad=cost.gradient)
        minuit.errordef = Minuit.LEAST_SQUARES
        minuit.errors = np.ones(len(cost.start))
        minuit.tol = TOLERANCE
        minuit.migrad()
        minuit.hesse()
        expected = cost.model @ np.array(minuit.values)
        if expected.min() < cost.FLOOR:
            worst = int(np.argmin(expected))
            raise RuntimeError(
                f"the fit expects no more than {expected[worst]:.2g} events in {self.bins.name(worst)}, where the sum "
                f"of weights is {self.count[worst]:g}: use wider bins, so that all have events, or a narrower range"
            )
        if not minuit.valid or not minuit.accurate:
            raise RuntimeError(
                f"the fit of {self.count.sum():g} events in {self.bins.count} bins did not converge (distance to the "
                f"minimum {minuit.fmin.edm:.2g}): use wider bins, so that all have events, a narrower range or "
                "another degree"
            )
        return SignalBias(
            signal=float(minuit.values[-1] * cost.unit),
            error=float(minuit.errors[-1] * cost.unit),
            selected=float(self.count.sum()),
            chi2=float(minuit.fval),
            ndof=self.bins.count - len(cost.start),
        )


class _Likelihood:
    """chi2 of :func:`signal_bias`, of parameters that are nearly uncorrelated and have errors near 1.

    The last one is the signal in units of ``unit``.
    """

    # Minuit may try expectations below 0. From FLOOR down, the logarithm goes on as its second-order expansion,
    # which an empty bin gets too, so that it finds its way back; a minimum there is refused. (ExtendedBinnedNLL of
    # iminuit 2.33 sets such expectations to 0 and prefers them, even in bins with events.)
    FLOOR = 1e-2

    def __init__(self, model: NDArray[np.float64], count: NDArray[np.float64], scale: NDArray[np.float64]) -> None:
        self.count = count * scale
        error = np.sqrt(np.maximum(self.count, 1.0))
        weighted = model * (scale / error)[:, None]
        # A signal that comes last stays a parameter of its own: the matrix to the right is triangular.
        orthogonal, triangular = np.linalg.qr(weighted)
        sign = np.sign(triangular[-1, -1]) or 1.0
        orthogonal[:, -1] *= sign
        left_of_signal = sign * triangular[-1, -1]
        self.distinct = left_of_signal / np.linalg.norm(weighted[:, -1])
        self.unit = 1 / left_of_signal if left_of_signal > 0 else np.inf
        self.model = orthogonal * error[:, None]
        self.start = orthogonal.T @ (self.count / error)

    def value(self, parameters: NDArray[np.float64]) -> float:
        mu = self.model @ parameters
        at, below = self._expand(mu)
        logarithm = np.log(at) + below - below**2 / 2
        ratio = np.log(np.where(self.count > 0, self.count, 1.0)) - logarithm
        penalty = np.where(self.count > 0, 0.0, below**2)
        return float(2 * np.sum(mu - self.count + self.count * ratio + penalty))

    def gradient(self, parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        mu = self.model @ parameters
        at, below = self._expand(mu)
        slope = (1 - below) / at
        penalty = np.where(self.count > 0, 0.0, 2 * below / self.FLOOR)
        return np.asarray(2 * self.model.T @ (1 - self.count * slope + penalty))

    def _expand(self, mu: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the logarithm is expanded, and how far below that mu is, relative to it."""
        return np.maximum(mu, self.FLOOR), np.minimum(mu / self.FLOOR - 1, 0.0)
