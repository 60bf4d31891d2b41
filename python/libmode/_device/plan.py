"""The options of a call as plain numbers, and which of them there are not on the device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .. import _native
from .._options import Options

#: A response of this size, relative to what it is made of, counts as 0: see "Rounding" of core/bound.go.
FLOOR = 1e-12

_SPLINE_DEGREE = 3  # where none is given
_VALUES = 1 << 12  # bins that binning="values" has at most
MOST_BINS, PER_BIN = 32, 8  # where their number is not given, see docs/options.md


@dataclass(frozen=True)
class Variable:
    """The options of the bins of one variable of mass."""

    bins: int | None
    mass_range: tuple[float, float] | None
    edges: tuple[float, ...]
    knots: tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """The options of a loss, those of :class:`libmode.option_types.LossOptions` by their names."""

    order: int
    binning: str
    basis: str
    degree: int
    ignores_missing: bool
    max_slope: float | None
    of_selected: bool
    monotonic: bool
    projection: bool
    unbiased: bool
    slope_penalty: float
    score_range: tuple[float, float] | None
    mean: bool
    labels: tuple[int, ...]
    variables: tuple[Variable, ...]  #: one for all, or one for each

    @property
    def bounded(self) -> bool:
        """Whether some moment is bounded, so that J is not a quadratic form of F."""
        return self.max_slope is not None or self.monotonic

    def functions(self, variable: Variable) -> int:
        """How many functions of the mass cost nothing."""
        return len(variable.knots) + self.degree + 1 if self.basis == "bspline" else self.order + 1

    def variable(self, k: int) -> Variable:
        """The options of variable k."""
        return self.variables[k if len(self.variables) > 1 else 0]

    def merges(self, variable: Variable) -> bool:
        """Whether bins with too few events are merged: where their number is not given."""
        return variable.bins is None and self.binning in ("quantile", "uniform")

    def most_bins(self, variable: Variable, n: int) -> int:
        """A number that the bins of up to n events do not exceed."""
        if self.binning == "edges":
            return len(variable.edges) - 1
        if self.binning == "values":
            return min(n, _VALUES)
        return variable.bins or max(min(n // PER_BIN, MOST_BINS), self.functions(variable) + 1)


def unsupported(options: Options, categories: bool) -> None:
    """Raises ValueError for what there is not on the device."""
    given = None
    if categories:
        given = "category"
    elif options.struct.joint:
        given = "joint = True"
    if given:
        raise ValueError(f"{given}: on_device = True has no such form of the loss: leave on_device out")


@lru_cache(maxsize=256)
def plan_of(options: Options) -> Plan:
    """The plan of options that are checked, and rounded for the events."""
    struct = options.struct

    def choice(name: str) -> str:
        number: int = getattr(struct, name)
        return _native.OPTIONS[name].values[number]

    def pair(values: Any) -> tuple[float, float] | None:
        return None if math.isinf(values[0]) else (values[0], values[1])

    def variable(of: Any) -> Variable:
        edges, knots = tuple(of.edges[: of.n_edges]), tuple(of.knots[: of.n_knots])
        return Variable(of.bins or struct.bins or None, pair(of.mass_range), edges, knots)

    each = [struct.variables[k] for k in range(struct.n_variables)] or [struct]
    degree = struct.degree if struct.degree >= 0 else _SPLINE_DEGREE
    return Plan(
        struct.order,
        choice("binning"),
        choice("basis"),
        degree,
        choice("missing") == "ignore",
        None if math.isinf(struct.max_slope) else struct.max_slope,
        choice("slope_of") == "selected",
        bool(struct.monotonic),
        choice("moments") == "projection",
        bool(struct.unbiased),
        struct.slope_penalty,
        pair(struct.score_range),
        choice("reduction") == "mean",
        options.labels,
        tuple(map(variable, each)),
    )
