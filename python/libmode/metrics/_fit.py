"""Fits of a smooth background and a signal to a spectrum of weighted events, by iminuit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._read import number, numbers, refuse
from ._bins import Doubles, local

IMPROVES, AHEAD = 0.05, 2  # p-value of a better fit; a spectrum may have a cubic term and no quadratic one
MOST_PULLS = 3.0  # standard deviations of Pearson's chi2, within which a background describes the events
# Below this expectation, in events, the likelihood goes on as a parabola, so that a fit finds its way back.
FLOOR = 1e-2
TOLERANCE = 1e-5  # of Minuit: the signal is then right to a thousandth of its error
CONVERGED = 1e-2  # of the gradient, which is 2 one standard deviation from the minimum; rounding leaves less
FOR_SCALE = 25.0  # effective events around a bin that give its scale: with fewer events the scale would fluctuate
DISTINCT = 0.02  # the least part of the signal's shape that the background must be unable to describe
UNDER_SIGNAL = 0.1  # share of the signal's highest bin; bins with a smaller share count as free of signal
NODES, STEEPEST = 5, 100.0  # nodes of the integral of an exponential over a bin; the largest exponent


class Family(NamedTuple):
    """A kind of background, with order + 1 parameters."""

    name: str
    exponential: bool
    least: int  #: the lowest order
    most: int  #: the highest one that the F-test tries
    template: Doubles | None = None  #: (b,), multiplies the mean over each bin; None: the width of the bin

    def columns(self, mass: Doubles, edges: Doubles, order: int, energy: float) -> Doubles:
        """The functions that the parameters multiply, (..., order + 1)."""
        if self.name == "dijet":
            powers = FAMILIES["power"].columns(mass, edges, order - 1, energy)
            return np.concatenate([powers[..., :1], np.log1p(-mass / energy)[..., None], powers[..., 1:]], axis=-1)
        if self.name == "power":
            mass, edges = np.log(mass), np.log(edges)
        return np.polynomial.legendre.legvander((2 * mass - edges[0] - edges[-1]) / (edges[-1] - edges[0]), order)


FAMILIES = {
    kind.name: kind
    for kind in (
        Family("polynomial", False, 0, 12),
        Family("exponential", True, 0, 8),
        Family("power", True, 0, 8),
        Family("dijet", True, 2, 4),
    )
}


def family(background: Any) -> Family:
    """The family of a name, or of a template; an error for another name."""
    if np.ndim(background):
        template = numbers("background", background)
        refuse("background", template, template <= 0, "a template above 0 in each bin")
        return Family("template", False, 0, 8, template)
    if not isinstance(background, str) or background not in FAMILIES:
        known = ", ".join(map(repr, FAMILIES))
        raise ValueError(f"background = {background!r}: expected one of {known}, or a template, (bins,) numbers")
    return FAMILIES[background]


class Fitted(NamedTuple):
    """The minimum of the deviance."""

    parameters: Doubles  #: of the background, (p,), and the signal if there is one
    expected: Doubles  #: (b,) in effective events
    error: float  #: of the last parameter; NaN where the fit does not converge
    alone: float  #: the error of the last parameter if the others were known
    chi2: float  #: the deviance of Baker and Cousins


class Fit:
    """A background of some order, and the spectrum that it is fitted to: sums over the events of each bin."""

    def __init__(self, edges: Doubles, weight: Doubles, square: Doubles, kind: Family, order: int, energy: Any):
        energy = number("energy", energy, above=0)
        if kind.template is not None and len(kind.template) != len(edges) - 1:
            raise ValueError(f"background has length {len(kind.template)}, but there are {len(edges) - 1} bins")
        if kind.name in ("power", "dijet") and edges[0] <= 0:
            raise ValueError(f"bins[0] = {edges[0]:g}: expected more than 0, since background = {kind.name!r}")
        if kind.name == "dijet" and edges[-1] >= energy:
            raise ValueError(
                f"energy = {energy:g} with bins up to {edges[-1]:g}: expected the collision energy in the units of mass"
            )
        # n nodes integrate a polynomial exactly up to degree 2 n - 1.
        nodes, share = np.polynomial.legendre.leggauss(NODES if kind.exponential else order // 2 + 1)
        half = np.diff(edges) / 2
        columns = kind.columns((edges[1:] + edges[:-1]) / 2 + nodes[:, None] * half, edges, order, energy)
        # An orthonormal basis spans the same functions, and its parameters are nearly uncorrelated.
        basis = np.linalg.qr(columns.reshape(-1, columns.shape[-1]))[0].reshape(columns.shape)
        self._basis = basis * np.sqrt(basis[..., 0].size)  # (nodes, b, p)
        self._width = share[:, None] * (half if kind.template is None else kind.template / 2)
        self._weight, self._exponential = weight, kind.exponential
        self._scale = local(weight, square, weight, square, FOR_SCALE) if weight.sum() > 0 else np.ones(len(weight))
        self.events = weight * self._scale  # effective ones, negative where the weights are
        self._floor = np.maximum(FLOOR, -self.events)

    def _expected(self, parameters: Doubles, signal: Doubles) -> tuple[Doubles, Doubles]:
        """The effective events that each bin expects, (b,), and their derivatives by the parameters, (b, p)."""
        size = self._basis.shape[-1]
        density = self._basis @ parameters[:size]
        if self._exponential:
            density = np.exp(np.clip(density, -STEEPEST, STEEPEST))
        slope = self._width * (density if self._exponential else 1.0)
        expected = np.sum(self._width * density, axis=0) + signal @ parameters[size:]
        derivatives = np.column_stack([np.einsum("qb,qbp->bp", slope, self._basis), signal])
        return expected * self._scale, derivatives * self._scale[:, None]

    def _deviance(self, expected: Doubles) -> float:
        """The deviance of Baker and Cousins; below the floor a parabola goes on with the same value and slope.

        Where the weights sum to a negative n, the floor is -n, and the parabola is (expected - n)^2 / floor.
        """
        n, above = self.events, np.maximum(expected, self._floor)
        parabola = ((expected - n) ** 2 - (above - n) ** 2) / self._floor
        return float(np.sum(2 * (above - n + n * np.log(np.where(n == 0, 1, abs(n)) / above)) + parabola))

    def _root_information(self, expected: Doubles, derivatives: Doubles) -> Doubles:
        """The triangular R for which R'R is the information of the parameters, the inverse of their covariance."""
        root = np.sqrt(np.maximum(expected, self._floor))
        return np.asarray(np.linalg.qr(derivatives / root[:, None])[1])

    def _start(self, used: Any) -> Doubles:
        """Parameters near the minimum, by least squares in the bins that are used."""
        weight, error = self._weight, np.sqrt(np.maximum(self._weight, 1.0))
        design, target = np.einsum("qb,qbp->bp", self._width, self._basis), weight
        if self._exponential:
            width = self._width.sum(axis=0)
            # An empty bin counts as half an event; the error of a logarithm is relative.
            design, target, error = design / width[:, None], np.log(np.maximum(weight, 0.5) / width), 1 / error
        return np.asarray(np.linalg.lstsq((design / error[:, None])[used], (target / error)[used], rcond=None)[0])

    def background(self) -> Fitted:
        """The fit without a signal."""
        return self._fit(np.zeros((len(self._weight), 0)), self._start(slice(None)))

    def signal(self, fraction: Doubles, without: Fitted) -> Fitted:
        """The fit with a signal that has these fractions in the bins, (b,), from the fit without it."""
        starts = [without.parameters]
        if self._exponential:
            # Where the background does not describe the events, there may be a second minimum near the parameters
            # that describe the events next to the signal. The deviance of a polynomial is convex.
            starts.append(self._start(fraction < UNDER_SIGNAL * fraction.max()))
        return min((self._fit(fraction[:, None], np.append(start, 0.0)) for start in starts), key=lambda fit: fit.chi2)

    def distinct(self, fraction: Doubles, without: Fitted) -> bool:
        """Whether the background cannot take the shape of the signal."""
        expected, derivatives = self._expected(np.append(without.parameters, 0.0), fraction[:, None])
        last = self._root_information(np.maximum(expected, 1.0), derivatives)[:, -1]
        return bool(abs(last[-1]) > DISTINCT * np.linalg.norm(last))

    def _fit(self, signal: Doubles, start: Doubles) -> Fitted:
        """From these parameters. The last ones multiply the columns of the signal, (b, 0) or (b, 1)."""
        from iminuit import Minuit

        # Minuit moves uncorrelated parameters in units of their errors.
        expected, derivatives = self._expected(start, signal)
        unit = np.linalg.inv(self._root_information(np.maximum(expected, np.maximum(self.events, 1.0)), derivatives))

        def deviance(move: Doubles) -> float:
            return self._deviance(self._expected(start + unit @ move, signal)[0])

        def gradient(move: Doubles) -> Doubles:
            expected, derivatives = self._expected(start + unit @ move, signal)
            pull = 2 * (expected - self.events) / np.maximum(expected, self._floor)
            return np.asarray(pull @ derivatives @ unit)

        minuit = Minuit(deviance, np.zeros(len(start)), grad=gradient)
        minuit.errordef, minuit.tol, minuit.errors = Minuit.LEAST_SQUARES, TOLERANCE, 1.0
        for minuit.strategy in (0, 1, 2):  # the more careful ones where an expectation is near its floor
            minuit.migrad()
            move = np.array(minuit.values)
            converged = np.abs(gradient(move)).max() < CONVERGED
            if converged:
                break
        parameters = start + unit @ move
        expected, derivatives = self._expected(parameters, signal)
        last = self._root_information(expected, derivatives)[:, -1]
        error = abs(1 / last[-1]) if converged and last[-1] else np.nan
        alone = 1 / max(float(np.linalg.norm(last)), np.finfo(float).tiny)
        return Fitted(parameters, expected, float(error), alone, float(minuit.fval))


