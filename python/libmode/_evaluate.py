"""From arrays to a loss of the core and its gradient, or to a push."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import address, explained, for_core, is_double, ready
from ._disco import disco
from ._events import Events, read_events
from ._options import Options
from ._problems import IN_LINES, Said, look_at_masses, look_at_type
from ._read import as_array, check_labels

#: The type of :func:`loss_and_grad`, and of functions that modules put in its place to skip batches.
Evaluate = Callable[[Options, Any, Any, Any, Any, Any], tuple[float, NDArray[Any]]]


class Result(NamedTuple):
    """A loss, its significance and its derivatives, see :func:`libmode.mode_evaluate`."""

    loss: float  #: the value of :func:`libmode.mode_loss`
    bias: float  #: the mean excess of the plain loss over the loss of an infinite sample
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    grad: Any  #: d loss/d score, of score's shape; None with ``grad=False``
    hess: Any  #: a diagonal bound of the curvature, of score's shape, >= 0; None without ``hess=True``


def loss_and_grad(
    options: Options, score: Any, label: Any, mass: Any, weight: Any, category: Any = None, *, said: Said = IN_LINES
) -> tuple[float, NDArray[Any]]:
    """The loss and its gradient, for anything that NumPy turns into arrays. Leaving out the bias saves time."""
    value, grad, _ = evaluated(options, score, label, mass, weight, category, loss_alone=True, said=said)
    return value.loss, grad


def evaluate(options: Options, *events: Any, **wanted: Any) -> Result:
    """The result of :func:`evaluated`."""
    value, grad, hess = evaluated(options, *events, **wanted)
    return Result(value.loss, value.bias, value.events, grad, hess)


def evaluated(
    options: Options,
    score: Any,
    label: Any,
    mass: Any,
    weight: Any,
    category: Any = None,
    *,
    grad: bool = True,
    hess: bool = False,
    loss_alone: bool = False,
    smoothing: float = 0,
    strength: _native.ModeStrength | None = None,
    said: Said = IN_LINES,
) -> tuple[_native.Evaluated, Any, Any]:
    """What the core finds, without bias and events if ``loss_alone``, and the derivatives that are wanted.

    ``said`` knows the earlier warnings of the caller.
    """
    events = read_events(as_array, score, label, mass, weight, category)
    options, arrays, double = _ready(options, events)
    slope, bound = (np.empty_like(arrays.score) if wanted else None for wanted in (grad, hess))
    try:
        if options.loss == "disco":
            value = _native.Evaluated(disco(options, arrays, double, slope))
        else:
            value = _native.evaluate(
                options.struct,
                for_core(arrays),
                double,
                address(slope),
                address(bound),
                (arrays, slope, bound),
                loss_alone=loss_alone,
                smoothing=smoothing,
                flatness=options.loss == "flatness",
                strength=strength,
            )
    except ValueError as error:
        raise explained(error, events.score, events.mass, events.label, options) from None
    look_at_masses(said, options, arrays.mass, arrays.label)
    look_at_type(said, events.mass.dtype, arrays.mass)
    kind, shape = events.score.dtype, np.shape(score)
    if kind.kind != "f" or kind.itemsize < 4:  # in float16 most of a gradient would be 0
        kind = np.dtype(np.float32 if kind.kind == "f" else np.float64)
    slope, bound = (None if one is None else one.reshape(shape).astype(kind, copy=False) for one in (slope, bound))
    return value, slope, bound


def _ready(options: Options, events: Events) -> tuple[Options, Events, bool]:
    """The options for these events, the events as the core reads them, and whether it computes in double."""
    check_labels(events.label, options.labels)
    double = is_double(events)
    if not options.fit_all:
        options = options.rounded_to(events.score.dtype, events.mass.dtype)
    return options, ready(events, double), double


def direction(
    options: Options, steering: _native.ModeSteering, events: Events, state: Any, said: Said = IN_LINES
) -> _native.ModePushed:
    """The push of the core for checked events. The steering has the address of the state."""
    options, arrays, double = _ready(options, events)
    rows = np.empty((3, steering.batch or len(arrays.score)), arrays.score.dtype)
    start, step = rows.__array_interface__["data"][0], rows.strides[0]
    out = start, start + step, start + 2 * step
    packed, held = for_core(arrays), (arrays, rows, state)
    try:
        pushed = _native.direction(options.struct, packed, double, steering, *out, held=held)
    except ValueError as error:
        raise explained(error, events.score, events.mass, events.label, options) from None
    look_at_masses(said, options, arrays.mass, arrays.label)
    look_at_type(said, events.mass.dtype, arrays.mass)
    pushed.rows, (pushed.push, pushed.multiplier, pushed.slope) = rows, rows
    return pushed
