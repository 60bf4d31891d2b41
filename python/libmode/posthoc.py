"""Maps of the scores of a finished classifier, which remove their dependence on the mass or make it smooth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import needed
from ._options import check
from ._problems import say_if_far
from ._read import as_array, finite, together, variables, whole

with needed("sklearn", "libmode.posthoc", "posthoc"):
    from scipy.interpolate import BSpline
    from scipy.linalg import cholesky, solve_triangular
    from scipy.sparse import coo_array, csr_array
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.isotonic import isotonic_regression
    from sklearn.utils.validation import check_is_fitted

__all__ = ["QuantileMap"]

Doubles = NDArray[np.float64]
_DEGREE = 3  # of the splines
_LEVELS = 512  # of the score, with equal numbers of events between neighbors
_IN_TAIL = 10  # events beyond the last level but one, on either side
_MOST_INTERVALS = (100, 20, 7)  # of the mass, by the number of variables
_CHUNK = 1 << 16  # events at a time, which stay in cache
_GRID = (32, 8, 8)  # cells of each interval, in which the mean stands for all masses, by the number of variables
# Strengths of the penalty, in events: from nearly no smoothing to the strongest.
_STRENGTHS = tuple(0.1 * 4.0**k for k in range(14))
_JUDGED = 32  # levels at which the map is judged to choose its strength
_LEAST_RISE = 1e-5  # share of the H_k that rises evenly: where H were flat, its inverse would jump by rounding
_OF_TARGETS = 2.0  # strength of the penalty for the H_k, which keeps rounding errors out of high orders
_EVERY, _TAIL = 4, 16  # of a correction: each fourth level of the score is a node, and the first and last 16
_PARTS = 2  # of an interval of the mass that has the median width; wider ones have more
_INPUTS = ["score", "mass"]
# The value at the lowest corner of a cell, and slopes times the distances from that corner.
_FORMULA = "[0]+[1]*(x-[4])+([2]+[3]*(x-[4]))*(y-[5])"


class QuantileMap(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Maps a score so that the background efficiency of every cut is a polynomial in mass.

    With G(s|m) the background's distribution of scores at mass m (the probability of a score up to s),
    ``order=None`` gives G itself. Order p gives::

        z = H^-1(G(s|m) | m),    H(s|m) = sum_k B_{k,p}(u) H_k(s),    u = (m - low)/(high - low)

    with Bernstein's polynomials B_{k,p}(u) = (p over k) u^k (1 - u)^(p-k) and non-decreasing H_k, so that P(z <= t |
    m) = H(t|m) is a polynomial of degree p in the mass at every t. H is fitted to the scores: order 0 is flat on the
    score's own scale (DDT, J. Dolen et al., arXiv:1603.00027, for every cut and any dependence), order 1 or 2 keeps
    the linear or quadratic part of the dependence and removes the rest, as the MoDe loss (arXiv:2010.09745) does in a
    training.

    At each of some 500 levels of the score, G is a least-squares cubic spline in the mass. Its coefficients do not
    decrease with the level. So G is smooth in the mass and monotone in the score. Generalized cross-validation finds
    the strength of a penalty on their second differences, and so how smooth G is.

    Parameters
    ----------
    order : int from 0 to 16, or None
        p, the decision of the analysis, without a default. Several variables of mass have order 0 or None.
    intervals : int, optional
        Pieces of the spline, with equally many events in each; by default twice the root of their number, up to 100; of
        several variables cells, up to 20 pieces for each of two variables and 7 of three.
    mass_range : (low, high), optional
        The range of the fitted masses; by default from the lowest to the highest. With several variables, one range
        for each. A mass outside uses the map at the nearest end.

    Attributes
    ----------
    levels_ : (k,) increasing scores
    knots_ : list of arrays, of each variable the ends of its intervals
    coefficients_ : (k, functions), of G at each level
    targets_ : (k, p + 1) the H_k at each level, or None

    Notes
    -----
    Scores outside the fitted range keep their distance from its end; order None gives 1 and 0 there. Equal scores of
    equal mass stay equal, as from a few trees. The same map moves the signal, which changes its shape in mass
    (docs/posthoc.md). Neither a common factor of the weights nor the order of the events matters.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import check
    >>> from libmode.posthoc import QuantileMap
    >>> rng = np.random.default_rng(1)
    >>> mass = 50 + rng.exponential(60, 10_000)  # of background
    >>> score = rng.random(10_000) ** (mass / 100)
    >>> flat = QuantileMap(order=0).fit(score, mass).transform(score, mass)
    >>> cut = check(flat, None, mass, order=0, background_efficiency=0.2).cuts[0]
    >>> print(f"residual {cut.residual:.2f}, by statistics alone {cut.expected:.2f}")  # 0.38 before
    residual 0.04, by statistics alone 0.09
    """

    def __init__(
        self, order: int | str | None = "missing", *, intervals: int | None = None, mass_range: Any = None
    ) -> None:
        self.order = order
        self.intervals = intervals
        self.mass_range = mass_range

    def fit(self, score: Any, mass: Any, *, sample_weight: Any = None) -> QuantileMap:
        """Fits the map to background: scores (n,), masses (n,) or (n, d), d up to 3, and ``sample_weight`` (n,).

        ValueError or TypeError for bad options, arrays that do not fit each other, values that are not finite, fewer
        than 100 effective events, (sum w)^2 / sum w^2, equal scores, and weights whose sum is not positive.
        """
        order = self.order
        if order is not None:  # the core knows which there are
            order = check("mode", {} if order == "missing" else {"order": order}).values["order"]
        scores, masses, weights = _events(score, mass, sample_weight)
        if masses.shape[1] > 1 and order:
            raise ValueError(
                f"order = {order} and mass has {masses.shape[1]} variables: several variables need order 0 or None"
            )
        ranges = _ranges(self.mass_range, masses, as_array("mass", mass).dtype)
        inside = ((masses >= ranges[:, 0]) & (masses <= ranges[:, 1])).all(axis=1)
        scores, masses, weights = scores[inside], masses[inside], weights[inside]
        ordered = np.lexsort((weights, *masses.T, scores))  # so that rounding does not depend on the order of rows
        scores, masses, weights = scores[ordered], masses[ordered], weights[ordered]
        total = float(weights.sum()) if len(weights) else 1.0
        if not 0 < total < math.inf:
            raise ValueError(f"the weights sum to {total:g}: must be positive and finite")
        weights = weights / np.abs(weights).max(initial=0)  # whose squares neither overflow nor vanish
        weights *= weights.sum() / (weights @ weights or 1)  # whose sum is the number of effective events
        if round(weights.sum()) < 100:
            raise ValueError(
                f"{len(scores)} events inside mass_range count as {weights.sum():.3g} by their weights, (sum w)^2 / "
                "sum w^2: at least 100 are needed"
            )
        self.levels_ = _levels(scores)
        usual = int((2 * math.sqrt(round(weights.sum()))) ** (1 / len(ranges)))  # rounding of weights moves no knot
        usual = min(usual, _MOST_INTERVALS[len(ranges) - 1])
        intervals = usual if self.intervals is None else whole("intervals", self.intervals, 1)
        self.knots_ = [_knots(mass, ends, intervals) for mass, ends in zip(masses.T, ranges, strict=True)]
        cell = np.searchsorted(self.levels_, scores)  # an event counts at its level and those above
        self.coefficients_ = self._fitted(cell, masses, weights)
        self.targets_ = None
        if order is not None:
            columns = bernstein(masses[:, 0], ranges[0], order)
            weighted = columns * weights[:, None]
            shares = [np.bincount(cell, column, len(self.levels_)) for column in weighted.T]
            gram = columns.T @ weighted + _OF_TARGETS * _roughness([order + 1])
            rising = (self.levels_ - self.levels_[0]) / (self.levels_[-1] - self.levels_[0])
            targets = self._solved(gram, np.array(shares), cell)
            self.targets_ = (1 - _LEAST_RISE) * targets + _LEAST_RISE * rising[:, None]
        self.ranges_ = ranges
        return self

    def _fitted(self, cell: NDArray[np.intp], masses: Doubles, weights: Doubles) -> Doubles:
        """The coefficients of G at each level: least squares of Theta(level - s) by the splines."""
        place, means = _gridded(masses, self.knots_)
        counted = coo_array((weights, (place, cell)), (len(means), len(self.levels_))).tocsr()
        numbers, values = splines(self.knots_, means)
        counts = [len(knots) + _DEGREE - 1 for knots in self.knots_]
        starts = np.arange(0, numbers.size + 1, numbers.shape[1])
        functions = csr_array((values.ravel(), numbers.ravel(), starts), (len(means), math.prod(counts)))
        gram = (functions.T @ functions.multiply(counted.sum(axis=1)[:, None])).toarray()
        squares = np.bincount(place, weights**2, len(means))
        noise = (functions.T @ functions.multiply(squares[:, None])).toarray()
        shares = (functions.T @ counted).toarray()
        return self._solved(_smoothed(gram, noise, shares, _roughness(counts)), shares, cell)

    def _solved(self, gram: Doubles, shares: Doubles, cell: NDArray[np.intp]) -> Doubles:
        """Least squares from the shares of each level, (functions, k): columns that do not decrease."""
        rows = np.linalg.solve(gram, np.cumsum(shares, axis=1)).T
        events = np.maximum(np.bincount(cell, minlength=len(self.levels_)), 1.0)
        coefficients = np.column_stack([isotonic_regression(column, sample_weight=events) for column in rows.T])
        # With several variables, a coefficient of few events may leave [0, 1], which its neighbors make up for.
        return np.clip(coefficients, 0, 1) if len(self.knots_) == 1 else coefficients

    def transform(self, score: Any, mass: Any) -> Doubles:
        """Scores (n,), mapped, of events of masses (n,) or (n, d)."""
        check_is_fitted(self)
        scores, masses, _ = _events(score, mass, None)
        if masses.shape[1] != len(self.knots_):
            raise ValueError(f"mass has {masses.shape[1]} variables, but the map was fitted with {len(self.knots_)}")
        chunks = [slice(start, start + _CHUNK) for start in range(0, len(scores), _CHUNK)]
        return np.concatenate([np.empty(0), *(self._mapped(scores[chunk], masses[chunk]) for chunk in chunks)])

    def fit_transform(self, score: Any, mass: Any, *, sample_weight: Any = None) -> Doubles:
        """Fits the map, and maps the same events."""
        return self.fit(score, mass, sample_weight=sample_weight).transform(score, mass)

    def _mapped(self, scores: Doubles, masses: Doubles) -> Doubles:
        levels = self.levels_
        numbers, values = splines(self.knots_, masses)
        at = np.clip(np.searchsorted(levels, scores, side="right") - 1, 0, len(levels) - 2)
        below, above = (np.einsum("ij,ij->i", self.coefficients_[(at + k)[:, None], numbers], values) for k in (0, 1))
        share = np.clip((scores - levels[at]) / (levels[at + 1] - levels[at]), 0, 1)
        probability = np.clip(below + share * (above - below), 0, 1)
        if self.targets_ is None:
            return np.where(scores < levels[0], 0.0, probability)
        polynomials = bernstein(masses[:, 0], self.ranges_[0], self.targets_.shape[1] - 1)
        mapped = _inverse(levels, self.targets_, polynomials, probability)
        outside = scores - np.clip(scores, levels[0], levels[-1])
        return mapped + outside

    def to_correction(self, name: str = "quantile_map") -> dict[str, Any]:
        """The map as a correction of correctionlib (schema v2), which C++, Python and coffea evaluate.

        Its ``name`` is yours, and its inputs are "score" and "mass". It is the map at the nodes of a grid, with lines
        between: every fourth level of the score, and two or more of each interval of the mass. The dictionary is for
        JSON, in the list "corrections" of a file with "schema_version" 2, of 6 to 10 MB and a quarter as .json.gz.
        ValueError for a map of several variables of mass, NotFittedError without a fit.
        """
        check_is_fitted(self)
        if len(self.knots_) > 1:
            raise ValueError(f"the map has {len(self.knots_)} variables of mass: a correction takes one")
        place = np.arange(len(self.levels_))
        score = self.levels_[(place % _EVERY == 0) | (place < _TAIL) | (place >= len(place) - _TAIL)]
        mass = _nodes(self.knots_[0])
        mapped = self.transform(np.repeat(score, len(mass)), np.tile(mass, len(score))).reshape(len(score), -1)
        # Beyond the nodes the map moves with the score, and is constant in the mass.
        mapped = np.pad(np.concatenate([mapped[:1] - 1, mapped, mapped[-1:] + 1]), [(0, 0), (1, 1)], "edge")
        scores, masses = np.r_[score[0] - 1, score, score[-1] + 1], np.r_[mass[0] - 1, mass, mass[-1] + 1]
        slope = np.diff(mapped, axis=0) / np.diff(scores)[:, None]
        of_mass = np.diff(mapped, axis=1) / np.diff(masses)
        both = np.diff(slope, axis=1) / np.diff(masses)
        corners = np.meshgrid(scores[:-1], masses[:-1], indexing="ij")
        rows = np.stack([mapped[:-1, :-1], slope[:, :-1], of_mass[:-1], both, *corners], -1)
        if self.targets_ is None:  # probabilities, which are 0 and 1 there
            rows[[0, -1], :, :4] = 0
            rows[-1, :, 0] = 1
        return {
            "name": name,
            "description": f"{self!r} of libmode: the mapped score",
            "version": 1,
            "inputs": [{"name": one, "type": "real"} for one in _INPUTS],
            "output": {"name": "mapped", "type": "real"},
            "generic_formulas": [
                {"nodetype": "formula", "expression": _FORMULA, "parser": "TFormula", "variables": _INPUTS}
            ],
            "data": {
                "nodetype": "multibinning",
                "inputs": _INPUTS,
                "edges": [["-inf", *nodes.tolist(), "inf"] for nodes in (score, mass)],
                "content": [
                    {"nodetype": "formularef", "index": 0, "parameters": row} for row in rows.reshape(-1, 6).tolist()
                ],
                "flow": "clamp",
            },
        }