def lowest_order(edges: Doubles, weight: Doubles, square: Doubles, kind: Family, energy: Any) -> int:
    """The lowest order that describes the spectrum and that neither of the next two orders improves: an F-test."""
    from scipy.stats import f

    bins, fits = len(weight), {}
    most = min(kind.most, bins - 4)  # a fit with a signal keeps a degree of freedom
    if most < kind.least:
        raise ValueError(f"bins has {bins + 1} edges: a {kind.name} background and a signal need {kind.least + 5}")
    for order in range(kind.least, most + 1):
        tried = range(order, min(order + AHEAD, most) + 1)
        for tried_order in tried:
            if tried_order not in fits:
                likelihood = Fit(edges, weight, square, kind, tried_order, energy)
                fits[tried_order] = likelihood.background()
        best, ndof = fits[order], bins - order - 1
        value = np.maximum(best.expected, FLOOR)
        pearson = np.sum((best.expected - likelihood.events) ** 2 / value)
        if pearson > ndof + MOST_PULLS * np.sqrt(2 * ndof + np.sum(1 / value)):
            continue
        ratios = [((best.chi2 - fits[k].chi2) / (k - order) / (fits[k].chi2 / (bins - k - 1)), k) for k in tried[1:]]
        if not any(f.sf(ratio, k - order, bins - k - 1) < IMPROVES for ratio, k in ratios):
            return order
    raise ValueError(
        f"no {kind.name} background of order {most} or less describes the events in bins: try another background, or "
        "a narrower range of masses"
    )
