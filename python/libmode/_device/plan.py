"""The options of a call as plain numbers, and the reason why the kernels refuse some."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from .._options import Options
from .._read import is_for_each

#: The most bins by default: docs/options.md.
_MOST_BINS = 32

# What the kernels take of each option. They take no other option, unless it has its default.
_TAKEN: dict[str, Callable[[Any], bool]] = {
    "order": range(4).__contains__,
    "binning": ("quantile", "edges").__contains__,
    "bins": lambda bins: not is_for_each(bins) and bins <= 64,  # the sums are matrices with a column for each bin
    "edges": lambda edges: not is_for_each(edges) and len(edges) <= 65,
    "mass_range": lambda limits: not is_for_each(limits),
    "score_range": lambda limits: limits is not None,
    "background_label": lambda labels: not is_for_each(labels),
    **dict.fromkeys(("unbiased", "reduction", "slope_of"), lambda _: True),
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
    if options.loss != "mode":
        return f"loss = {options.loss!r}"
    for name in options.given:
        if name not in _TAKEN or not _TAKEN[name](options.values[name]):
            return f"{name} = {options.values[name]!r}"
    return None


@lru_cache(maxsize=256)
def make_plan(options: Options) -> Plan:
    """The plan for options that :func:`refused` accepts, rounded to the type of the events."""
    values = options.values
    edges = values["edges"] or ()
    limits = (edges[0], edges[-1]) if edges else values["mass_range"] or (-math.inf, math.inf)
    bins = len(edges) - 1 if edges else values["bins"] or _MOST_BINS
    return Plan(
        (options.labels[0], *values["score_range"], *limits, *edges),
        values["order"],
        bins,
        bool(edges),
        not (edges or values["bins"]),
        values["unbiased"],
        values["reduction"] == "mean",
    )
