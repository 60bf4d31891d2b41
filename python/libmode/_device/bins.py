"""The bins of the masses: a number that is known beforehand, of which the last may be unused."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .merging import kept_edges
from .plan import MOST_BINS, PER_BIN, Plan, Variable
from .selection import Selection

_INFINITE = float("inf")


class Bins(NamedTuple):
    """The bins of one variable. Those that are unused come last, and have no events."""

    number: Array  #: (n,) the bin of each event, 0 where it takes no part
    inner: Array  #: (bins - 1,) the edges between bins, increasing, and infinite where the next bin is unused
    used: Array  #: (bins,) which are used
    weights: Array  #: (bins,) W_b
    ok: Array  #: () whether the events fill the bins

    @property
    def count(self) -> Array:
        """() how many bins are used."""
        return self.used.sum()


def bins_of(xp: Arrays, plan: Plan, variable: Variable, of: Selection, weight: Array, *, weighted: bool) -> Bins:
    """The bins of the selected events with these weights, (n,), 0 where they take no part."""
    most = plan.most_bins(variable, of.mass.shape[0])
    ok = (of.count > 0) & (of.low < of.high) & xp.isfinite(of.high - of.low)
    if plan.binning == "edges":
        inner = xp.constant(variable.edges[1:-1])
    elif plan.binning == "values":
        inner, distinct = _between_values(xp, of, most)
        ok = ok & (distinct <= most)
    else:
        asked = variable.bins
        if asked is None:
            least = plan.functions(variable) + 1
            asked = xp.clip(of.count // PER_BIN, least, max(least, MOST_BINS))
        ok = ok & (of.count >= asked)
        if plan.binning == "quantile":
            inner = _quantiles(xp, of, asked, most)
        else:
            inner, increase = _uniform(xp, variable, of, asked, most)
            ok = ok & increase
    if plan.merges(variable) and (plan.binning == "uniform" or weighted):
        sums = xp.segment_sums(xp.stack([weight, weight * weight]), _numbers(xp, inner, of), most)
        kept = kept_edges(xp, sums, xp.isfinite(inner).sum() + 1)
        if plan.binning == "quantile":  # bins of equal weights have enough events already
            kept = kept | ~of.differ
        inner, _ = xp.sort(xp.where(kept, inner, _INFINITE))
    number = _numbers(xp, inner, of)
    used = xp.arange(most) <= xp.isfinite(inner).sum()
    if plan.merges(variable):
        ok = ok & (used.sum() > plan.functions(variable))
    weights = xp.segment_sums(weight[None], number, most)[0]
    ok = ok & ((weights > 0) & xp.isfinite(weights) & xp.isfinite(1 / weights) | ~used).all()
    return Bins(number, inner, used, weights, ok)


def _numbers(xp: Arrays, inner: Array, of: Selection) -> Array:
    """The bin of each mass as in numpy.histogram: lower edge <= mass < upper edge, but the last has both."""
    return xp.where(of.inside, xp.searchsorted(inner, of.mass, True), 0)


def _quantiles(xp: Arrays, of: Selection, asked: Array | int, most: int) -> Array:
    """Edges midway between the masses of rank r - 1 and r, r = floor(k n / bins), as in arXiv:2010.09745.

    A rank inside a run of equal masses moves down to its start; rank 0 and repeats are dropped, and an edge
    that is not below the upper end.
    """
    mass, _ = xp.sort(xp.where(of.inside, of.mass, _INFINITE))
    k = xp.arange(most - 1) + 1
    at = xp.take(mass, xp.clip(k * of.count // asked, 0, mass.shape[0] - 1))
    first = xp.searchsorted(mass, at, False)
    before = xp.concat([first[:1] * 0, first[:-1]])
    edge = _midpoint(xp, xp.take(mass, xp.clip(first - 1, 0, mass.shape[0] - 1)), at)
    inner, _ = xp.sort(xp.where((k < asked) & (first > before) & (edge < of.high), edge, _INFINITE))
    return inner


def _midpoint(xp: Arrays, below: Array, at: Array) -> Array:
    """Numbers that are above the lower and not above the upper of two neighbouring masses."""
    middle = (below + at) / 2
    middle = xp.where(xp.isfinite(middle), middle, below / 2 + at / 2)
    return xp.where(middle <= below, at, middle)


def _uniform(xp: Arrays, variable: Variable, of: Selection, asked: Array | int, most: int) -> tuple[Array, Array]:
    """Edges as those of numpy.linspace, and whether they increase."""
    k = xp.arange(most - 1) + 1
    if variable.bins is not None and variable.mass_range is not None:
        # On the host, where no compiler makes one rounding of two.
        low, high = variable.mass_range
        width = (high - low) / variable.bins
        inner = xp.constant([j * width + low for j in range(1, most)])
    else:
        inner = xp.real(k) * ((of.high - of.low) / asked) + of.low
    valid = k < asked
    every = xp.concat([of.low[None], xp.where(valid, inner, of.high)])
    increase = ((every[1:] > every[:-1]) & (inner < of.high) | ~valid).all()
    return xp.where(valid, inner, _INFINITE), increase


def _between_values(xp: Arrays, of: Selection, most: int) -> tuple[Array, Array]:
    """Edges between all masses that occur, and how many masses those are."""
    mass, _ = xp.sort(xp.where(of.inside, of.mass, _INFINITE))
    new = (mass[1:] > mass[:-1]) & xp.isfinite(mass[1:])
    inner, _ = xp.sort(xp.where(new, _midpoint(xp, mass[:-1], mass[1:]), _INFINITE))
    return inner[: most - 1], new.sum() + 1
