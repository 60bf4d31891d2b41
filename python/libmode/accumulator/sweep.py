"""The loss of what was accumulated: one sweep over the cells of score, from the lowest on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._functions import Moments
from .._native import BatchError
from .integrand import Basis, Variance, bin_name, bounded, spread, steepest
from .tables import Tables

Doubles = NDArray[np.float64]

# How many numbers the arrays of a block have, which stay in the cache of a core.
_BLOCK = 1 << 17


class Accumulated(NamedTuple):
    """A loss, and what says whether it is significant and exact, see :meth:`libmode.Accumulator.evaluate`.

    Examples
    --------
    >>> from libmode import Accumulator
    >>> total = Accumulator(edges=[50, 100, 200])
    >>> total.add([0.1, 0.4, 0.2, 0.9], [60, 70, 120, 180])
    >>> found = total.evaluate()
    >>> print(f"{found.loss:.3f} +- {found.error:.0e}, {found.events:g} events")
    -0.025 +- 2e-06, 4 events
    """

    loss: float  #: of the events with their scores at the centres of their cells
    bias: float  #: by how much the plain loss exceeds, in the mean, that of an infinite sample
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    error: float  #: the loss of the events with their own scores is at most so far away


class Bins(NamedTuple):
    """Sums over each bin of mass, (bins,)."""

    weight: Doubles
    square: Doubles
    means: Doubles  #: (bins, order + 1) the mean polynomials

    @classmethod
    def of(cls, tables: Tables) -> Bins:
        """Raises BatchError where a bin has no positive sum of weights."""
        given, polynomials = tables.given, tables.polynomials()
        weight = polynomials[:, 0]
        if not tables.counts[: given.bins].any():
            raise BatchError(
                f"no event: none of the {tables.added} that were added is background with a mass inside "
                f"[{given.edges[0]:g}, {given.edges[-1]:g}]"
            )
        for place in np.flatnonzero(~(weight > 0)).tolist():
            raise BatchError(
                f"{bin_name(given, place)}, has sum of weights {weight[place]:g}, which must be positive: "
                "it is empty, or its weights cancel; use fewer or wider bins"
            )
        squares = tables.weight if tables.square is None else tables.square
        return cls(weight, squares[: given.bins].sum(axis=1), polynomials / weight[:, None])


class _Block(NamedTuple):
    """Cells next to each other: a row for each bin, a column for each cell."""

    cdf: Doubles  #: F_b at the upper edges
    square: Doubles  #: the sum of the squared steps up to there
    moved: Doubles  #: the sum of the sizes of the steps in the cell
    moved_square: Doubles  #: of their squares


def _blocks(tables: Tables, bins: Bins, width: int) -> Iterator[_Block]:
    count, unit = tables.given.bins, 1 / bins.weight[:, None]
    below, below_square = np.zeros((count, 1)), np.zeros((count, 1))
    for start in range(0, tables.given.scores, width):
        cells = np.s_[:count, start : start + width]
        weight = tables.weight[cells]
        square = weight if tables.square is None else tables.square[cells]
        size = weight if tables.negative is None else weight + 2 * tables.negative[cells]
        sums = np.cumsum(weight, axis=1) + below
        squares = sums if tables.square is None else np.cumsum(square, axis=1) + below_square
        yield _Block(sums * unit, squares * unit**2, size * unit, square * unit**2)
        below, below_square = sums[:, -1:], squares[:, -1:]


class _Integrand:
    """J, the bias and the error at the upper edges of cells."""

    def __init__(self, tables: Tables, bins: Bins, in_full: bool) -> None:
        self.given = given = tables.given
        self.basis = Basis.of(given, bins.means)
        self.variance: Variance | None = None
        if in_full or given.unbiased:
            self.variance = Variance.of(given, bins.weight, bins.square, tables.cubes)
        self.constant = spread(given, self.basis, None)
        self.steepest = steepest(given, self.basis)
        self.penalised = np.abs(self.basis.a[1]) if given.slope_penalty else np.zeros(given.bins)
        self.most_spread = np.sum(self.steepest**2, axis=0) + given.slope_penalty * self.penalised**2

    def at(self, block: _Block, with_error: bool) -> tuple[Doubles, Doubles, float]:
        """J without its bias and the bias, (cells,), and the sum of the bounds of what moving scores changes."""
        given, basis = self.given, self.basis
        c = basis.a @ block.cdf if given.bounded or given.slope_penalty else None
        now = None if c is None or not given.bounded else bounded(given, basis, c)
        residual = basis.r @ block.cdf if now is None else block.cdf - basis.p @ now.value
        j = np.sum(residual**2, axis=0)
        if c is not None and given.slope_penalty:
            j += given.slope_penalty * c[1] ** 2
        bias = np.zeros_like(j)
        if self.variance is not None:
            v = self.variance.at(block.cdf, block.square)
            bias = np.sum(v * (self.constant if now is None else spread(given, basis, now)), axis=0)
        if not with_error:
            return j, bias, 0.0
        step = self.steepest @ block.moved
        error = np.sum(step * (2 * np.abs(residual) + 3 * step))
        if c is not None and given.slope_penalty:
            step = self.penalised @ block.moved
            error += given.slope_penalty * np.sum(step * (2 * np.abs(c[1]) + 3 * step))
        if given.unbiased and self.variance is not None:
            moved = _moved_variance(self.variance, block)
            if now is None:
                error += np.sum(self.constant[:, 0] @ moved)
            else:  # where c~ bends, its derivative may be anything that it can be, and for the whole of a cell
                filled = np.any(block.moved > 0, axis=0)
                error += 2 * np.sum(self.most_spread @ (np.abs(v) + 2 * moved)[:, filled])
        return j, bias, float(error)


def evaluated(tables: Tables, in_full: bool = True) -> Accumulated:
    """The loss; if not in full with no more of bias and error than it needs: what is left out is 0."""
    given, bins = tables.given, Bins.of(tables)
    integrand = _Integrand(tables, bins, in_full)
    plain = bias = error = last = last_bias = 0.0
    width = max(1, _BLOCK // (given.bins * (given.order + 1 if given.bounded else 1)))
    for block in _blocks(tables, bins, width):
        j, each_bias, moved = integrand.at(block, in_full)
        plain, bias, error = plain + float(j.sum()), bias + float(each_bias.sum()), error + moved
        last, last_bias = float(j[-1]), float(each_bias[-1])
    scale = given.cell * (1 / given.bins if given.reduction == "mean" else 1.0)
    # Up to the centre of a cell J is that of its lower edge, and above it that of its upper edge.
    plain, bias = scale * (plain - last / 2), scale * (bias - last_bias / 2)
    return Accumulated(
        loss=plain - bias if given.unbiased else plain,
        bias=bias,
        events=float(bins.weight.sum() ** 2 / bins.square.sum()),
        error=scale * error / 2,
    )


def _moved_variance(variance: Variance, block: _Block) -> Doubles:
    """A bound of what moving the events of a cell inside it makes of V_b, (bins, cells)."""
    step, total = block.moved, variance.total
    of_square = block.moved_square * (np.abs(1 - 2 * block.cdf) + 4 * step)
    of_cdf = step * (2 * np.abs(total * block.cdf - block.square) + 3 * total * step + 2 * block.moved_square)
    return (of_square + of_cdf) * variance.factor


def moments_at(tables: Tables, at: Doubles) -> Moments:
    """F_b, c_l and c~_l at these scores."""
    given, bins = tables.given, Bins.of(tables)
    basis = Basis.of(given, bins.means)
    below = np.clip(np.floor((at - given.score_range[0]) / given.cell + 0.5), 0, given.scores).astype(np.intp)
    sums = [np.append(0, np.cumsum(row))[below] for row in tables.weight[: given.bins]]
    cdf = np.stack(sums) / bins.weight[:, None]
    c = basis.a @ cdf
    value = bounded(given, basis, c).value if given.bounded else c
    return Moments(at, np.array(given.edges), cdf.T.copy(), c.T.copy(), value.T.copy())
