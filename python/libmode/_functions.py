"""The functions of the top level: NumPy in, NumPy out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, events, labels, vector
from ._options import LossOptions, Options, options

if TYPE_CHECKING:
    from typing_extensions import Unpack


NO_SECOND_DERIVATIVE = (
    "the MoDe loss has no second derivative: it is piecewise linear in the scores. "
    "Leave it out of what is differentiated twice (Hessians, gradient penalties)"
)


class Moments(NamedTuple):
    """What the loss is made of, see :func:`mode_moments`."""

    at: NDArray[np.float64]  #: (k,) the scores s
    edges: NDArray[np.float64]  #: (bins + 1,) edges of the mass bins, in units of mass
    cdf: NDArray[np.float64]  #: (k, bins) F_b(s), the weight fraction of bin b with scores <= s
    moments: NDArray[np.float64]  #: (k, order + 1) the Legendre moments c_l(s)
    bounded: NDArray[np.float64]  #: (k, order + 1) c~_l(s), which differ where max_slope or monotonic is set


def mode_loss(
    score: Any,
    mass: Any,
    weight: Any = None,
    label: Any = None,
    *,
    background_label: int | Sequence[int] = 0,
    **given: Unpack[LossOptions],
) -> float:
    """The MoDe loss of arXiv:2010.09745, integrated exactly over the scores.

    Parameters
    ----------
    score : (n,) or (n, 1) real numbers inside ``score_range``
        Outputs of the classifier.
    mass : (n,) or (n, 1) real numbers, in any unit
        The protected attribute.
    weight : (n,) or (n, 1) real numbers of either sign, optional
        Event weights; all 1 by default.
    label : (n,) or (n, 1) numbers, optional
        Only events whose label is ``background_label`` take part. Without
        labels every event does.
    background_label : int or sequence of int
        With several, the loss is the sum over labels, each with its own bins.
    order : int, default 0
        Degree of the polynomial dependence on mass that costs nothing, 0 to 16.
    bins : int, default 32
        Number of mass bins.
    binning : {"quantile", "uniform", "edges"}, default "quantile"
        Equal numbers of events, equal widths, or given by ``edges``.
    edges : sequence of float, optional
        Increasing edges of the mass bins.
    mass_range : (float, float), optional
        Events outside take no part. By default the lowest to the highest mass.
    max_slope : float, optional
        Bound on the slope c_1 relative to what ``slope_of`` says; order >= 1.
    slope_of : {"rejected", "selected"}, default "rejected"
        The fraction of background below the score, c_0, or above it, 1 - c_0.
    monotonic : bool, default False
        Keep the allowed dependence monotonic in mass; order >= 2.
    moments : {"quadrature", "projection"}, default "quadrature"
        The paper's sum over bins, or the least-squares fit, for which a
        polynomial response has loss exactly 0 on any bins.
    unbiased : bool, default False
        Subtract what the finite number of events adds to the loss, so that
        small batches work. The result may be negative.
    slope_penalty : float, default 0
        Adds ``slope_penalty * c_1^2`` to the integrand; order >= 1.
    score_range : (float, float) or None, default (0, 1)
        Limits of the integral; None: lowest to highest score.
    reduction : {"mean", "sum"}, default "mean"
        Divide the sum over bins by their number, or not (the paper's formula).

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For a value out of range, with its argument, value and place.
    TypeError
        For an unknown option or a wrong type.
    """
    return only_loss(options(background_label, **given), score, mass, weight, label)


def only_loss(
    chosen: Options, score: Any, mass: Any, weight: Any, label: Any, *, which: _native.Loss = "loss"
) -> float:
    """:func:`mode_loss`, or another loss, with options that are ready."""
    ev = events(score, mass, weight, label, chosen)
    arrays = map(address, (ev.score, ev.mass, ev.weight, ev.label))
    return _native.loss_grad(chosen.struct, ev.double, len(ev.score), *arrays, None, which=which)


def mode_loss_and_grad(
    score: Any,
    mass: Any,
    weight: Any = None,
    label: Any = None,
    *,
    background_label: int | Sequence[int] = 0,
    **given: Unpack[LossOptions],
) -> tuple[float, NDArray[Any]]:
    """The MoDe loss and its gradient with respect to the scores.

    Takes what :func:`mode_loss` takes. The gradient has the shape of ``score``
    and its floating type (float64 if it has none); events that take no part
    have gradient exactly 0.
    """
    return loss_and_grad(options(background_label, **given), score, mass, weight, label)


def loss_and_grad(
    chosen: Options, score: Any, mass: Any, weight: Any, label: Any, *, which: _native.Loss = "loss"
) -> tuple[float, NDArray[Any]]:
    """:func:`mode_loss_and_grad`, or that of another loss, with options that are ready."""
    ev = events(score, mass, weight, label, chosen)
    grad = np.empty_like(ev.score)
    loss = _native.loss_grad(
        chosen.struct,
        ev.double,
        len(ev.score),
        *map(address, (ev.score, ev.mass, ev.weight, ev.label, grad)),
        which=which,
    )
    like = np.asarray(score)
    kind = like.dtype if like.dtype.kind == "f" else np.float64
    return loss, grad.reshape(like.shape).astype(kind, copy=False)


def mode_edges(
    mass: Any, label: Any = None, *, background_label: int = 0, **given: Unpack[LossOptions]
) -> NDArray[np.float64]:
    """The edges of the mass bins that the loss uses, in units of mass.

    Takes ``mass``, ``label`` and the options as :func:`mode_loss` does. There
    may be fewer bins than asked for where masses are equal.
    """
    chosen = options(background_label, **given)
    masses = np.ascontiguousarray(vector("mass", mass), dtype=np.float64)
    codes = labels(label, chosen, "mass", masses)
    return _edges(chosen, masses, codes)


def _edges(chosen: Options, masses: NDArray[np.float64], codes: NDArray[np.int32] | None) -> NDArray[np.float64]:
    # More bins than events are an error, for which there need not be room.
    capacity = max(min(chosen.struct.bins or 32, len(masses)) + 1, chosen.struct.n_edges)
    out = np.empty(capacity)
    return out[: _native.edges(chosen.struct, len(masses), address(masses), None, address(codes), capacity, address(out))]


def mode_moments(
    score: Any,
    mass: Any,
    weight: Any = None,
    label: Any = None,
    *,
    at: Any = None,
    background_label: int = 0,
    **given: Unpack[LossOptions],
) -> Moments:
    """F_b, c_l and c~_l at given scores: what the loss is made of, for plots.

    Takes what :func:`mode_loss` takes, and ``at``, a sequence of scores: by
    default 101 from the lowest to the highest end of ``score_range``, or of
    the scores where that is None. Returns a :class:`Moments`.
    """
    chosen = options(background_label, **given)
    ev = events(score, mass, weight, label, chosen, double=True)
    edges = _edges(chosen, ev.mass, ev.label)
    if at is None:
        low, high = chosen.struct.score_range
        if np.isinf(low):
            inside = (ev.mass >= edges[0]) & (ev.mass <= edges[-1])
            if ev.label is not None:
                inside &= ev.label == chosen.labels[0]
            low, high = ev.score[inside].min(), ev.score[inside].max()
        at = np.linspace(low, high, 101)
    at = np.ascontiguousarray(vector("at", at), dtype=np.float64)
    size = chosen.struct.order + 1
    cdf, moments, bounded = (np.empty((len(at), columns)) for columns in (len(edges) - 1, size, size))
    _native.moments(
        chosen.struct,
        len(ev.score),
        *map(address, (ev.score, ev.mass, ev.weight, ev.label)),
        len(at),
        address(at),
        len(edges) - 1,
        *map(address, (cdf, moments, bounded)),
    )
    return Moments(at, edges, cdf, moments, bounded)
