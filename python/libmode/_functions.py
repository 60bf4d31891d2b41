"""The functions of the top level: NumPy in, NumPy out."""

from __future__ import annotations

from ctypes import sizeof
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._evaluate import IN_DOUBLE, Call, Result, evaluate, loss_and_grad
from ._events import Events
from ._native import ModeTable, address
from ._options import Options, check, with_options
from ._problems import OF_FUNCTIONS
from ._read import as_array, flag, together, vector
from .option_types import Loss, LossOptions, Unpack


class Moments(NamedTuple):
    """The parts of the loss, see :func:`mode_moments`."""

    at: NDArray[np.float64]  #: (k,) the scores s
    edges: NDArray[np.float64]  #: (bins + 1,) edges of the mass bins, in units of mass
    cdf: NDArray[np.float64]  #: (k, bins) F_b(s), the weight fraction of bin b with scores <= s
    moments: NDArray[np.float64]  #: (k, order + 1) the Legendre moments c_l(s)
    bounded: NDArray[np.float64]  #: (k, order + 1) c~_l(s), which differ where max_slope or monotonic is set


def mode_loss(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, category: Any = None, loss: Loss = "mode",
    **options: Unpack[LossOptions],
) -> float:  # fmt: skip
    r"""The MoDe loss of arXiv:2010.09745, integrated exactly over the scores; or DisCo, for comparison.

    The loss is the squared distance of the score distributions F_b of the mass bins b from their best polynomials of
    degree ``order``, with Legendre moments c_l, less the mean that noise gives it (docs/how-it-works.md):

    .. math::

        \mathrm{loss} = \frac{1}{\mathrm{bins}} \int \sum_b \Big( F_b(s) - \sum_l c_l(s) P_{bl} \Big)^2 ds
        - \mathrm{bias}

    DisCo is the squared distance correlation of mass and score (G. Kasieczka and D. Shih, arXiv:2001.05310), whose
    formula :func:`libmode.torch.distance_correlation` has. Both take O(n log n) time and O(n) memory.

    Parameters
    ----------
    score : (n,) or (n, 1) real numbers inside ``score_range``
        Outputs of the classifier.
    mass : (n,) or (n, d) real numbers, in any unit
        The mass, or d = 1 to 3 variables. Several variables have the mean of their losses, or one loss with
        ``joint``. An event outside the range of one variable takes no part in the loss of that variable. Limits of
        masses and of scores are rounded outwards to the type of the array: float32 masses of 0.8 are inside
        ``mass_range=(0, 0.8)``.
    weight : (n,) or (n, 1) real numbers of either sign, optional
        Event weights; all 1 by default.
    label : (n,) or (n, 1) real numbers or bools, optional
        Only events whose label equals ``background_label`` take part, or every event without labels; NaN is an error.
    category : (n,) or (n, 1) integers or bools, optional
        Years, slices of another variable, or groups. The loss is the sum over categories. Each counts with the loss
        of its events alone, in its own bins, times its share of the sum of weights of all selected events. By default
        all events are one category.
    loss : "mode" or "disco", default "mode"
        "disco" takes one mass, no category, any score, and only the options ``unbiased``, False by default, and
        ``background_label``.
    {options}

    Returns
    -------
    float
        May be negative with ``unbiased``: a response without forbidden dependence has 0 on average.

    Raises
    ------
    BatchError
        If no event is selected, or too few for the bins, or if a bin is empty or has no positive sum of weights. For
        DisCo: with fewer than 2 events, or 4 with ``unbiased``, or if it would be 0/0, for instance if all scores are
        equal. It is a ValueError.
    ValueError
        For a value out of range, with its argument, value and place.
    TypeError
        For an option that the loss does not take, or a wrong type.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import mode_loss
    >>> rng = np.random.default_rng(1)
    >>> mass = 50 + rng.exponential(60, 10_000)  # in GeV, say
    >>> score = rng.random(10_000) * mass / (mass + 50)  # the higher the mass, the higher the score
    >>> print(f"{mode_loss(score, mass, order=0):.5f}")
    0.00418
    >>> print(f"{mode_loss(score, mass, order=1):.5f}")  # the part that is linear in the mass costs nothing
    0.00083
    >>> print(f"{mode_loss(score, mass, loss='disco'):.4f}")
    0.0533
    """
    return evaluate(check(loss, options), score, label, mass, weight, category, grad=False).loss


def mode_loss_and_grad(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, category: Any = None, loss: Loss = "mode",
    **options: Unpack[LossOptions],
) -> tuple[float, NDArray[Any]]:  # fmt: skip
    """The MoDe loss, a float, and its gradient d loss/d score.

    Takes the arguments of :func:`mode_loss`. The gradient has the shape and the floating type of ``score``, but
    float32 for float16 (where most of it would be 0) and float64 for integers. Events that take no part have gradient
    exactly 0. At equal scores the derivative of DisCo's abs(s_i - s_j) counts as 0, the mean of both sides.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import mode_loss_and_grad
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.exponential(60, 10_000), rng.random(10_000)
    >>> score[mass > 100] **= 2  # lower at high masses
    >>> loss, grad = mode_loss_and_grad(score, mass, order=0)
    >>> closer = np.clip(score - 100 * grad, 0, 1)  # a step downhill
    >>> bool(mode_loss_and_grad(closer, mass, order=0)[0] < loss)
    True
    """
    return loss_and_grad(check(loss, options), score, label, mass, weight, category)