def _events(score: Any, mass: Any, weight: Any) -> tuple[Doubles, ...]:
    """Scores (n,), masses (n, d) and weights (n,), by default 1, in float64 and finite."""
    named = {"score": score, "mass": mass} | ({} if weight is None else {"sample_weight": weight})
    arrays = zip(named, together(as_array, variables, **named), strict=True)
    scores, masses, *weights = (finite(name, array.astype(float)) for name, array in arrays)
    return scores, masses if masses.ndim == 2 else masses[:, None], weights[0] if weights else np.ones(len(scores))


def _ranges(mass_range: Any, masses: Doubles, kind: np.dtype[Any]) -> Doubles:
    """The lowest and highest mass of each variable, (d, 2), of masses that were of this kind."""
    count = masses.shape[1]
    if mass_range is None:
        any(say_if_far(column, "mass_range") for column in masses.T)  # says it once
        ends = [(column.min(), column.max()) if len(column) else (0, 1) for column in masses.T]
        limits, wrong = np.array(ends, float), "all masses are {0:g}: no score can depend on them"
    else:
        limits = np.asarray(mass_range, float).reshape(-1, 2)
        if kind.kind == "f":  # a mass of float32 on a limit lies inside
            limits = limits.astype(kind).astype(float)
        wrong = "mass_range = ({0:g}, {1:g}): must be two finite numbers, the lower one first"
        if len(limits) != count:
            raise ValueError(f"mass_range has {len(limits)} pairs, but mass has {count} variables")
    for low, high in limits:
        if not -math.inf < low < high < math.inf:
            raise ValueError(wrong.format(low, high))
    return limits


