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
    edges = [np.asarray(axis.edges() if callable(axis.edges) else axis.edges, np.float64) for axis in axes]
    flow = []  # whether there is underflow, and overflow
    for axis, each_edges, size in zip(axes, edges, values.shape, strict=True):
        extra = size - len(each_edges) + 1
        over = bool(axis.traits.overflow) if extra == 1 else extra == 2
        flow.append((extra == 2 or extra == 1 and not over, over))
    if len(axes) == 3:
        places = [_label(axes[2], edges[2], label) + flow[2][0] for label in (0, 1)]
        values, variances = values[:, :, places], variances[:, :, places]
    return _made(values, variances, edges[:2], flow)


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
    bins = list(axis) if hasattr(axis, "traits") else list(zip(edges[:-1], edges[1:], strict=True))
    for place, entry in enumerate(bins):
        if entry == named or (entry[0] <= label < entry[1] if isinstance(entry, tuple) else entry == label):
            return place
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
    return _made(values, variances, edges, [(False, False)] * len(edges))


def _made(values: Doubles, variances: Doubles, edges: list[Doubles], flow: list[tuple[bool, bool]]) -> Histogram:
    if values.ndim == 1:  # of mass alone
        edges, flow = [*edges, np.array([-np.inf, np.inf])], [*flow, (False, False)]
        values, variances = values[:, None], variances[:, None]
    for name, each_edges in zip(AXES, edges, strict=False):
        if not (np.diff(each_edges) > 0).all():
            raise ValueError(f"the edges of the {name} axis do not increase")
    for name, array in (("values", values), ("variances", variances)):
        if not np.isfinite(array).all():
            raise ValueError(f"the histogram has {name} that are not finite")
    if (variances < 0).any():
        raise ValueError("the histogram has negative variances: give (values, variances, mass edges, score edges)")
    if np.array_equal(values, variances) and (values != np.round(values)).any():  # numbers of events are integers
        raise ValueError(NO_VARIANCES)
    (below, above), (under, over) = flow[:2]
    score = np.concatenate([[-np.inf] * under, edges[1], [np.inf] * over])
    filled = np.flatnonzero((values != 0).any(axis=(0, *range(2, values.ndim))))
    if len(filled) and edges[0][0] >= 0 and edges[0][-1] <= 1 < score[filled[0]]:  # as sample() refuses events
        raise ValueError(
            "score and mass are swapped: the mass axis lies in [0, 1], and scores above; a histogram has the axes "
            "mass, score and label in this order"
        )
    if values.ndim == 2:
        values, variances = values[..., None], variances[..., None]
    centers = np.concatenate([[-np.inf] * below, (edges[0][1:] + edges[0][:-1]) / 2, [np.inf] * above])
    row, column, signal = np.nonzero((values != 0) | (variances != 0))
    if not ((signal == 0) & np.isfinite(centers[row])).any():
        raise ValueError("the histogram has no background inside its mass axis")
    of_cell = values[row, column, signal], variances[row, column, signal]
    return Histogram(score[column], signal == 1, centers[row][:, None], *of_cell, (edges[0], score))
