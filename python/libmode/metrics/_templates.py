"""Spurious signals: fits of templates at every mass to the background that a cut selects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from ._bins import Doubles, sums

# Constants of the verdict, as those of _rule, _response and _judge; the docstring of check names each.
TEN = 10  # effective selected events under a template, at least
NEXT = 2  # degrees above the order, which are templates too
POOLED = 400  # effective events that tell how heavy the weights of a place are
SMALL = 0.05  # of the mean efficiency, for variances; and of max_slope, since a fit absorbs a line of any slope
HALF = 0.5  # of the background
WIDTHS = 1 / 20, 1 / 100  # of the range, where no signal gives a width


class Variable:
    """One variable of mass in cells of equal width, and the templates in them."""

    def __init__(self, mass: Doubles, ends: tuple[float, float], widths: Doubles, order: int) -> None:
        (low, high), self.order = ends, order
        self.low, self.high = ends
        relative = widths / (high - low)
        self.count = int(np.ceil(2 / min(relative.min(), *WIDTHS)))
        # An event on an edge lies in the same cell in any unit of mass.
        place = np.floor((mass - low) / (high - low) * self.count + 1e-9)
        self.place = np.clip(place, 0, self.count - 1).astype(np.intp)
        self.edges = np.linspace(low, high, self.count + 1)
        center = (np.arange(self.count) + 0.5) / self.count
        self.basis = legvander(2 * center - 1, order + NEXT).T
        at = [np.linspace(0, 1, int(np.ceil(1 / width)) + 1) for width in relative]
        self.at = low + np.concatenate(at) * (high - low)
        self.widths = np.repeat(widths, [len(each) for each in at])
        distance = (np.concatenate(at)[:, None] - center) / np.repeat(relative, [len(each) for each in at])[:, None]
        self.shape = np.exp(-0.5 * distance**2)  #: (templates, cells), 1 at the mass of the template


class Cells(NamedTuple):
    """Background before the cut in the cells of a variable, (cells,)."""

    weight: Doubles
    square: Doubles  #: sums of squared weights as expected from the neighborhood, at least those of the cell
    cube: Doubles  #: the same of |w|^3
    expected: Doubles  #: sums of weights as expected from the number of events


def cells(place: NDArray[np.intp], weight: Doubles, count: int) -> Cells:
    """The cells of events at these places."""
    number = np.bincount(place, minlength=count).astype(float)
    if (weight == weight[0]).all():
        w = float(weight[0])
        return Cells(w * number, w**2 * number, abs(w) ** 3 * number, w * number)
    total, square, cube = (sums(place, each, count) for each in (weight, weight**2, np.abs(weight) ** 3))
    near = [_local(each, number, total, square) * number for each in (total, square, cube)]
    return Cells(total, np.maximum(near[1], square), np.maximum(near[2], cube), near[0])


def _local(values: Doubles, number: Doubles, weight: Doubles, square: Doubles) -> Doubles:
    """Values per event, (c,), of the nearest cells that together have enough effective events.

    Without this a place that has no heavy event by chance would have too small an error.
    """
    up_to = [np.concatenate([[0.0], np.cumsum(each)]) for each in (values, number, weight, square)]
    place, ratio = np.arange(len(values)), np.full(len(values), values.sum() / number.sum())
    missing, reach = np.ones(len(values), bool), 1
    while missing.any() and reach < len(values):
        low, high = np.maximum(place - reach, 0), np.minimum(place + reach + 1, len(values))
        total, count, weights, squares = (each[high] - each[low] for each in up_to)
        known = missing & (weights > 0) & (weights**2 >= POOLED * squares) & (count > 0)
        ratio[known] = total[known] / count[known]
        missing &= ~known
        reach = max(reach + 1, reach * 5 // 4)
    return ratio


class Scan(NamedTuple):
    """What the fits of all templates find, (k,) each; the last ones are terms of the next degrees, of no width."""

    at: Doubles  #: the mass, or the degree of a term
    width: Doubles  #: NaN of a term
    signal: Doubles  #: in errors of this sample
    z: Doubles  #: its significance, Gaussian also for few events
    own: Doubles  #: an error of this sample in errors of a search that has as many events
    size: Doubles  #: an error of this sample in errors of the search
    height: Doubles  #: an error of this sample over the background under the template
    events: Doubles  #: effective selected events under it
    known: NDArray[np.bool_]

    def place(self, k: int, name: str) -> str:
        """Where a template is, in words."""
        if np.isnan(self.width[k]):
            return f"degree {self.at[k]:.0f} of {name}"
        return f"{name} {self.at[k]:.4g} (width {self.width[k]:.3g})"


def scan(
    variable: Variable, before: Cells, selected: Doubles, square: Doubles, heavier: Doubles, unit: float | None
) -> Scan:
    """The fits of selected_i = t_i (c_0 P_0 + ... + c_order P_order) + S Gauss_i to cells, by least squares.

    ``selected`` and ``square`` are sums of w and w^2 over the events of each cell that pass, ``heavier`` the selected
    shares of w^2 and of |w|^3 over that of w. ``unit`` is the weight of an event of the search; None: as here.
    """
    used = (before.square > 0) & (before.weight > 0)
    total, expected, squares = before.weight[used], before.expected[used], before.square[used]
    basis, passed = variable.basis[:, used], selected[used]
    terms, mean = variable.order + 1, float(selected.sum() / before.weight.sum())
    design, instrument = total * basis[:terms], expected * basis[:terms]
    of_square, of_cube = heavier.tolist()
    efficiency = np.full(len(total), np.clip(mean, 1e-12, 1 - 1e-12))
    for _ in range(2):
        part = np.clip(of_square * efficiency, 0, 1)
        variance = squares * (part * (1 - efficiency) ** 2 + (1 - part) * efficiency**2)
        precision = 1 / np.maximum(_smooth(variance, used), 1e-12 * variance.max())
        weighed = instrument * precision
        inverse = np.linalg.pinv(weighed @ design.T)
        coefficients = inverse @ (weighed @ passed)
        efficiency = np.clip(coefficients @ basis[:terms], SMALL * mean, 1 - SMALL * (1 - mean))
    near = variable.shape[:, used].max(axis=1, initial=0) > 0.5  # a template between masses of few values sees nothing
    gauss = variable.shape[np.ix_(near, used)]
    templates = np.vstack([gauss, basis[terms:] * expected * efficiency])
    # What the polynomial cannot describe of each template; the sums of weights have instruments, since a heavy event
    # of a high score is on both sides of the equation.
    free = templates - (templates * precision) @ design.T @ inverse @ instrument
    scale = np.einsum("ki,ki->k", free * precision, templates)
    part, third = np.clip(of_square * efficiency, 0, 1), np.clip(of_cube * efficiency, 0, 1)
    variance = squares * (part * (1 - efficiency) ** 2 + (1 - part) * efficiency**2)
    skewness = before.cube[used] * (third * (1 - efficiency) ** 3 - (1 - third) * efficiency**3)
    fine = scale > 1e-9 * np.einsum("ki,ki->k", templates * precision, templates)  # is more than a polynomial
    fit = free * precision / np.where(fine, scale, np.inf)[:, None]
    here = squares * part
    searches = here, here if unit is None else unit * efficiency * expected
    error, own, search = (np.where(fine, np.sqrt(fit**2 @ each), 1) for each in (variance, *searches))
    signal = fit @ (passed - coefficients @ design)
    z = significance(signal / error, fit**3 @ skewness / error**3)
    under = gauss @ (efficiency * expected)
    events = under**2 / np.maximum(gauss**2 @ (squares * part), 1e-300)
    seen = (gauss @ passed) ** 2 / np.maximum(gauss**2 @ square[used], 1e-300)
    known = np.maximum(events, seen) >= TEN
    rows = np.arange(terms, terms + NEXT)
    enough = np.full(NEXT, passed.sum() ** 2 >= TEN * square.sum())
    height = error[: len(gauss)] * np.sum(gauss**2, axis=1) / np.maximum(under, 1e-300)
    return Scan(
        np.append(variable.at[near], rows), np.append(variable.widths[near], np.full(NEXT, np.nan)), signal / error, z,
        error / own, error / search, np.append(height, error[len(gauss) :]),
        np.append(events, np.full(NEXT, np.inf)), np.append(known, enough) & fine,
    )  # fmt: skip


def _smooth(variance: Doubles, used: NDArray[np.bool_]) -> Doubles:
    """Means over five neighboring cells, so that the weights of a fit do not follow the events of single cells."""
    spread, count = np.zeros(len(used)), used.astype(float)
    spread[used] = variance
    kernel = np.ones(5)
    return np.asarray((np.convolve(spread, kernel, "same") / np.maximum(np.convolve(count, kernel, "same"), 1))[used])


def significance(z: Doubles, skewness: Doubles) -> Doubles:
    """The significance of a sum whose distribution is skewed: that of a scaled Poisson variable of equal moments.

    By E. B. Wilson and M. M. Hilferty, Proc. Nat. Acad. Sci. 17 (1931) 684. It grows with z.
    """
    sign = np.where(skewness < 0, -1.0, 1.0)
    size = np.maximum(np.abs(skewness), 1e-4)
    mean = 1 / size**2
    count = np.maximum(mean + sign * z / size, 0)

    def tail(x: Doubles) -> Doubles:
        return np.asarray(3 * np.sqrt(x) * (1 - 1 / (9 * x) - np.cbrt(mean / x)))

    above, below = tail(np.maximum(count, mean)), tail(np.minimum(count, mean) + 1)
    return np.asarray(sign * np.where(count > mean, np.maximum(above, 0), np.minimum(below, 0)))