def _levels(scores: Doubles) -> Doubles:
    """Quantiles of sorted scores, 100 at least, from the lowest to the highest, and finer ones towards either end."""
    last = len(scores) - 1
    tail = np.geomspace(_IN_TAIL, max(len(scores) / _LEVELS, _IN_TAIL), 8)
    levels = np.unique(scores[np.concatenate([np.linspace(0, last, _LEVELS + 1), tail, last - tail]).astype(int)])
    if len(levels) < 2:
        raise ValueError(f"all scores are {levels[0]:g}: a map needs scores that differ")
    return levels


def _knots(mass: Doubles, ends: Doubles, intervals: int) -> Doubles:
    """Increasing ends of intervals with about equally many events."""
    inner = np.quantile(mass, np.linspace(0, 1, intervals + 1)[1:-1])
    return np.unique([ends[0], *inner.clip(*ends), ends[1]])


def _nodes(knots: Doubles) -> Doubles:
    """The knots, and masses between."""
    widths = np.diff(knots)
    counts = np.clip(np.ceil(_PARTS * widths / np.median(widths)), _PARTS, 8 * _PARTS).astype(int)
    pairs = zip(knots, knots[1:], counts, strict=False)
    parts = [np.linspace(low, high, count, endpoint=False) for low, high, count in pairs]
    return np.asarray(np.concatenate([*parts, knots[-1:]]))


