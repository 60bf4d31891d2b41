"""The extended likelihood of a spectrum of weighted events, and the fit that maximizes it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ._arguments import Doubles
from ._shapes import Shape

# Below this expectation, in events, the likelihood goes on as a parabola, so that a fit finds its way back.
FLOOR = 1e-2
# How many events decide the scale of a bin. With fewer, it depends on the fluctuation of the bin that it weighs.
FOR_SCALE = 25.0
# How much of a signal the background must leave, relative to it, for a fit to tell the two apart.
DISTINCT = 1e-3
UNDER_SIGNAL = 0.1  # of its highest bin: bins with less do not decide whether a signal can be fitted
# Of the gradient, where an error of one standard deviation has 2: the signal is found within 5e-5 of its error.
TOLERANCE = 1e-4
CONVERGED = 1e-2  # what rounding may leave of it


class Spectrum(NamedTuple):
    """Sums over the events of each mass bin, arrays (b,) but for the edges."""

    edges: Doubles  #: (b + 1,)
    weight: Doubles
    square: Doubles  #: of weights

    @property
    def has_events(self) -> bool:
        """Whether there is something to fit."""
        return bool(self.weight.sum() > 0)


def _scales(spectrum: Spectrum) -> Doubles:
    """For each bin sum w / sum w^2 over the nearest bins that have 25 effective events, (sum w)^2 / sum w^2, (b,)."""
    count = len(spectrum.weight)
    found = np.full(count, np.nan)
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (spectrum.weight, spectrum.square))
    place = np.arange(count)
    for reach in range(count):
        low, high = np.maximum(place - reach, 0), np.minimum(place + reach + 1, count)
        weight, square = sums[high] - sums[low], squares[high] - squares[low]
        enough = np.isnan(found) & (weight > 0) & (square > 0) & (weight**2 >= FOR_SCALE * square)
        found[enough] = weight[enough] / square[enough]
        if not np.isnan(found).any():
            break
    return np.where(np.isnan(found), spectrum.weight.sum() / spectrum.square.sum(), found)


class Fitted(NamedTuple):
    """The maximum of a likelihood."""

    parameters: Doubles  #: of the background, (p,), and the signal if there is one
    expected: Doubles  #: (b,) in effective events
    error: float  #: of the last parameter; NaN where the second derivatives give none
    chi2: float  #: that of Baker and Cousins
    pearson: float  #: that of Pearson


class Likelihood:
    """chi2 of a spectrum that has events, as a function of the parameters."""

    def __init__(self, spectrum: Spectrum, shape: Shape) -> None:
        self.shape = shape
        self.scale = _scales(spectrum)
        self.events = spectrum.weight * self.scale  # effective ones, negative where the weights are
        self._count = spectrum.weight
        self._start = shape.start(self._count, np.ones(len(self._count), bool))
        # Below this the likelihood is a parabola. It starts higher in bins whose sum of weights is negative.
        self._floor = np.maximum(FLOOR, -self.events)
        positive = np.maximum(self.events, 0.0)
        logarithm = np.log(np.where(self.events > 0, self.events, 1.0) / self._floor)
        at_floor = 2 * (self._floor - positive + positive * logarithm)
        self._at_floor = np.where(self.events < 0, (self._floor - self.events) ** 2 / self._floor, at_floor)

    def background(self) -> Fitted:
        """The fit without a signal."""
        return self._fit(None, self._start)

    def signal(self, fraction: Doubles, start: Fitted) -> Fitted:
        """The fit with a signal that has these fractions in the bins, (b,), from the fit without it."""
        starts = [start.parameters]
        if self.shape.exponential:
            # Where the background does not describe the events there may be a second minimum, near to what describes
            # the events beside the signal. Of a polynomial the likelihood is convex.
            starts.append(self.shape.start(self._count, fraction < UNDER_SIGNAL * fraction.max()))
        return min((self._fit(fraction, np.append(own, 0.0)) for own in starts), key=lambda fitted: fitted.chi2)

    def _expected(self, fraction: Doubles | None, parameters: Doubles) -> tuple[Doubles, Doubles, Doubles | None]:
        """In effective events."""
        size = self._start.size
        value, slope, curvature = self.shape(parameters[:size])
        if fraction is not None:
            value = value + parameters[-1] * fraction
            slope = np.column_stack([slope, fraction])
        return value * self.scale, slope * self.scale[:, None], curvature

    def _fit(self, fraction: Doubles | None, start: Doubles) -> Fitted:
        from scipy.optimize import minimize  # here, so that other metrics need NumPy alone

        # In units of the errors, and uncorrelated. A signal comes last, and stays a parameter of its own: the matrix
        # is triangular.
        value, slope, _ = self._expected(fraction, start)
        size = np.sqrt(np.maximum(np.maximum(value, self.events), 1.0))
        unit = np.linalg.inv(np.linalg.qr(slope / size[:, None])[1])
        of_background = slice(self._start.size)

        @lru_cache(maxsize=1)  # SciPy asks for one after the other at the same place
        def derivatives(moved: bytes) -> tuple[float, Doubles, Doubles]:
            value, slope, curvature = self._expected(fraction, start + unit @ np.frombuffer(moved))
            terms, first, second = self._terms(value)
            matrix = slope.T @ (slope * second[:, None])
            if curvature is not None:
                matrix[of_background, of_background] += np.tensordot(first * self.scale, curvature, 1)
            return float(terms.sum()), unit.T @ (slope.T @ first), unit.T @ matrix @ unit

        found = minimize(
            lambda moved: derivatives(moved.tobytes())[0],
            np.zeros(start.size),
            jac=lambda moved: derivatives(moved.tobytes())[1],
            hess=lambda moved: derivatives(moved.tobytes())[2],
            method="trust-ncg",
            options={"gtol": TOLERANCE},
        )
        chi2, gradient, hessian = derivatives(found.x.tobytes())
        parameters = start + unit @ found.x
        value = self._expected(fraction, parameters)[0]
        error = np.nan
        if np.abs(gradient).max() < CONVERGED and np.linalg.eigvalsh(hessian)[0] > 0:
            error = float(np.sqrt(unit[-1] @ np.linalg.solve(hessian / 2, unit[-1])))
        away = (value - self.events) ** 2 / np.maximum(value, FLOOR)
        return Fitted(parameters, value, error, chi2, float(away.sum()))

    def _terms(self, value: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """The part of each bin in chi2, and its first two derivatives by the expectation."""
        events, floor = self.events, self._floor
        above, inside = value > floor, np.maximum(value, floor)
        logarithmic = 2 * (inside - floor) - 2 * events * np.log(inside / floor)
        parabola = ((value - events) ** 2 - (floor - events) ** 2) / floor
        return (
            self._at_floor + np.where(above, logarithmic, parabola),
            2 * (value - events) / inside,
            np.where(above, 2 * events / inside**2, 2 / floor),
        )


def distinct(likelihood: Likelihood, fraction: Doubles, start: Fitted) -> bool:
    """Whether the background cannot take the shape of the signal."""
    slope = likelihood.shape(start.parameters).slope
    size = np.sqrt(np.maximum(start.expected, 1.0)) / likelihood.scale
    triangular = np.linalg.qr(np.column_stack([slope, fraction]) / size[:, None])[1]
    return bool(abs(triangular[-1, -1]) > DISTINCT * np.linalg.norm(fraction / size))


def has_room(fitted: Fitted, fraction: Doubles) -> bool:
    """Whether the fit expects events in all bins that the signal reaches, so that its error means something."""
    return bool((fitted.expected[fraction > UNDER_SIGNAL * fraction.max()] > FLOOR).all())
