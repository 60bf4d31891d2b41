"""The functions of the top level: NumPy in, NumPy out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, events, label_codes, label_vector, same_length, vector, with_labels
from ._options import LossOptions, Options, options

if TYPE_CHECKING:
    from typing_extensions import Unpack


NO_SECOND_DERIVATIVE = (
    "the MoDe loss has no second derivative: it is piecewise linear in the scores. "
    "Leave it out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
)


#: A function as :func:`loss_and_grad` is, which modules that skip batches put in its place.
Evaluate = Callable[[Options, Any, Any, Any, Any], tuple[float, NDArray[Any]]]


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
    *,
    weight: Any = None,
    label: Any = None,
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
    bins : int, optional
        Number of mass bins. Where it is None or not given, it is the smaller of 32 and
        what the number of events allows; docs/options.md has the rule.
    binning : {"quantile", "uniform", "edges"}, default "quantile"
        Equal numbers of events, equal widths, or given by ``edges``.
    edges : sequence of float, optional
        Increasing edges of the mass bins. Then ``binning`` is left out or "edges".
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
    BatchError
        Where no event is selected, or too few for the bins, and for a bin that is empty
        or whose sum of weights is not positive. It is a ValueError.
    ValueError
        For a value out of range, with its argument, value and place.
    TypeError
        For an unknown option or a wrong type.
    """
    return only_loss(options(background_label, given), score, mass, weight, label)


def only_loss(
    chosen: Options, score: Any, mass: Any, weight: Any, label: Any, *, which: _native.Loss = "loss"
) -> float:
    """:func:`mode_loss`, or another loss, with options that are ready."""
    ev = events(score, mass, weight, label, chosen)
    arrays = map(address, (ev.score, ev.mass, ev.weight, ev.label))
    try:
        return _native.loss_grad(chosen.struct, ev.double, len(ev.score), *arrays, None, which=which, held=(chosen, ev))
    except _native.BatchError as error:
        raise with_labels(error, ev.given_label, chosen) from None


def mode_loss_and_grad(
    score: Any,
    mass: Any,
    *,
    weight: Any = None,
    label: Any = None,
    background_label: int | Sequence[int] = 0,
    **given: Unpack[LossOptions],
) -> tuple[float, NDArray[Any]]:
    """The MoDe loss and its gradient with respect to the scores.

    Takes what :func:`mode_loss` takes. The gradient has the shape of ``score``
    and its floating type, but float32 for float16, in which most of it would be 0,
    and float64 for integers; events that take no part have gradient exactly 0.
    """
    return loss_and_grad(options(background_label, given), score, mass, weight, label)


def loss_and_grad(
    chosen: Options, score: Any, mass: Any, weight: Any, label: Any, *, which: _native.Loss = "loss"
) -> tuple[float, NDArray[Any]]:
    """:func:`mode_loss_and_grad`, or that of another loss, with options that are ready."""
    ev = events(score, mass, weight, label, chosen)
    grad = np.empty_like(ev.score)
    arrays = map(address, (ev.score, ev.mass, ev.weight, ev.label, grad))
    try:
        loss = _native.loss_grad(chosen.struct, ev.double, len(ev.score), *arrays, which=which, held=(chosen, ev, grad))
    except _native.BatchError as error:
        raise with_labels(error, ev.given_label, chosen) from None
    like = np.asarray(score)
    return loss, grad.reshape(like.shape).astype(_grad_type(like.dtype), copy=False)


def _grad_type(score: np.dtype[Any]) -> Any:
    if score.kind != "f":
        return np.float64
    return np.float32 if score.itemsize < 4 else score


def mode_edges(
    mass: Any, *, weight: Any = None, label: Any = None, background_label: int = 0, **given: Unpack[LossOptions]
) -> NDArray[np.float64]:
    """The edges of the mass bins that the loss uses, in units of mass.

    Takes ``mass``, ``weight``, ``label`` and the options as :func:`mode_loss` does.
    Weights count where ``bins`` is left out. There may be fewer bins than asked for
    where masses are equal.
    """
    chosen = options(background_label, given)
    masses = np.ascontiguousarray(vector("mass", mass), dtype=np.float64)
    weights = None
    if weight is not None:
        weights = np.ascontiguousarray(vector("weight", weight), dtype=np.float64)
        same_length("weight", weights, "mass", masses)
    labels = None if label is None else label_vector(label, "mass", masses)
    return _edges(chosen, masses, weights, labels)


def _edges(
    chosen: Options,
    masses: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    label: NDArray[Any] | None,
) -> NDArray[np.float64]:
    # More bins than events are an error, for which there need not be room; bins are 0 where the core chooses.
    bins = min(chosen.struct.bins or 32, len(masses))
    out = np.empty(max(bins + 1, chosen.struct.n_edges))
    codes = label_codes(label, chosen)  # a name, so that the array lives as long as its address
    mass, weight, code = map(address, (masses, weights, codes))
    try:
        count = _native.edges(chosen.struct, len(masses), mass, weight, code, len(out), address(out))
    except _native.BatchError as error:
        raise with_labels(error, label, chosen) from None
    edges: NDArray[np.float64] = out[:count].copy()
    return edges


def mode_moments(
    score: Any,
    mass: Any,
    *,
    at: Any = None,
    weight: Any = None,
    label: Any = None,
    background_label: int = 0,
    **given: Unpack[LossOptions],
) -> Moments:
    """F_b, c_l and c~_l at given scores: what the loss is made of, for plots.

    Takes what :func:`mode_loss` takes, and ``at``, a sequence of scores: by
    default 101 from the lowest to the highest end of ``score_range``, or of
    the scores where that is None. Returns a :class:`Moments`.
    """
    chosen = options(background_label, given)
    ev = events(score, mass, weight, label, chosen, double=True)
    edges = _edges(chosen, ev.mass, ev.weight, ev.given_label)
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