def _gridded(masses: Doubles, knots: Sequence[Doubles]) -> tuple[NDArray[np.intp], Doubles]:
    """The cell of each event in a fine grid, and the mean masses of those cells that have events."""
    number = np.zeros(len(masses), np.int64)
    cells = _GRID[len(knots) - 1]
    for ends, mass in zip(knots, masses.T, strict=True):
        edges = np.interp(np.linspace(0, len(ends) - 1, cells * (len(ends) - 1) + 1), range(len(ends)), ends)
        number = number * (len(edges) - 1) + np.clip(np.searchsorted(edges, mass, "right") - 1, 0, len(edges) - 2)
    place = np.unique(number, return_inverse=True)[1]
    means = [np.bincount(place, mass) / np.bincount(place) for mass in masses.T]
    return place, np.column_stack(means)


def _smoothed(gram: Doubles, noise: Doubles, shares: Doubles, rough: Doubles) -> Doubles:
    """The matrix M = gram + strength * rough of penalized least squares, with the strength of the best prediction.

    Generalized cross-validation (P. Craven and G. Wahba, Numer. Math. 31 (1979) 377) compares the sums of squares over
    (n - t)^2, with the number of free parameters t = trace(M^-1 noise). Each level counts by its sum over F (1 - F).
    """
    for least in _STRENGTHS:
        with suppress(np.linalg.LinAlgError):  # negative weights outweigh the others somewhere
            factor = cholesky(gram + least * rough, lower=True)
            break
    else:
        return gram + _STRENGTHS[-1] * rough

    def whitened(matrix: Doubles) -> Doubles:
        return np.asarray(solve_triangular(factor, matrix, lower=True))

    # In these directions gram + least * rough is 1, and rough diagonal.
    stiff, directions = np.linalg.eigh(whitened(whitened(rough).T))
    free = np.sum(directions * (whitened(whitened(noise).T) @ directions), axis=0)
    events = float(shares.sum())
    levels = np.linspace(0, shares.shape[1] - 1, _JUDGED + 2).astype(int)[1:-1]
    sums = np.cumsum(shares, axis=1)[:, levels]
    total = sums.sum(axis=0)
    spread = total * (events - total)
    total, spread, sums = (array[..., spread > 0] for array in (total, spread, directions.T @ whitened(sums)))

    def score(strength: float) -> float:
        share = 1 / (1 + (strength - least) * stiff)
        # With the solution b, sum w (y - f)^2 = sum w y - b (2 sums - gram b), and gram = M - strength * rough.
        squares = total - (share * (1 + strength * stiff * share)) @ sums**2
        left = events - float(free @ share)
        good = left > 0 and (squares > 0).all()
        return float(np.sum(squares / spread)) / left**2 if good else math.inf

    best = min((strength for strength in _STRENGTHS[::-1] if strength >= least), key=score)
    return gram + best * rough


