"""What an accumulator is told at its start: plain numbers and texts, checked, by which two can be compared and kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._functions import mode_edges, mode_loss
from .._native import OPTIONS, int32
from .._options import Options, check
from .._plain import is_for_each, plain

#: Options of the loss which need all events at once, several tables, or other sums than those that are kept.
_IMPOSSIBLE = {
    "joint": "it is for one variable of mass",
    "basis": "its polynomials are those of Legendre",
    "degree": "its polynomials have the degrees up to order",
    "knots": "its polynomials are those of Legendre",
}


class Settings(NamedTuple):
    """The options of an accumulator, as JSON can hold them; those of the loss by the names that the loss has."""

    scores: int  #: the number of cells of score
    edges: list[float]  #: of the bins of mass
    score_range: list[float]
    background_label: int
    signal_label: int
    missing: str
    order: int
    moments: str
    max_slope: float | None
    slope_of: str
    monotonic: bool
    slope_penalty: float
    unbiased: bool
    reduction: str

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    @property
    def cell(self) -> float:
        """The width of a cell of score."""
        return (self.score_range[1] - self.score_range[0]) / self.scores

    @property
    def bounded(self) -> bool:
        return self.max_slope is not None or self.monotonic

    def same(self, other: Settings) -> None:
        """Raises ValueError for the first setting in which another accumulator differs."""
        for name, own, its in zip(self._fields, self, other, strict=True):
            if own != its:
                raise ValueError(
                    f"{name} = {_shown(own)}, but {_shown(its)} of the other accumulator: give both the same"
                )


def _shown(value: Any) -> str:
    return f"[{value[0]:g} ... {value[-1]:g}] ({len(value)} numbers)" if isinstance(value, list) else repr(value)


def settings(scores: Any, signal_label: Any, options: dict[str, Any]) -> Settings:
    """The settings, from what a user gives; defaults and limits of options are those of the core."""
    cells = int32("scores", scores)
    if cells < 1:
        raise ValueError(f"scores = {cells}: must be at least 1")
    signal = int32("signal_label", signal_label)
    checked = check("mode", options)
    options = plain("mode", options)
    for name, why in _IMPOSSIBLE.items():
        if options.get(name) not in (None, False, "legendre"):
            raise ValueError(f"{name} = {options[name]!r} is not for an accumulator: {why}")
    for name in ("bins", "edges", "mass_range"):
        if is_for_each(options.get(name)):
            raise ValueError(f"{name} = {options[name]!r} is for several variables, and an accumulator has one")
    if checked.score_range is None:
        raise ValueError("score_range = None: the grid of an accumulator needs its ends, (0, 1) for instance")
    if len(checked.labels) != 1:
        raise ValueError(
            f"background_label = {checked.labels}: an accumulator has one; make one for each, and add the losses"
        )
    if checked.labels[0] == signal:
        raise ValueError(f"signal_label = {signal} is background_label too: give the label that signal has")
    of_struct = {name: _value(checked, name) for name in Settings._fields if name in _OF_STRUCT}
    found = Settings(
        scores=cells,
        edges=_edges(checked, options, checked.score_range[0]),
        score_range=list(checked.score_range),
        background_label=checked.labels[0],
        signal_label=signal,
        **of_struct,
    )
    if not np.isfinite(found.edges[-1] - found.edges[0]) or not found.cell > 0:
        raise ValueError(
            f"edges from {found.edges[0]:g} to {found.edges[-1]:g} are further apart than a float64 can say"
        )
    return found


_BINNED = ("bins", "binning", "edges", "mass_range")
_OF_STRUCT = {
    "missing", "order", "moments", "max_slope", "slope_of", "monotonic", "slope_penalty", "unbiased", "reduction",
}  # fmt: skip


def _value(options: Options, name: str) -> Any:
    """An option as the core has it, its default included."""
    value, row = getattr(options.struct, name), OPTIONS[name]
    if row.values:
        return row.values[value]
    if name in ("monotonic", "unbiased"):
        return bool(value)
    return None if value == row.none else value


def _edges(checked: Options, options: dict[str, Any], score: float) -> list[float]:
    """The edges of the bins, for which the core finds the options good if each has an event, of this score."""
    binning = _value(checked, "binning")
    if binning not in ("edges", "uniform"):
        raise ValueError(
            f"binning = {binning!r} needs all masses at once: give edges, for instance those of "
            "libmode.Accumulator.edges_of(chunks of masses, bins=32), or binning='uniform', bins and mass_range"
        )
    binned = {name: options[name] for name in _BINNED if name in options}
    masses = np.array(options.get("edges") or [0.0])[:1]
    if binning == "uniform":
        if options.get("bins") is None or options.get("mass_range") is None:
            raise ValueError("binning = 'uniform' of an accumulator needs bins and mass_range: give both")
        masses = np.linspace(options["mass_range"][0], options["mass_range"][1], max(options["bins"], 1))
    edges = mode_edges(masses, **binned)
    centres = edges[:-1] / 2 + edges[1:] / 2
    others = {name: value for name, value in options.items() if name not in _BINNED}
    middle = np.full(len(centres), score)
    mode_loss(middle, centres, **{**others, "edges": edges, "unbiased": False})
    return list(map(float, edges))
