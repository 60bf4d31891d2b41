"""Fits of a smooth background and a signal to a spectrum of weighted events, by iminuit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._arguments import Doubles, number, numbers, refuse

IMPROVES, AHEAD = 0.05, 2  # p-value of a better fit; a spectrum may have a cubic term and no quadratic one
MOST_PULLS = 3.0  # of Pearson's chi2: a background that describes the events is within so many standard deviations
# Below this expectation, in events, the likelihood goes on as a parabola, so that a fit finds its way back.
FLOOR = 1e-2
TOLERANCE = 1e-5  # of iminuit, at which the signal is right to a thousandth of its error
CONVERGED = 1e-2  # of the gradient, where an error of one standard deviation has 2: rounding may leave so much
STEP = 1e-4  # of the second derivatives, in errors: bins cross their floor within a larger one
FOR_SCALE = 25.0  # effective events that decide the scale of a bin: fewer depend on the fluctuation that they weigh
DISTINCT = 1e-3  # how much of a signal the background must leave, relative to it, for a fit to tell the two apart
UNDER_SIGNAL = 0.1  # of its highest bin: bins with less do not decide whether a signal can be fitted
NODES, STEEPEST = 5, 100.0  # of the integral of an exponential over a bin; and the size of its exponent at most


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
    """The maximum of a likelihood."""

    parameters: Doubles  #: of the background, (p,), and the signal if there is one
    expected: Doubles  #: (b,) in effective events
    error: float  #: of the last parameter; NaN where the fit gives none
    chi2: float  #: that of Baker and Cousins


class Fit:
    """The likelihood of a spectrum, sums over the events of each bin, and of a background of this order."""

    def __init__(self, edges: Doubles, weight: Doubles, square: Doubles, kind: Family, order: int, energy: Any):
        energy = number("energy", energy, 0)
        if kind.template is not None and len(kind.template) != len(edges) - 1:
            raise ValueError(f"background has length {len(kind.template)}, but there are {len(edges) - 1} bins")
        if kind.name in ("power", "dijet") and edges[0] <= 0:
            raise ValueError(f"bins[0] = {edges[0]:g}: expected more than 0, since background = {kind.name!r}")
        if kind.name == "dijet" and edges[-1] >= energy:
            raise ValueError(
                f"energy = {energy:g} with bins up to {edges[-1]:g}: expected the collision energy in the units of mass"
            )
        # A polynomial is integrated exactly: n nodes do so up to degree 2 n - 1.
        at, part = np.polynomial.legendre.leggauss(NODES if kind.exponential else order // 2 + 1)
        half = np.diff(edges) / 2
        columns = kind.columns((edges[1:] + edges[:-1]) / 2 + at[:, None] * half, edges, order, energy)
        # The parameters of an orthonormal basis can be told apart, however alike the functions are.
        basis = np.linalg.qr(columns.reshape(-1, columns.shape[-1]))[0].reshape(columns.shape)
        self._basis = basis * np.sqrt(basis[..., 0].size)  # (nodes, b, p)
        self._width = part[:, None] * (half if kind.template is None else kind.template / 2)
        self._count, self._exponential = weight, kind.exponential
        self.scale = _scales(weight, square) if weight.sum() > 0 else np.ones(len(weight))
        self.events = weight * self.scale  # effective ones, negative where the weights are
        self._floor = np.maximum(FLOOR, -self.events)

    def _background(self, parameters: Doubles) -> tuple[Doubles, Doubles]:
        """The events that each bin expects, (b,), and the derivatives, (b, p)."""
        value = self._basis @ parameters
        if self._exponential:
            value = np.exp(np.clip(value, -STEEPEST, STEEPEST))
        slope = self._width * (value if self._exponential else 1.0)
        return np.sum(self._width * value, axis=0), np.einsum("qb,qbp->bp", slope, self._basis)

    def _deviance(self, expected: Doubles) -> tuple[float, Doubles]:
        """chi2 for an expectation, (b,), and its derivatives.

        It is that of Baker and Cousins down to the floor, and below a parabola of the same value and slope. Where the
        weights sum to a negative n, the constant is such that chi2 below the floor is (expected - n)^2 / floor.
        """
        n, floor = self.events, self._floor
        above = np.maximum(expected, floor)
        constant = np.where(n < 0, (floor - n) ** 2 / floor - 2 * floor, -2 * n)
        logarithms = 2 * n * np.log(np.where(n < 0, floor, np.where(n > 0, n, 1)) / above)
        parabola = np.where(expected < floor, ((expected - n) ** 2 - (floor - n) ** 2) / floor, 0)
        slope = np.where(expected < floor, 2 * (expected - n) / floor, 2 * (1 - n / above))
        return float(np.sum(constant + 2 * above + logarithms + parabola)), slope

    def _start(self, used: Any) -> Doubles:
        """Parameters near those that describe the bins that are used, by least squares."""
        count, size = self._count, np.sqrt(np.maximum(self._count, 1.0))
        design, target = np.einsum("qb,qbp->bp", self._width, self._basis), count
        if self._exponential:
            width = self._width.sum(axis=0)
            # An empty bin counts as half an event; the error of a logarithm is relative.
            design, target, size = design / width[:, None], np.log(np.maximum(count, 0.5) / width), 1 / size
        found: Doubles = np.linalg.lstsq((design / size[:, None])[used], (target / size)[used], rcond=None)[0]
        return found

    def background(self) -> Fitted:
        """The fit without a signal."""
        return self._fit(np.zeros((len(self._count), 0)), self._start(slice(None)))

    def signal(self, fraction: Doubles, without: Fitted) -> Fitted:
        """The fit with a signal that has these fractions in the bins, (b,), from the fit without it."""
        starts = [without.parameters]
        if self._exponential:
            # Where the background does not describe the events there may be a second minimum, near to the parameters
            # that describe the events next to the signal. Of a polynomial the likelihood is convex.
            starts.append(self._start(fraction < UNDER_SIGNAL * fraction.max()))
        return min((self._fit(fraction[:, None], np.append(own, 0.0)) for own in starts), key=lambda one: one.chi2)

    def distinct(self, fraction: Doubles, without: Fitted) -> bool:
        """Whether the background cannot take the shape of the signal."""
        size = np.sqrt(np.maximum(without.expected, 1.0)) / self.scale
        columns = np.column_stack([self._background(without.parameters)[1], fraction])
        triangular = np.linalg.qr(columns / size[:, None])[1]
        return bool(abs(triangular[-1, -1]) > DISTINCT * np.linalg.norm(fraction / size))

    def _fit(self, signal: Doubles, start: Doubles) -> Fitted:
        """From these parameters, of which the last ones multiply the columns of the signal, (b, 0) or (b, 1)."""
        from iminuit import Minuit

        size = len(start) - signal.shape[1]

        def expected(parameters: Doubles) -> tuple[Doubles, Doubles]:
            value, slope = self._background(parameters[:size])
            value = (value + signal @ parameters[size:]) * self.scale
            return value, np.column_stack([slope, signal]) * self.scale[:, None]

        # In units of the errors, and uncorrelated. A signal comes last, and stays a parameter of its own: the matrix
        # is triangular.
        value, slope = expected(start)
        root = np.sqrt(np.maximum(np.maximum(value, self.events), 1.0))
        unit = np.linalg.inv(np.linalg.qr(slope / root[:, None])[1])

        def deviance(moved: Doubles) -> float:
            return self._deviance(expected(start + unit @ moved)[0])[0]

        def gradient(moved: Doubles) -> Doubles:
            value, slope = expected(start + unit @ moved)
            found: Doubles = self._deviance(value)[1] @ slope @ unit
            return found

        minuit = Minuit(deviance, np.zeros(len(start)), grad=gradient)
        minuit.errordef, minuit.tol, minuit.errors = Minuit.LEAST_SQUARES, TOLERANCE, 1.0
        for minuit.strategy in (0, 1, 2):  # the more careful ones where an expectation is near its floor
            minuit.migrad()
            moved = np.array(minuit.values)
            if converged := bool(np.abs(gradient(moved)).max() < CONVERGED):
                break
        # Not hesse(): its steps cross the floor of bins, where the second derivative jumps.
        steps = STEP * np.eye(len(moved))
        hessian = np.array([gradient(moved + step) - gradient(moved - step) for step in steps]) / (2 * STEP)
        error = np.nan
        if converged and np.linalg.eigvalsh(hessian + hessian.T)[0] > 0:
            error = abs(float(unit[-1, -1])) * float(np.sqrt(2 * np.linalg.inv(hessian)[-1, -1]))
        parameters = start + unit @ moved
        return Fitted(parameters, expected(parameters)[0], error, float(minuit.fval))


def _scales(weight: Doubles, square: Doubles) -> Doubles:
    """For each bin sum w / sum w^2 over the nearest bins that have 25 effective events, (sum w)^2 / sum w^2, (b,)."""
    count = len(weight)
    scales = np.full(count, np.nan)
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (weight, square))
    place = np.arange(count)
    for reach in range(count):
        low, high = np.maximum(place - reach, 0), np.minimum(place + reach + 1, count)
        total, total_square = sums[high] - sums[low], squares[high] - squares[low]
        enough = np.isnan(scales) & (total > 0) & (total_square > 0) & (total**2 >= FOR_SCALE * total_square)
        scales[enough] = total[enough] / total_square[enough]
    return np.where(np.isnan(scales), weight.sum() / square.sum(), scales)


def lowest_order(edges: Doubles, weight: Doubles, square: Doubles, kind: Family, energy: Any) -> int:
    """The lowest order that describes the spectrum and that neither of the next two orders improves: an F-test."""
    from scipy.stats import f

    bins, fits = len(weight), {}
    most = min(kind.most, bins - 4)  # such that a fit with a signal has a degree of freedom
    for order in range(kind.least, most + 1):
        tried = range(order, min(order + AHEAD, most) + 1)
        for one in tried:
            if one not in fits:
                likelihood = Fit(edges, weight, square, kind, one, energy)
                fits[one] = likelihood.background()
        best, ndof = fits[order], bins - order - 1
        value = np.maximum(best.expected, FLOOR)
        pearson = np.sum((best.expected - likelihood.events) ** 2 / value)
        if pearson > ndof + MOST_PULLS * np.sqrt(2 * ndof + np.sum(1 / value)):
            continue
        ratios = [((best.chi2 - fits[k].chi2) / (k - order) / (fits[k].chi2 / (bins - k - 1)), k) for k in tried[1:]]
        if not any(f.sf(ratio, k - order, bins - k - 1) < IMPROVES for ratio, k in ratios):
            return order
    raise ValueError(
        f"no {kind.name} background of order {most} or less describes the events in bins: try another background, "
        "other bins, or give background_order"
    )