def _roughness(counts: Sequence[int]) -> Doubles:
    """The sum of the squares of second differences along each variable, as a matrix."""
    total: NDArray[Any] = np.zeros((1, 1))
    for functions in counts:
        second = np.diff(np.eye(functions), 2, axis=0)
        total = np.kron(total, np.eye(functions)) + np.kron(np.eye(len(total)), second.T @ second)
    return total


def _inverse(levels: Doubles, targets: Doubles, polynomials: Doubles, probability: Doubles) -> Doubles:
    """Where H(.|m) has these probabilities."""

    def below(rows: NDArray[np.intp]) -> Doubles:
        return np.asarray(np.einsum("ij,ij->i", targets[rows], polynomials))

    low = np.zeros(len(probability), np.intp)
    high = np.full(len(probability), len(levels) - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        up = below(middle) <= probability
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    at_low, at_high = below(low), below(high)
    rise = at_high - at_low
    share = np.divide(probability - at_low, rise, out=np.zeros_like(rise), where=rise > 0)
    return np.asarray(levels[low] + np.clip(share, 0, 1) * (levels[high] - levels[low]))


def splines(knots: Sequence[Doubles], masses: Doubles) -> tuple[NDArray[Any], NDArray[Any]]:
    """The products of the cubic B-splines of each variable that are not 0: their numbers and values, (n, 4^d) each."""
    numbers, values = np.zeros((len(masses), 1), np.intp), np.ones((len(masses), 1))
    for ends, mass in zip(knots, masses.T, strict=True):
        matrix = BSpline.design_matrix(np.clip(mass, ends[0], ends[-1]), np.pad(ends, _DEGREE, "edge"), _DEGREE)
        index, value = (array.reshape(len(mass), 1, _DEGREE + 1) for array in (matrix.indices, matrix.data))
        numbers = (numbers[:, :, None] * (len(ends) + _DEGREE - 1) + index).reshape(len(mass), -1)
        values = (values[:, :, None] * value).reshape(len(mass), -1)
    return numbers, values


def bernstein(mass: Doubles, ends: Doubles, order: int) -> Doubles:
    """B_{k,p}(u) = (p over k) u^k (1 - u)^(p - k) of masses (n,), with u from 0 to 1 between the ends, (n, p + 1)."""
    low, high = ends
    unit = np.clip((mass - low) / (high - low), 0, 1)
    return np.asarray(BSpline.design_matrix(unit, np.repeat([0.0, 1.0], order + 1), order).toarray())
