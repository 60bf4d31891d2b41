"""The options of a call as plain numbers, and why some calls go to the core."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from .. import _native
from .._options import Options

MOST_ORDER, MOST_GIVEN_BINS = 3, 256

#: Bins where their number is not given, at most, and how many events each needs: docs/options.md. A constraint has half
#: as many, see core/direction.go.
MOST_BINS, BINS_OF_CONSTRAINT, PER_BIN = 32, 16, 8

# What the core has, and this has not: an option of its struct, and the only value of it that there is here.
_ONLY = {
    "loss": "mode",
    "basis": "legendre",
    "moments": "projection",
    "missing": "error",
    "max_slope": math.inf,
    "monotonic": 0,
    "slope_penalty": 0.0,
    "joint": 0,
}


class Plan(NamedTuple):
    """The options, and a key of the constants that depend on them."""

    label: int
    order: int
    bins: int | None  #: None: as many as the events are enough for
    edges: tuple[float, ...] | None
    mass_range: tuple[float, float] | None
    score_range: tuple[float, float]
    unbiased: bool
    mean: bool
    constraint: bool  #: whether a constraint asks, and not a loss
    weighted: bool

    @property
    def least(self) -> int:
        """The fewest bins in which a response of this order can be seen: one more than it has coefficients."""
        return self.order + 2

    @property
    def most(self) -> int:
        """The most bins that there can be."""
        if self.edges is not None:
            return len(self.edges) - 1
        return self.bins or max(BINS_OF_CONSTRAINT if self.constraint else MOST_BINS, self.least)

    @property
    def merges(self) -> bool:
        """Whether bins that have too few events become one with their neighbours. Those of equal weights have enough."""
        return self.bins is None and self.edges is None and self.weighted and not self.constraint


def refused(options: Options) -> str | None:
    """What options have that there is only in the core, None for those that can be computed on a device."""
    struct = options.struct
    for name, only in _ONLY.items():
        value, values = getattr(struct, name), _native.OPTIONS[name].values
        if values:
            value = values[value]
        if value != only:
            return f"{name} = {value!r}"
    binning = _native.OPTIONS["binning"].values[struct.binning]
    if binning not in ("quantile", "edges"):
        return f"binning = {binning!r}"
    if struct.order > MOST_ORDER:
        return f"order = {struct.order}"
    if struct.bins > MOST_GIVEN_BINS or struct.n_edges > MOST_GIVEN_BINS:
        return f"more than {MOST_GIVEN_BINS} bins"
    if struct.n_variables:
        return "several variables of mass"
    if len(options.labels) > 1:
        return "several background labels"
    return "score_range = None" if options.score_range is None else None


@lru_cache(maxsize=256)
def plan_of(options: Options, weighted: bool, constraint: bool = False) -> Plan:
    """The plan of options that are not refused, and rounded for the events."""
    struct = options.struct
    low, high = struct.mass_range
    assert options.score_range is not None
    return Plan(
        label=options.labels[0],
        order=struct.order,
        bins=struct.bins or None,
        edges=tuple(struct.edges[: struct.n_edges]) if struct.n_edges else None,
        mass_range=None if math.isinf(low) else (low, high),
        score_range=options.score_range,
        unbiased=bool(struct.unbiased),
        mean=_native.OPTIONS["reduction"].values[struct.reduction] == "mean",
        constraint=constraint,
        weighted=weighted,
    )
