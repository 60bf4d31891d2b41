"""A test of whether the response to background is a polynomial in mass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._evaluate import Result
from .._events import read_events, takes_events
from .._functions import mode_edges, mode_evaluate, mode_loss
from .._read import as_array, numbers
from ..option_types import LossOptions
from ._bins import Bins, Doubles, sums
from ._chi_squared import tail
from ._histogram import read_histogram
from ._sample import Histogram, Sample, checked_order, examine, labels
from ._spectrum import MOST_BINS, Binned, Cut, joined, ladder, spectrum, steps

FEWEST_EFFECTIVE = 1.05  # events of a bin, as in core/internal/loss/variance.go
# Effective events for each bin where weights differ. With weights 100 above a score and 1 below, p < 0.01 in 1.5 % of
# toys with 24 events for each bin, and in 8 % with 16. The loss merges bins that lack effective events: a bin without a
# heavy event stays as it is, and its response differs from that of the others.
IN_EACH, USUALLY = 24, 32


@dataclass(frozen=True)
class Dependence:
    """The distance of a response from a polynomial in mass, and its probability, see :func:`dependence`."""

    value: float  #: the plain MoDe loss
    expectation: float  #: its mean over samples in which the response is such a polynomial
    p_value: float  #: of such a sample, by the smaller of the two below; 1 if all events have one score; 0 below 1e-300
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    bins: int  #: the number of mass bins
    p_all_cuts: float  #: of at least ``value`` in such a sample
    p_one_cut: float  #: of a cut at least as significant as ``cut`` in such a sample; 1 where none is tested
    cut: Cut | None  #: the most significant one; None with less than 16 events, or two distinct scores


@takes_events
def dependence(
    score: Any,
    label: Any = None,
    mass: Any = None,
    *,
    weight: Any = None,
    order: int | None = None,
    bins: Any = None,
    mass_range: tuple[float, float] | None = None,
    score_range: tuple[float, float] | None = (0.0, 1.0),
) -> Dependence:
    """Test of the hypothesis that the response to background is a polynomial of degree ``order`` in mass.

    It tests all working points at once: for each s, the fraction of background with scores up to s is
    such a polynomial. At order 0, score and mass are independent. The result joins two tests: one of all cuts, which
    averages over them, and one of the most significant of several tight cuts. For the first, with F_b(s)
    the weight fraction of mass bin b with scores up to s, B bins, P the means of the Legendre
    polynomials in them and R = 1 - P (P'P)^-1 P'::

        value       = 1/B sum_b integral (R F)_b(s)^2 ds
        expectation = 1/B sum_b R_bb integral V_b(s, s) ds

    which are :func:`libmode.mode_loss` with ``unbiased=False`` and the ``bias`` of :func:`libmode.mode_evaluate`.
    Under the hypothesis F - E F is Gaussian, independent between bins, with the covariance::

        V_b(s, t) = sum_i (w_i/W_b)^2 (Theta(s - s_i) - E F_b(s)) (Theta(t - s_i) - E F_b(t))

    So B times the loss is a sum of squares of Gaussians with the eigenvalues of R V R as variances (T. W. Anderson,
    D. A. Darling, Ann. Math. Statist. 23 (1952) 193). The best polynomials through the bins stand for E F_b.

    The second test looks at the cuts that keep 1/2, 1/4, 1/8 and so on of the background, as long as eight effective
    events remain. At each cut the sum of (R F)_b over a window of neighboring bins is squared, and the squares of all
    windows are added. A window has one bin, or enough bins for two selected events. This sum has a p-value of its own.
    With the smallest one of k cuts, q = 1 - (1 - p)^(1 + 0.8 (k - 1)) is the chance that one of them is that small, and
    r = 1 - (1 - min(p_all_cuts, q))^1.8 that one of the two tests is. Then ``p_one_cut`` = q - 0.3 q^2 (1 - q) and
    ``p_value`` = r - 0.4 r^2 (1 - r). The four numbers are from toys.

    P-values below 0.01 are right to a factor of about two, also with 35 % of negative weights, and where a few
    events of high scores have most of the weight.

    Parameters
    ----------
    score : (n,) real numbers inside ``score_range``, or a histogram (see ``libmode.metrics``)
        Of events outside the training sample. The scores of a histogram's cell count as its center.
    label : (n,) 1 for signal, 0 for background, optional
        Background alone is tested; by default all events are background.
    mass : (n,) real numbers, in any unit
        With a histogram leave this out, and ``label``, ``weight`` and ``mass_range``.
    weight : (n,) real numbers of either sign, optional
    order : int, 0 to 16
    bins : int, ``order + 2`` to 512, optional
        Bins of equal numbers of events, which set the narrowest structure that the test sees; as many as in the
        loss by default, at most 32; where weights differ in size, at most one for each 24 effective events. With a
        histogram: edges of its mass axis, by default all of them.
    mass_range : (low, high), optional
        Events outside take no part; by default from the lowest to the highest mass.
    score_range : (low, high) or None
        A score outside is an error, as in the loss; None allows every score.

    Returns
    -------
    Dependence

    Raises
    ------
    ValueError, TypeError
        For a bin whose weights do not have a positive sum, or that has fewer than 1.05 effective events,
        (sum w)^2 / (sum w^2); for bins that are too few or too many.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.metrics import dependence
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.uniform(50, 250, 10_000)  # of background
    >>> score = np.where(rng.random(10_000) < 0.3 + mass / 1000, 0.8, 0.2)  # an efficiency linear in the mass
    >>> print(f"{dependence(score, None, mass, order=0).p_value:.0e}")
    1e-15
    >>> print(f"{dependence(score, None, mass, order=1).p_value:.2f}")
    0.94

    A response that sculpts at tight cuts alone:

    >>> score = rng.random(10_000) + (rng.random(10_000) < 0.03) * (abs(mass - 120) < 5)
    >>> result = dependence(score, None, mass, order=0, score_range=None)
    >>> print(f"all cuts: {result.p_all_cuts:.2f}; the cut with {result.cut.efficiency:.1%}: {result.p_one_cut:.0e}")
    all cuts: 0.25; the cut with 0.2%: 3e-15
    """
    order = checked_order(order)
    histogram = read_histogram(score, label=label, mass=mass, weight=weight, mass_range=mass_range)
    if histogram is not None:
        result, cells = _of_histogram(histogram, order, bins)
    else:
        options: LossOptions = {"order": order, "bins": bins, "mass_range": mass_range, "unbiased": False}
        if label is not None:
            events = read_events(as_array, score, label, mass, weight)
            signal = labels(events.label, "score", events.score)
            if signal.all():
                raise ValueError("label is 1 for all events: expected background, which has label 0")
            examine(Sample(events.score, signal, np.empty((len(signal), 0)), np.ones(len(signal))))
            score, _, mass, weight, _ = events.where(~signal)
        result, cells = _of_events(score, mass, weight, score_range, options)
    # By V rather than by the expectation, whose estimate grows with the loss where a bin has few effective events.
    between = steps(cells)
    cuts, cut, p_all, p_one = len(between.below), None, 1.0, 1.0
    if cuts > 0:
        variances, unit = spectrum(cells, between)
        p_all = tail(result.loss * cells.bins.count / unit, variances) if variances.any() else 0.0
    if cuts > 1:
        cut, p_one = ladder(cells, between)
    if cut is not None and histogram is not None:  # its score is the center of a cell
        edges = histogram.axes[1]
        cut = replace(cut, threshold=float(edges[np.searchsorted(edges, cut.threshold) - 1]))
    p_one, p_value = joined(p_all, p_one) if cut is not None else (1.0, p_all)
    return Dependence(result.loss, result.bias, p_value, result.events, cells.bins.count, p_all, p_one, cut)


def _of_events(
    score: Any, mass: Any, weight: Any, score_range: tuple[float, float] | None, options: LossOptions
) -> tuple[Result, Binned]:
    scores = numbers("score", score)
    masses = numbers("mass", mass, "score", scores)[:, None]
    # weights() would refuse 1e200, which works here: weights are divided by their sums before they are squared.
    weigh = np.ones(len(scores)) if weight is None else numbers("weight", weight, "score", scores)
    if options["bins"] is None and weight is not None:
        low, high = mode_edges(mass, weight=weight, **options)[[0, -1]]
        inside = weigh[(masses[:, 0] >= low) & (masses[:, 0] <= high)]
        options = {**options, "bins": most_bins(inside, options["order"])}
    # The arrays of the user: their types decide to what the limits are rounded.
    if score_range is not None:
        mode_loss(score, mass, weight=weight, **options | {"score_range": score_range})  # its error names the score
    # Beyond the lowest and the highest score there is only rounding, which may exceed the loss of squeezed scores.
    result = mode_evaluate(score, mass, weight=weight, grad=False, **options | {"score_range": None})
    order, used = options["order"], Bins(mode_edges(mass, weight=weight, **options), masses)
    if not order + 2 <= used.count <= MOST_BINS:
        raise ValueError(
            f"bins = {options['bins']}: expected {order + 2} to {MOST_BINS} at order = {order}, and these masses fill "
            f"{used.count}"
        )
    place = used.find(masses)
    there = (place >= 0) & (weigh != 0)
    place, weigh = place[there], weigh[there]
    of_bin = sums(place, weigh, used.count)
    share = weigh / of_bin[place]
    _enough(used, 1 / sums(place, share**2, used.count))
    _, terms = used.polynomials(masses[there], order)
    means = np.column_stack([sums(place, share * term, used.count) for term in terms])
    binned = Binned(used, place, scores[there], share, share**2, means)
    return result, binned


def _enough(bins: Bins, effective: Doubles) -> None:
    for k, left in enumerate(effective):
        if left < FEWEST_EFFECTIVE:
            raise ValueError(f"{bins.name(k)} has {left:.3g} effective events: expected at least {FEWEST_EFFECTIVE}")


def most_bins(weight: Doubles, order: int) -> int | None:
    """How many bins weights of different sizes allow; None for equal weights, which allow the bins of the loss."""
    share = weight[weight != 0] / np.abs(weight).max()
    if np.all(np.abs(share) == 1):
        return None
    return max(min(int(share.sum() ** 2 / np.sum(share**2) / IN_EACH), USUALLY), order + 2)


def _of_histogram(histogram: Histogram, order: int, edges: Any) -> tuple[Result, Binned]:
    """The loss of events with their scores at the centers of cells, and the cells."""
    bins, scores = histogram.bins(edges), histogram.axes[1]
    if not order + 2 <= bins.count <= MOST_BINS:
        raise ValueError(f"the histogram has {bins.count} mass bins: expected {order + 2} to {MOST_BINS}, see bins")
    if not np.isfinite(scores).any():
        raise ValueError("the histogram has no score axis: expected (values, mass edges, score edges)")
    background = histogram.where(~histogram.signal)
    place, columns = bins.find(background.mass), len(scores) - 1
    inside, place = background.where(place >= 0), place[place >= 0]
    cell = place * columns + np.searchsorted(scores, inside.score)
    weight, square = (
        sums(cell, each, bins.count * columns).reshape(-1, columns) for each in (inside.weight, inside.square)
    )
    of_bin, squares = weight.sum(axis=1), square.sum(axis=1)
    if (of_bin <= 0).any():
        k = int(np.argmax(of_bin <= 0))
        raise ValueError(f"the weights of {bins.name(k)} sum to {of_bin[k]:g}: expected a positive sum")
    _enough(bins, of_bin**2 / squares)
    terms = bins.polynomials(inside.mass, order, inside.widths())[1]
    means = np.stack([sums(place, inside.weight * term, bins.count) for term in terms], axis=1) / of_bin[:, None]
    share, square = weight / of_bin[:, None], square / of_bin[:, None] ** 2
    finite = np.clip(scores, *scores[np.isfinite(scores)][[0, -1]])
    center = (finite[1:] + finite[:-1]) / 2

    width = np.diff(center)
    cdf, steps = np.cumsum(share, axis=1)[:, :-1], np.cumsum(square, axis=1)[:, :-1]
    flat = np.linalg.qr(means)[0]
    residual = cdf - flat @ (flat.T @ cdf)
    total = square.sum(axis=1, keepdims=True)
    # The core's variance (core/internal/loss/variance.go), in which the events of a bin count as having one weight.
    variance = (steps * (1 - 2 * cdf) + cdf**2 * total) / (1 - total)
    loss = float(np.sum(residual**2 @ width)) / bins.count
    bias = float(np.sum((1 - np.sum(flat**2, axis=1)) * (variance @ width))) / bins.count
    events = float(of_bin.sum() ** 2 / squares.sum())
    place, cell = np.nonzero(square)
    cells = Binned(bins, place, center[cell], share[place, cell], square[place, cell], means)
    return Result(loss, bias, events, None, None), cells