def mode_evaluate(
    score: Any, mass: Any, *, weight: Any = None, label: Any = None, category: Any = None,
    grad: bool = True, hess: bool = False, **options: Unpack[LossOptions],
) -> Result:  # fmt: skip
    """The MoDe loss, with its bias, its effective number of events, and its derivatives.

    Takes the arguments of :func:`mode_loss` except ``loss``. A test with N events sees no dependence if
    ``loss / (bias * events / N)`` is at most 1 (with ``unbiased=False``, use ``loss - bias`` in place of loss).

    Parameters
    ----------
    grad : bool, default True
        Whether to compute the gradient, as :func:`mode_loss_and_grad`.
    hess : bool, default False
        Whether to compute h_i >= 0, a diagonal bound on the curvature for boosted trees: along v the curvature is at
        most sum h_i v_i^2, for moves of about 1/16 of ``score_range`` (docs/how-it-works.md has the formula).

    Returns
    -------
    Result
        ``loss``; ``bias``, which ``unbiased`` subtracts, or NaN if a bin has fewer than 1.05 effective events;
        ``events``, (sum w)^2 / sum w^2; ``grad`` and ``hess``, of the shape of ``score``, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import mode_evaluate
    >>> rng = np.random.default_rng(1)
    >>> mass, score = rng.exponential(60, 10_000), rng.random(10_000)
    >>> score[mass > 100] **= 1.5
    >>> result = mode_evaluate(score, mass, order=0, grad=False)
    >>> for n in (10_000, 500):  # a test with 10,000 events sees the dependence, and one with 500 does not
    ...     print(f"{result.loss / (result.bias * result.events / n):.2f}")
    2.56
    0.13
    """
    checked, grad, hess = check("mode", options), flag("grad", grad), flag("hess", hess)
    return evaluate(checked, score, label, mass, weight, category, grad=grad, hess=hess, quality=True)


def mode_edges(
    mass: Any, *, weight: Any = None, label: Any = None, **options: Unpack[LossOptions]
) -> NDArray[np.float64]:
    """The edges of the mass bins that the loss uses, in units of mass.

    Takes ``mass``, ``weight``, ``label`` and the options of :func:`mode_loss`, for one variable, one category and one
    background label at a time. Weights matter if ``bins`` is left out. Equal masses may leave fewer bins than the
    option asks for.

    Returns
    -------
    (bins + 1,) float64
        Increasing, in units of mass. Each bin holds its lower edge, the last one its upper edge too.

    Examples
    --------
    >>> from libmode import mode_edges
    >>> mass = [60, 61, 64, 70, 80, 95, 115, 150]
    >>> mode_edges(mass, bins=4)
    array([ 60. ,  62.5,  75. , 105. , 150. ])
    >>> mode_edges(mass, bins=3, binning="uniform", mass_range=(0, 300))
    array([  0., 100., 200., 300.])
    """
    label, mass, weight = together(as_array, label=label, mass=mass, weight=weight)
    return _edges(check("mode", {"order": 0, **options}), Events(None, label, mass, weight))


def _edges(options: Options, events: Events) -> NDArray[np.float64]:
    """The edges of the bins for checked events."""
    out = np.empty(_table(options, events) + 1)
    _table(options, events, edges=out, capacity=len(out) - 1)
    return out


def _table(options: Options, events: Events, **wanted: Any) -> int:
    """Fills the arrays that are wanted of the parts of a loss, in double. Returns the number of bins."""
    values = {name: address(one) if isinstance(one, np.ndarray) else one for name, one in wanted.items()}
    table = ModeTable(sizeof(ModeTable), **values)
    Call(options, events, IN_DOUBLE).run("mode_table_of", OF_FUNCTIONS, table)
    bins: int = table.n_bins
    return bins


def mode_moments(
    score: Any, mass: Any, *, at: Any = None, weight: Any = None, label: Any = None, **options: Unpack[LossOptions]
) -> Moments:
    """F_b, c_l and c~_l at given scores: the parts of the loss, for plots.

    Takes the arguments of :func:`mode_loss`, for one variable, one category and one background label at a time, and
    ``at``, (k,) scores: by default 101 over ``score_range``, or over the range of the scores if it is None.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import mode_moments
    >>> rng = np.random.default_rng(1)
    >>> mass = rng.uniform(50, 300, 30_000)
    >>> score = (mass / 300 + rng.random(30_000)) / 2  # at higher masses fewer events are below a score
    >>> parts = mode_moments(score, mass, at=[0.5], order=1, bins=3)
    >>> parts.cdf.round(2), parts.moments.round(2)
    (array([[0.7 , 0.42, 0.14]]), array([[ 0.42, -0.42]]))
    """
    events = Events(*together(as_array, score=score, label=label, mass=mass, weight=weight))
    checked = check("mode", options)
    edges = _edges(checked, events._replace(score=None))
    if at is None:
        limits = checked.values["score_range"]
        if limits is None:
            inside = (events.mass >= edges[0]) & (events.mass <= edges[-1])
            if events.label is not None:
                inside &= events.label == checked.labels[0]
            limits = events.score[inside].min(), events.score[inside].max()
        at = np.linspace(limits[0], limits[1], 101)
    at = np.ascontiguousarray(vector("at", at), dtype=np.float64)
    size = checked.values["order"] + 1
    cdf, moments, bounded = (np.empty((len(at), columns)) for columns in (len(edges) - 1, size, size))
    _table(checked, events, n_at=len(at), at=at, capacity=len(edges) - 1, cdf=cdf, moments=moments, bounded=bounded)
    return Moments(at, edges, cdf, moments, bounded)


mode_loss.__doc__ = with_options(mode_loss.__doc__, "LossOptions")
