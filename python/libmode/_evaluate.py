"""The one way from arrays to a loss of the core and its gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, for_core, in_struct, is_double, read, ready, with_labels
from ._far_masses import look
from ._front import Events, events_of
from ._options import Options

#: A function as :func:`loss_and_grad` is, which modules that skip batches put in its place.
Evaluate = Callable[[Options, Any, Any, Any, Any, Any], tuple[float, NDArray[Any]]]


class Result(NamedTuple):
    """A loss, and what says whether it is significant, see :func:`libmode.mode_evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode import mode_evaluate
    >>> rng = np.random.default_rng(1)
    >>> loss, bias, events, grad, hess = mode_evaluate(rng.random(1_000), rng.exponential(60, 1_000), hess=True)
    >>> events, grad.shape, hess.shape
    (1000.0, (1000,), (1000,))
    """

    loss: float  #: as :func:`libmode.mode_loss` returns it
    bias: float  #: by how much the plain loss exceeds, in the mean, that of an infinite sample
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    grad: NDArray[Any] | None  #: d loss/d score, of score's shape; None with ``grad=False``
    hess: NDArray[Any] | None  #: a diagonal bound of the curvature, of score's shape, >= 0; None without ``hess=True``


def loss_and_grad(
    options: Options, score: Any, mass: Any, weight: Any, label: Any, category: Any = None
) -> tuple[float, NDArray[Any]]:
    """The loss and its gradient, for whatever NumPy makes arrays.

    The gradient has the shape and the type of ``score``, but float32 for float16, in which
    most of it would be 0, and float64 for integers.
    """
    events = events_of(read, score, mass, weight, label, category)
    double, kind = is_double(events), events.score.dtype
    grad = np.empty(len(events.score), np.float64 if double else np.float32)
    loss = _of_arrays(_native.loss_grad, for_core, options, events, double, grad)
    return loss, _given_back(grad, score, kind)


def _given_back(grad: NDArray[Any], score: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    """The gradient in the shape of the scores that were given, and in the type that says as much as theirs."""
    kept = np.float64 if kind.kind != "f" else np.float32 if kind.itemsize < 4 else kind
    result: NDArray[Any] = grad.reshape(np.shape(score)).astype(kept, copy=False)
    return result


def evaluate(
    options: Options,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    category: Any = None,
    *,
    grad: bool = True,
    hess: bool = False,
) -> Result:
    """The loss, its bias, the number of events, and its derivatives, each of them None where it is not wanted."""
    events = events_of(read, score, mass, weight, label, category)
    double, kind = is_double(events), events.score.dtype
    slope = np.empty(len(events.score), np.float64 if double else np.float32) if grad else None
    found = _of_arrays(_native.evaluate, in_struct, options, events, double, slope)
    bound = loss_grad_hess(options, None, *events)[2] if hess else None
    of_score = (None if own is None else _given_back(own, score, kind) for own in (slope, bound))
    return Result(found.loss, found.bias, found.events, *of_score)


def direction(
    options: Options,
    steering: _native.ModeSteering,
    score: Any,
    mass: Any,
    weight: Any,
    label: Any,
    category: Any = None,
) -> tuple[_native.ModePushed, NDArray[Any], NDArray[np.float64]]:
    """What the core finds for a constraint, the push (batch,), and the residual, a row a background label."""
    events = events_of(read, score, mass, weight, label, category)
    double = is_double(events)
    push = np.empty(steering.batch or len(events.score), np.float64 if double else np.float32)
    variables = 1 if events.mass.ndim == 1 else events.mass.shape[1]
    residual = np.empty((len(options.labels), _native.direction_size(variables, 1)))
    call = partial(_native.direction, steering=steering, residual=address(residual))
    found = _of_arrays(call, in_struct, options, events, double, push)
    return found, push, residual


def loss_grad_hess(
    options: Options, smoothing: float | None, score: Any, mass: Any, weight: Any, label: Any, category: Any = None
) -> tuple[float, NDArray[Any], NDArray[Any]]:
    """The loss, its gradient and the bound of its curvature, both of the type that :func:`loss_and_grad` has.

    The bound is for moves of ``smoothing`` times the range of the scores; None: of what the core chooses, 1/16.
    """
    events = events_of(read, score, mass, weight, label, category)
    double, kind = is_double(events), events.score.dtype
    both = np.empty((2, len(events.score)), np.float64 if double else np.float32)
    call = partial(_native.loss_grad_hess, hess=address(both[1]), smoothing=smoothing)
    loss = _of_arrays(call, in_struct, options, events, double, both)
    grad, hess = (_given_back(own, score, kind) for own in both)
    return loss, grad, hess


def loss_alone(options: Options, score: Any, mass: Any, weight: Any, label: Any, category: Any = None) -> float:
    """The loss without its gradient."""
    events = events_of(read, score, mass, weight, label, category)
    loss: float = _of_arrays(_native.loss_grad, for_core, options, events, is_double(events), None)
    return loss


def _of_arrays(
    call: Callable[..., Any],
    packed: Callable[[Events], Any],
    options: Options,
    events: Events,
    double: bool,
    grad: NDArray[Any] | None,
) -> Any:
    """What a function of the library, which takes events that are packed so, returns for arrays."""
    options = options.for_events(events.score.dtype, events.mass.dtype, events.mass.shape)
    arrays = ready(events, double)
    try:
        result = call(options, double, len(arrays.score), packed(arrays), address(grad), held=(arrays, grad))
    except _native.BatchError as error:
        raise with_labels(error, events.label, options) from None
    look(options, arrays.mass, arrays.label)
    return result
