"""The efficiency of a selection in cells of two masses, and how far it is from a polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._front import takes_events
from ._arguments import Cells, number, numbers, variables, weights, whole

# Columns of the fit, and variances of residuals, that are smaller by this factor than others are rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class EfficiencyMap:
    """Efficiency against two masses, see :func:`efficiency_map`. k_1 and k_2 are the numbers of bins.

    Examples
    --------
    >>> from libmode.metrics import efficiency_map
    >>> found = efficiency_map([0.2, 0.7, 0.9], [[1, 1], [1, 1], [2, 2]], 0.5, bins=[[0, 1.5, 3], [0, 1.5, 3]])
    >>> found.efficiency
    array([[0.5, nan],
           [nan, 1. ]])
    >>> found.total
    array([[2., 0.],
           [0., 1.]])
    """

    edges: tuple[NDArray[np.float64], NDArray[np.float64]]  #: (k_1 + 1,) and (k_2 + 1,) in units of mass
    efficiency: NDArray[np.float64]  #: (k_1, k_2) weight fraction of each cell that is selected
    error: NDArray[np.float64]  #: (k_1, k_2) its standard error
    total: NDArray[np.float64]  #: (k_1, k_2) sum of weights, selected or not


@dataclass(frozen=True, eq=False)
class ResidualMap:
    """Efficiency less its best polynomial in two masses, see :func:`residual_map`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import residual_map
    >>> rng = np.random.default_rng(1)
    >>> found = residual_map(rng.random(20_000), rng.random((20_000, 2)), 0.5, bins=4)
    >>> found.residual.shape, found.pull.shape
    ((4, 4), (4, 4))
    >>> print(f"{found.rms_pull:.2f} +- {1 / np.sqrt(2 * found.ndof):.2f}")
    0.85 +- 0.18
    """

    edges: tuple[NDArray[np.float64], NDArray[np.float64]]  #: (k_1 + 1,) and (k_2 + 1,) in units of mass
    residual: NDArray[np.float64]  #: (k_1, k_2) efficiency less polynomial
    expected: NDArray[np.float64]  #: (k_1, k_2) its standard error where the efficiency is such a polynomial
    ndof: int  #: cells that have an efficiency, less independent terms of the polynomial

    @property
    def pull(self) -> NDArray[np.float64]:
        """residual / expected, of shape (k_1, k_2); NaN also where the fit follows a cell whatever it has."""
        pull = np.full(self.residual.shape, np.nan)
        np.divide(self.residual, self.expected, out=pull, where=self.expected > 0)
        return pull

    @property
    def rms_pull(self) -> float:
        """The root of the mean squared pull over the cells: flatness in one number.

        It is 1 +- 1 / sqrt(2 ndof), about, where the efficiency is such a
        polynomial, whatever the number of events, and grows with their root
        where it is not.
        """
        return float(np.sqrt(np.nanmean(self.pull**2)))


@takes_events
def efficiency_map(score: Any, mass: Any, cut: float, *, bins: Any = 10, weight: Any = None) -> EfficiencyMap:
    """The efficiency of ``score >= cut`` in each cell of a plane of two masses.

    With p_i = 1 for selected events and 0 for others, in each cell::

        n          = (sum_i w_i)^2 / sum_i w_i^2                            the effective number of events
        efficiency = sum_i w_i p_i / sum_i w_i
        v          = sum_i w_i^2 (p_i - efficiency)^2 / (sum_i w_i)^2
        error      = sqrt(v + 1 / (4 n^2)) / (1 + 1 / n)

    v is the variance of a ratio of weighted sums (linearised), which for unit
    weights is that of the binomial distribution. A cell of few events may have
    all or none of them selected, and then v is 0; so the error is half the
    width of Wilson's interval (E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209,
    at one standard deviation), which tends to sqrt(v) for many events, and is
    1 / (2 (n + 1)) there. (The error of :func:`efficiency` is sqrt(v).)

    Parameters
    ----------
    score : (n,) real numbers
        Of the events whose response is to be flat: of the background, or of
        the signal where that is the protected one.
    mass : (n, 2) real numbers
        The two masses, each in its own unit.
    cut : number
        An event at the cut passes.
    bins : an integer, or two entries, each of them an integer or (k + 1,) increasing numbers
        How many bins of equal width each mass has from its lowest to its
        highest value, or edges. Each bin holds its lower edge, the last one its
        upper edge too; events outside are not counted.
    weight : (n,) real numbers of either sign, optional

    Returns
    -------
    EfficiencyMap
        ``efficiency`` and ``error`` are NaN, without a warning, in cells that
        have no event, as outside of a Dalitz plot, and in those whose weights
        do not have a positive sum; ``total`` tells which is which. With
        negative weights, efficiencies may lie outside [0, 1].

    Raises
    ------
    ValueError
        If no event lies inside the bins; for other bad values, with argument,
        value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import efficiency_map
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.uniform(0, 1, (20_000, 2)), rng.random(20_000)
    >>> found = efficiency_map(score * mass[:, 0], mass, 0.25, bins=2)
    >>> found.efficiency.round(2)
    array([[0.16, 0.16],
           [0.66, 0.65]])
    """
    cells = _counted(score, mass, cut, bins, weight)
    known = cells.known
    variance = cells.variance_around(cells.efficiency)
    error = np.sqrt(variance + 1 / (4 * cells.effective**2)) / (1 + 1 / cells.effective)
    return EfficiencyMap(
        cells.edges, cells.spread(cells.efficiency), cells.spread(error), cells.total.reshape(known.shape)
    )


@takes_events
def residual_map(
    score: Any, mass: Any, cut: float, *, order: int = 0, bins: Any = 10, weight: Any = None
) -> ResidualMap:
    """The efficiency in cells of two masses, less the best polynomial of a total degree.

    With W_c, n_c and e_c the sum of weights, the effective number of events and
    the efficiency of cell c (see :func:`efficiency_map`), and P_ca the mean over
    the events in it of the products P_a(x_1) P_b(x_2) of Legendre polynomials,
    a + b <= order, of masses scaled to [-1, 1] over the bins::

        f        = H e,   H = P (P' W P)^-1 P' W                     (least squares with weights W_c)
        residual = e - f
        V_c      = r f_c (1 - f_c) / n_c
        expected = sqrt(diag[(1 - H) V (1 - H)'])

    A polynomial efficiency of the events gives just such e_c on average, also
    in cells that are filled in part. For order 0, f is the overall efficiency.
    V is the variance of the e_c where the polynomial is right: it has no zeros
    where all or none of a few events are selected, and no correlation with e_c
    that would pull the pulls. (f_c is taken as 1 / (2 n_c + 2) away from 0 and 1
    at least.) The number r is 1 for unit weights and order 0, and about 1 where
    weights do not depend on the score within a cell; in general, over all events::

        r = sum_i w_i^2 (p_i - f_c(i))^2 / sum_i w_i^2 f_c(i) (1 - f_c(i))

    Parameters
    ----------
    score, mass, cut, bins, weight
        As for :func:`efficiency_map`.
    order : int, at least 0
        The total degree: what the response was allowed to have. There are more
        cells with events than the (order + 1) (order + 2) / 2 terms.

    Returns
    -------
    ResidualMap
        ``residual / expected`` (``pull``) has mean 0 and width 1 where the
        efficiency is such a polynomial. NaN in the cells where
        :func:`efficiency_map` has NaN; they take no part in the fit. ``expected``
        is 0 where the fit follows the cell, whatever it has.

    Raises
    ------
    ValueError
        If there are too few cells for the order; if all or none of the weight
        inside the bins is selected; for other bad values, with argument, value and place.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import residual_map
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.uniform(0, 1, (20_000, 2)), rng.random(20_000)
    >>> for order in (0, 1):  # the efficiency is linear in the first mass
    ...     print(f"{residual_map(score - mass[:, 0] / 2, mass, 0.3, order=order).rms_pull:.1f}")
    4.1
    1.0
    """
    order = whole("order", order, 0)
    cells = _counted(score, mass, cut, bins, weight)
    total = cells.total[cells.known.ravel()]
    overall = float(np.sum(total * cells.efficiency) / np.sum(total))
    if not 0 < overall < 1:
        raise ValueError(f"cut = {cut:g} selects the fraction {overall:g} of the weight: expected a part of it")
    # With Q'Q = 1, H = W^(-1/2) Q Q' W^(1/2); so H need not be stored for many cells.
    root = np.sqrt(total)
    left, size, _ = np.linalg.svd(root[:, None] * _terms(cells, order), full_matrices=False)
    q = left[:, size > ROUNDING * size[0]]
    ndof = len(root) - q.shape[1]
    if ndof <= 0:
        raise ValueError(
            f"order = {order} has {q.shape[1]} independent terms for {len(root)} cells with events: expected fewer, "
            "or nothing is left; use more bins or a lower order"
        )
    best = q @ (q.T @ (root * cells.efficiency)) / root
    variance = _variance_of(best, cells)
    leverage = np.sum(q**2, axis=1)
    of_fit = np.einsum("ca,ab,cb->c", q, q.T @ ((root**2 * variance)[:, None] * q), q) / root**2
    expected2 = variance * (1 - 2 * leverage) + of_fit
    expected2[expected2 < ROUNDING * variance] = 0
    return ResidualMap(cells.edges, cells.spread(cells.efficiency - best), cells.spread(np.sqrt(expected2)), ndof)


class _Counted(NamedTuple):
    """What cells hold. ``known`` are those with an efficiency, in number m."""

    edges: tuple[NDArray[np.float64], NDArray[np.float64]]
    total: NDArray[np.float64]  # (k_1 k_2,)
    known: NDArray[np.bool_]  # (k_1, k_2)
    efficiency: NDArray[np.float64]  # (m,)
    effective: NDArray[np.float64]  # (m,), n
    place: NDArray[np.intp]  # of each event that is in a known cell, 0 to m - 1
    mass: NDArray[np.float64]  # (events, 2)
    selected: NDArray[np.bool_]
    weight: NDArray[np.float64]

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the m cells as a map, (k_1, k_2), with NaN for the others."""
        out = np.full(self.known.shape, np.nan)
        out[self.known] = values
        return out

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weighted mean over the events of each of the m cells."""
        return _per_cell(self, self.weight * values) / self.total[self.known.ravel()]

    def variance_around(self, efficiency: NDArray[np.float64]) -> NDArray[np.float64]:
        """sum_i w_i^2 (p_i - efficiency)^2 / (sum_i w_i)^2 of each of the m cells."""
        squares = _per_cell(self, (self.weight * (self.selected - efficiency[self.place])) ** 2)
        variance: NDArray[np.float64] = squares / self.total[self.known.ravel()] ** 2
        return variance


def _per_cell(cells: _Counted, values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.bincount(cells.place, values, len(cells.efficiency)).astype(np.float64, copy=False)


def _counted(score: Any, mass: Any, cut: Any, bins: Any, weight: Any) -> _Counted:
    scores = numbers("score", score)
    masses = variables(mass, "score", scores, 2)
    weigh = weights(weight, "score", scores)
    selected = scores >= number("cut", cut)
    grid = Cells(bins, masses)
    place = grid.find(masses)
    inside = place >= 0
    place, masses, selected, weigh = place[inside], masses[inside], selected[inside], weigh[inside]

    total = grid.sums(place, weigh)
    known = total > 0
    if not known.any():
        raise ValueError("weight has a positive sum in no cell: expected at least one")
    passed, squares = (grid.sums(place, values)[known] for values in (weigh * selected, weigh**2))
    kept = known[place]
    number_of = np.cumsum(known) - 1
    return _Counted(
        edges=(grid.axes[0].edges, grid.axes[1].edges),
        total=total,
        known=known.reshape(grid.shape),
        efficiency=passed / total[known],
        effective=total[known] ** 2 / squares,
        place=number_of[place[kept]],
        mass=masses[kept],
        selected=selected[kept],
        weight=weigh[kept],
    )


def _terms(cells: _Counted, order: int) -> NDArray[np.float64]:
    """P, (m, (order + 1) (order + 2) / 2): the mean over each cell's events of the products of polynomials."""
    factors = []
    for edges, mass in zip(cells.edges, cells.mass.T, strict=True):
        x = 2 * (mass - edges[0]) / (edges[-1] - edges[0]) - 1
        factors.append(np.polynomial.legendre.legvander(x, order))
    products = [(a, degree - a) for degree in range(order + 1) for a in range(degree, -1, -1)]
    return np.column_stack([cells.mean(factors[0][:, a] * factors[1][:, b]) for a, b in products])


def _variance_of(best: NDArray[np.float64], cells: _Counted) -> NDArray[np.float64]:
    """V of :func:`residual_map`, (m,)."""
    least = 1 / (2 * cells.effective + 2)
    inside = np.clip(best, least, 1 - least)
    binomial: NDArray[np.float64] = inside * (1 - inside) / cells.effective
    total2 = cells.total[cells.known.ravel()] ** 2
    ratio: float = np.sum(total2 * cells.variance_around(inside)) / np.sum(total2 * binomial)
    return ratio * binomial
