"""The options of a call as plain numbers, and why some calls go to the core."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

from .. import _native
from .._options import Options

#: Bins where their number is not given, at most: docs/options.md.
_MOST_BINS = 32

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
    """What the kernels take of the options."""

    numbers: tuple[float, ...]  #: background label, limits of scores and masses, edges: those of loss.py
    order: int
    bins: int  #: how many, or at most
    given: bool  #: whether there are edges
    merges: bool  #: whether bins with too few events become one with their neighbors
    unbiased: bool
    mean: bool


class Steering(NamedTuple):
    """How strongly a layer pushes: a fixed strength or a tolerance, 0 where there is none."""

    strength: float
    tolerance: float


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
    if max(struct.bins, struct.n_edges) > 64:  # for whose sums there are matrices
        return "more than 64 bins"
    if struct.n_variables:
        return "several variables of mass"
    if len(options.labels) > 1:
        return "several background labels"
    return "score_range = None" if options.score_range is None else None


@lru_cache(maxsize=256)
def plan_of(options: Options, most_bins: int = _MOST_BINS) -> Plan:
    """The plan of options that are not refused, and rounded for the events."""
    struct, score_range = options.struct, options.score_range
    assert score_range is not None
    edges = tuple(struct.edges[: struct.n_edges])
    limits = (edges[0], edges[-1]) if edges else tuple(struct.mass_range)
    bins = len(edges) - 1 if edges else struct.bins or most_bins
    mean = _native.OPTIONS["reduction"].values[struct.reduction] == "mean"
    return Plan(
        (options.labels[0], *score_range, *limits, *edges),
        struct.order,
        bins,
        bool(edges),
        not (edges or struct.bins),
        bool(struct.unbiased),
        mean,
    )
