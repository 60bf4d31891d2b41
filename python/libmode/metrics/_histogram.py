"""Histograms over mass, score and label in the place of events: of boost_histogram, hist, uproot or arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._read import numbers
from ._bins import Bins, Doubles
from ._sample import CLASSES, tightest

AXES = ("mass", "score", "label")
# An edge of an axis may be rounded: so far from it, in units of the range of the axis, is still the edge.
SAME = 1e-9

NO_VARIANCES = (
    "the histogram has weights and no variances: make it with a storage of weights and variances, or give (values, "
    "variances, mass edges, score edges)"
)


class Histogram(NamedTuple):
    """Sums over the events of each cell: m mass bins, c score cells."""

    mass: Doubles  #: (m + 1,) edges
    score: Doubles  #: (c + 1,) edges; from -inf and to inf where there are under- and overflow
    weight: Doubles  #: (m, c) of the background
    square: Doubles  #: (m, c) of weights
    beyond: Doubles  #: (2, c) weights, and their squares, of background outside the mass bins
    signal: Doubles | None = None  #: (2, c) weights, and their squares, of signal at all masses

    def merged(self, bins: Any) -> tuple[Bins, NDArray[np.intp]]:
        """The bins with these edges, by default the edges of the axis, and the place of each edge in the axis."""
        if bins is not None and np.ndim(bins) == 0:
            raise TypeError(f"bins = {bins!r}: expected edges of the mass axis, or None for all of them")
        chosen = Bins(self.mass if bins is None else bins, self.mass[:, None])
        return chosen, np.array([_edge_at(f"bins[{k}]", at, self.mass, "mass") for k, at in enumerate(chosen.axes[0])])

    def cell(self, threshold: float) -> int:
        """The first score cell that ``score >= threshold`` selects; 0 for minus infinity."""
        return 0 if threshold == -np.inf else _edge_at("threshold", threshold, self.score, "score")

    def cut(self, name: str, value: float) -> float:
        """The edge of score that is the threshold of a working point."""
        if name == "threshold":
            return value
        table = self.signal if name == "signal_efficiency" else self.background()
        if table is None:
            raise ValueError("the histogram has no axis label: expected background and signal")
        filled = table[1] > 0
        return float(tightest(CLASSES[name], self.score[:-1][filled], table[0][filled], np.array([value]))[0])

    def polynomials(self, edges: NDArray[np.intp], order: int) -> Doubles:
        """Sums over the background of w P_l(x) for l up to an order, (bins, order + 1)."""
        low, high = edges[0], edges[-1]
        each = spread(self.weight.sum(axis=1)[low:high], self.mass[low : high + 1], order)
        return np.asarray(add(each, edges - low).T)

    def background(self) -> Doubles:
        """Weights and their squares at all masses, (2, c)."""
        return np.stack([self.weight.sum(axis=0), self.square.sum(axis=0)]) + self.beyond


def add(values: Doubles, edges: NDArray[np.intp]) -> Doubles:
    """Sums along the last axis between neighboring places."""
    return np.add.reduceat(values[..., : edges[-1]], edges[:-1], axis=-1)


def spread(weight: Doubles, edges: Doubles, order: int) -> Doubles:
    """The weights of cells times the means of P_l(x), (order + 1, cells): their events are spread evenly."""
    x = 2 * (edges - edges[0]) / (edges[-1] - edges[0]) - 1
    integrals = [np.polynomial.Legendre.basis(k).integ()(x) for k in range(order + 1)]
    return np.asarray(weight * np.diff(integrals) / np.diff(x))


def _edge_at(name: str, value: float, edges: Doubles, axis: str) -> int:
    """The place of an edge; ValueError with the nearest edges where there is none."""
    finite = edges[np.isfinite(edges)]
    near = np.abs(finite - value)
    place = int(np.argmin(near))
    if near[place] > SAME * (finite[-1] - finite[0]):
        after = int(np.searchsorted(finite, value))
        around = " and ".join(f"{edge:.10g}" for edge in finite[max(after - 1, 0) : after + 1])
        nearest = f"edges are {around}" if " and " in around else f"edge is {around}"
        raise ValueError(f"{name} = {value:.10g} is no edge of the {axis} axis: the nearest {nearest}")
    return place + int(np.argmax(np.isfinite(edges)))


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
    both, signal = np.stack([values, variances]), None
    if values.ndim == 3:
        both, signal = both[..., 0], both[..., 1].sum(axis=1)
    first, last = int(below), both.shape[1] - above
    beyond = both[:, :first].sum(axis=1) + both[:, last:].sum(axis=1)
    weight, square = both[:, first:last]
    return Histogram(edges[0], score, weight, square, beyond, signal)
