"""Where events fall: ranges, bins of one variable and cells of several, in float64 as the definition says.

``options`` are those of a golden case; an option that is not there has its default.
"""

from __future__ import annotations

import numpy as np
from reference import bin_of, quantile_edges

# Of the default number of bins: the most, the least average number of effective events, (sum w)^2 / sum w^2, and the
# fewest in one.
MOST_BINS, IN_EACH, FEWEST_EFFECTIVE = 32, 8, 1.05
ROUNDING = 1e-9


def range_of(mass, mass_range=None, edges=None) -> tuple[float, float] | None:
    """The given range, or that of the masses that are not NaN; None where there is no such mass."""
    if edges is not None:
        return edges[0], edges[-1]
    if mass_range is not None:
        return tuple(mass_range)
    present = mass[~np.isnan(mass)]
    return (present.min(), present.max()) if len(present) else None


def within(mass, limits) -> np.ndarray:
    """Which masses lie in this range, both ends included; NaN lies nowhere."""
    return np.zeros(len(mass), dtype=bool) if limits is None else (mass >= limits[0]) & (mass <= limits[1])


def edges_of(mass, limits, options) -> np.ndarray:
    """The edges of the bins that the options ask for, for masses in this range."""
    if options["binning"] == "edges":
        return np.array(options["edges"])
    if options["binning"] == "uniform":
        return np.linspace(*limits, options["bins"] + 1)
    return quantile_edges(mass, options["bins"], limits)


def default_edges(mass, weight, limits, options) -> np.ndarray:
    """The edges of the bins where no number is asked for, for masses in this range."""
    count = min(MOST_BINS, len(mass) // IN_EACH)
    effective = _effective(mass, weight, quantile_edges(mass, count, limits))[1].sum() if count else 0
    count = max(min(count, int(effective / IN_EACH + ROUNDING)), options["order"] + 2)
    edges = edges_of(mass, limits, options | {"bins": count})
    merged = _merged(mass, weight, edges, FEWEST_EFFECTIVE)
    return merged if len(merged) > options["order"] + 2 else _merged(mass, weight, edges, 0)


def _effective(mass, weight, edges) -> tuple[np.ndarray, np.ndarray]:
    """The sum of weights of each bin, and W_b^2/T_b."""
    bins = bin_of(mass, edges)
    of_bin = [weight[bins == b] for b in range(len(edges) - 1)]
    total, square = (np.array([(own**power).sum() for own in of_bin]) for power in (1, 2))
    return total, total**2 / np.where(square == 0, 1, square)


def _merged(mass, weight, edges, fewest) -> np.ndarray:
    """Edges that are left where bins are merged from the lowest mass on, until each has so many effective events."""

    def is_enough(low, high) -> bool:
        closed = high == edges[-1]
        own = weight[(mass >= low) & ((mass <= high) if closed else (mass < high))]
        return own.sum() > 0 and own.sum() ** 2 >= fewest * (own**2).sum()

    kept = [edges[0]]
    for edge in edges[1:]:
        if is_enough(kept[-1], edge):
            kept.append(edge)
    if kept[-1] < edges[-1]:  # the rest joins the last bins
        while len(kept) > 1 and not is_enough(kept[-1], edges[-1]):
            kept.pop()
        kept.append(edges[-1])
    return np.array(kept)


def grid(mass, edges) -> np.ndarray:
    """The cell of each event, whose row of ``mass`` has a column for each variable; cells without events do not count."""
    bins = np.column_stack([bin_of(column, own) for column, own in zip(mass.T, edges, strict=True)])
    return _numbered(bins)


def nested(mass, bins, ranges) -> np.ndarray:
    """The cell of each event in quantile bins of the first variable, of the second within each of these, and so on."""
    cells = np.zeros(len(mass), dtype=int)
    for column, asked, limits in zip(mass.T, bins, ranges, strict=True):
        finer = np.empty(len(mass), dtype=int)
        for cell in range(cells.max() + 1):
            mine = cells == cell
            edges = quantile_edges(column[mine], min(asked, mine.sum()), limits)
            finer[mine] = bin_of(column[mine], edges)
        cells = _numbered(np.column_stack([cells, finer]))
    return cells


def _numbered(rows) -> np.ndarray:
    """The distinct rows, numbered from 0: the number of each."""
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()
