"""Histograms over mass, score and label in the place of events: of boost_histogram, hist, uproot or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._read import numbers
from ._bins import Doubles
from ._sample import Histogram, Sample, Selection, read_events

AXES = ("mass", "score", "label")
NO_VARIANCES = (
    "the histogram has weights and no variances: make it with a storage of weights and variances, or give (values, "
    "variances, mass edges, score edges)"
)


def sample(score: Any, label: Any, mass: Any, weight: Any, selection: Selection) -> Sample:
    """The events that a working point divides, or the histogram in the place of scores."""
    events_only = {name: selection.get(name) for name in ("selected", "mass_range")}
    cells = read_histogram(score, label=label, mass=mass, weight=weight, **events_only)
    return read_events(score, label, mass, weight) if cells is None else cells


def read_histogram(source: Any, **events_only: Any) -> Histogram | None:
    """The histogram in the place of scores, see :mod:`libmode.metrics`, or None for scores.

    It has the under- and overflow of its axes. Arguments of events next to it are a TypeError.
    """
    of_arrays = isinstance(source, tuple) and len(source) >= 2 and np.ndim(source[0]) >= 1
    if not (of_arrays or hasattr(source, "axes") and callable(getattr(source, "values", None))):
        return None
    for name, value in events_only.items():
        if value is not None:
            raise TypeError(f"{name} belongs to events: give a histogram without it")
    if of_arrays:
        return _from_arrays(source)
    try:
        values, variances = source.values(flow=True), source.variances(flow=True)
    except TypeError:  # the protocol of UHI has no flow
        values, variances = source.values(), source.variances()
    if variances is None:
        raise ValueError(NO_VARIANCES)
    order = _order(list(source.axes), np.ndim(values))
    values, variances = (np.transpose(np.asarray(array, np.float64), order) for array in (values, variances))
    axes = [source.axes[k] for k in order]
    edges = [_edges(axis, size) for axis, size in zip(axes, values.shape, strict=True)]
    if len(axes) == 3:
        places = [_label(axes[2], edges[2], label) for label in (0, 1)]
        values, variances = values[:, :, places], variances[:, :, places]
    return _made(values, variances, *edges[:2])


def _edges(axis: Any, size: int) -> Doubles:
    """The edges of an axis with this number of bins, from -inf and to inf where there are under- and overflow."""
    edges = np.asarray(axis.edges() if callable(axis.edges) else axis.edges, np.float64)
    extra = size - len(edges) + 1
    over = bool(axis.traits.overflow) if extra == 1 else extra == 2
    return np.concatenate([[-np.inf] * (extra - over), edges, [np.inf] * over])


def _order(axes: list[Any], dimensions: int) -> list[int]:
    """Which axis is the mass, which the score and which the label: by name where they have names."""
    if dimensions > 3:
        raise ValueError(f"the histogram has {dimensions} axes: expected mass, score and label at most")
    names = [str(getattr(axis, "name", "") or "") for axis in axes]
    if "mass" not in names:
        return list(range(dimensions))
    wrong = [name for name in names if name not in AXES]
    if wrong:
        raise ValueError(f"the histogram has an axis {wrong[0]!r}: expected mass, score and label; sum over other axes")
    if "label" in names and "score" not in names:
        raise ValueError("the histogram has axes mass and label: expected score too, or sum over label")
    return [names.index(name) for name in AXES if name in names]


def _label(axis: Any, edges: Doubles, label: int) -> int:
    """The place of background, 0, or of signal, 1, on an axis of labels."""
    named = ("background", "signal")[label]
    finite = edges[np.isfinite(edges)]
    bins = list(axis) if hasattr(axis, "traits") else list(zip(finite[:-1], finite[1:], strict=True))
    for place, entry in enumerate(bins):
        if entry == named or (entry[0] <= label < entry[1] if isinstance(entry, tuple) else entry == label):
            return place + int(np.isinf(edges[0]))
    raise ValueError(f"the label axis of the histogram has no bin for {label}, {named}")


def _from_arrays(source: tuple[Any, ...]) -> Histogram:
    """(values, edges...) or (values, variances, edges...), as NumPy's functions return the former."""
    values = np.asarray(source[0], np.float64)
    rest = list(source[1:])
    if len(rest) == 1 and isinstance(rest[0], (list, tuple)) and np.ndim(rest[0][0]) == 1:
        rest = list(rest[0])  # of np.histogramdd
    variances = np.asarray(rest.pop(0), np.float64) if np.shape(rest[0]) == values.shape else values
    if not 1 <= values.ndim <= 3 or len(rest) not in (min(values.ndim, 2), values.ndim):
        raise ValueError(
            f"the histogram has values of shape {values.shape} and {len(rest)} arrays of edges: expected (values, "
            "mass edges, score edges), or with variances after the values"
        )
    if values.ndim == 3 and values.shape[2] != 2:
        raise ValueError(f"the histogram has values of shape {values.shape}: expected 2 labels, background and signal")
    edges = [numbers(f"{name} edges", each_edges) for name, each_edges in zip(AXES, rest[:2], strict=False)]
    for name, each_edges, size in zip(AXES, edges, values.shape, strict=False):
        if len(each_edges) != size + 1:
            raise ValueError(f"{name} has {len(each_edges)} edges for {size} bins of the histogram: expected one more")
    return _made(values, variances, *edges)


def _made(values: Doubles, variances: Doubles, mass: Doubles, score: Doubles | None = None) -> Histogram:
    """The histogram of cells with these edges; without ``score`` of mass alone."""
    if score is None:
        score, values, variances = np.array([-np.inf, np.inf]), values[:, None], variances[:, None]
    for name, edges in (("mass", mass), ("score", score)):
        if not (np.diff(edges) > 0).all():
            raise ValueError(f"the edges of the {name} axis do not increase")
    for name, array in (("values", values), ("variances", variances)):
        if not np.isfinite(array).all():
            raise ValueError(f"the histogram has {name} that are not finite")
    if (variances < 0).any() or (variances[values != 0] == 0).any():
        raise ValueError("the histogram has negative variances, or none of filled cells: give sums of squared weights")
    if np.array_equal(values, variances) and (values != np.round(values)).any():  # numbers of events are integers
        raise ValueError(NO_VARIANCES)
    values, variances = (each.reshape(*each.shape[:2], -1) for each in (values, variances))
    row, column, signal = np.nonzero((values != 0) | (variances != 0))
    center, axis = (mass[1:] + mass[:-1])[row] / 2, mass[np.isfinite(mass)]
    if not (np.isfinite(center) & (signal == 0)).any():
        raise ValueError("the histogram has no background inside its mass axis")
    if axis[0] >= 0 and axis[-1] <= 1 < score[column].min():  # as examine() refuses events
        raise ValueError(
            "score and mass are swapped: the mass axis lies in [0, 1], and scores above; a histogram has the axes "
            "mass, score and label in this order"
        )
    of_cell = values[row, column, signal], variances[row, column, signal]
    return Histogram(score[column], signal == 1, center[:, None], *of_cell, (axis, score))
