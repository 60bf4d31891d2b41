"""The options of a call as plain numbers, and the reason why the kernels refuse some."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

from .. import _native
from .._options import Options

#: The most bins by default: docs/options.md.
_MOST_BINS = 32

# The values that the kernels take of options of which they do not take all values.
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
    """The options as the kernels take them."""

    numbers: tuple[float, ...]  #: background label, limits of scores and masses, edges, in the order of loss.py
    order: int
    bins: int  #: their number, or the most
    has_edges: bool  #: whether the options have edges
    merges: bool  #: whether bins with too few events are merged with their neighbors
    unbiased: bool
    mean: bool


def refused(options: Options) -> str | None:
    """The first option that only the core has, as text; None if the kernels can compute all."""
    struct = options.struct
    if options.loss != "mode":
        return f"loss = {options.loss!r}"
    for name, only in _ONLY.items():
        value, values = getattr(struct, name), _native.OPTIONS[name].values
        value = values[value] if values else value
        if value not in only:
            return f"{name} = {value!r}"
    if max(struct.bins, struct.n_edges) > 64:  # the sums are matrices with a column for each bin
        return "more than 64 bins"
    if struct.n_variables:
        return "several variables of mass"
    if len(options.labels) > 1:
        return "several background labels"
    return "score_range = None" if options.score_range is None else None


@lru_cache(maxsize=256)
def make_plan(options: Options) -> Plan:
    """The plan for options that :func:`refused` accepts, rounded to the type of the events."""
    struct, score_range = options.struct, options.score_range
    assert score_range is not None
    edges = tuple(struct.edges[: struct.n_edges])
    limits = (edges[0], edges[-1]) if edges else tuple(struct.mass_range)
    bins = len(edges) - 1 if edges else struct.bins or _MOST_BINS
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
