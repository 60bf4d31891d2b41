"""The options of a call as plain numbers, and why some calls go to the core."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

from .. import _native
from .._options import Options

#: Bins where their number is not given, at most, and how many events each needs: docs/options.md.
MOST_BINS, PER_BIN = 32, 8

# Of the core's options, those that there are not with every value, and the values that there are here.
_ONLY: dict[str, Any] = {
    "order": range(4),
    "binning": ("quantile", "edges"),
    "moments": ("projection",),
    "missing": ("error",),
    "max_slope": (math.inf,),
    "monotonic": (0,),
    "slope_penalty": (0.0,),
    "joint": (0,),
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
    weighted: bool

    @property
    def most(self) -> int:
        """The most bins that there can be."""
        if self.edges is not None:
            return len(self.edges) - 1
        return self.bins or max(MOST_BINS, self.order + 2)

    @property
    def fewest(self) -> int:
        """The fewest bins that the device takes: as many as coefficients, and two. Fewer go to the core."""
        return max(self.order + 1, 2)

    @property
    def merges(self) -> bool:
        """Whether bins with too few events become one with their neighbors."""
        return self.bins is None and self.edges is None


def refused(options: Options) -> str | None:
    """What options have that there is only in the core, None for those that can be computed on a device."""
    struct = options.struct
    if options.loss != "mode":
        return f"loss = {options.loss!r}"
    for name, only in _ONLY.items():
        value, values = getattr(struct, name), _native.OPTIONS[name].values
        value = values[value] if values else value
        if value not in only:
            return f"{name} = {value!r}"
    if max(struct.bins, struct.n_edges) > 256:  # for whose sums there are matrices
        return "more than 256 bins"
    if struct.n_variables:
        return "several variables of mass"
    if len(options.labels) > 1:
        return "several background labels"
    return "score_range = None" if options.score_range is None else None


@lru_cache(maxsize=256)
def plan_of(options: Options, weighted: bool) -> Plan:
    """The plan of options that are not refused, and rounded for the events."""
    struct, score_range = options.struct, options.score_range
    assert score_range is not None
    edges = tuple(struct.edges[: struct.n_edges]) if struct.n_edges else None
    mass_range = None if math.isinf(struct.mass_range[0]) else tuple(struct.mass_range)
    mean = _native.OPTIONS["reduction"].values[struct.reduction] == "mean"
    numbers = options.labels[0], struct.order, struct.bins or None, edges, mass_range, score_range
    return Plan(*numbers, bool(struct.unbiased), mean, weighted)
