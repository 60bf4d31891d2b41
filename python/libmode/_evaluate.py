"""From arrays to a loss of the core and its gradient, or to a push."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from ctypes import Structure, c_void_p, sizeof
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import explained
from ._disco import disco
from ._events import Events, R, read_events
from ._options import Options
from ._problems import FAR_MASSES, IN_LINES, Said, look_at_masses, look_at_type
from ._read import MOST_VARIABLES, as_array, check_labels

# By number of variables: the type of an array with the addresses of their masses.
_MASSES, _SIZE = [c_void_p * count for count in range(MOST_VARIABLES + 1)], sizeof(_native.ModeEvents)
_SIZE_OF_RESULT, _SIZE_OF_ROWS = sizeof(_native.ModeResult), sizeof(_native.ModeRows)


class Result(NamedTuple):
    """A loss, its significance and its derivatives, see :func:`libmode.mode_evaluate`."""

    loss: float  #: the value of :func:`libmode.mode_loss`
    bias: float  #: the mean excess of the plain loss over the loss of an infinite sample
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    grad: Any  #: d loss/d score, of score's shape; None with ``grad=False``
    hess: Any  #: a diagonal bound of the curvature, of score's shape, >= 0; None without ``hess=True``


class Kind(NamedTuple):
    """What the functions here do with arrays of NumPy, or with the tensors of a framework."""

    ready: Callable[[Events], tuple[Events, bool]]  #: :func:`ready`
    new: Callable[[Any, Any], Any]  #: an array without values, like a given one, of this shape
    address: Callable[[Any], int | None]
    as_numpy: Callable[[Any], Any]  #: of arrays that are ready
    label_types: Mapping[Any, int]  #: MODE_LABEL_... of mode.h


_LABEL_TYPES = {np.dtype(name): number for name, number in _native.LABEL_TYPES.items()}


def ready(events: Events, double: bool | None = None) -> tuple[Events, bool]:
    """Contiguous arrays of float64 or float32, variables of mass as rows; and whether the core computes in double."""
    score, label, mass, weight, category = events
    if double is None:
        narrow = score.dtype.char in "fe" and mass.dtype.char in "fe"
        double = not narrow or weight is not None and weight.dtype.char not in "fe"
    kind = np.float64 if double else np.float32
    mass = np.ascontiguousarray(mass.T if mass.ndim > 1 else mass, kind)
    if score is not None:
        score = np.ascontiguousarray(score, kind)
    if weight is not None:
        weight = np.ascontiguousarray(weight, kind)
    if label is not None:  # other types become float64, which holds every background label
        label = np.ascontiguousarray(label, label.dtype if label.dtype in _LABEL_TYPES else np.float64)
    if category is not None:  # an unsigned integer above int64 wraps to a number that no other category has
        category = np.ascontiguousarray(category, category.dtype if category.dtype in _LABEL_TYPES else np.int64)
    return Events(score, label, mass, weight, category), double


#: Arrays of NumPy, in the type of the events or in double.
NUMPY = Kind(ready, lambda like, shape: np.empty(shape, like.dtype), _native.address, lambda array: array, _LABEL_TYPES)
IN_DOUBLE = NUMPY._replace(ready=partial(ready, double=True))


def for_core(events: Events, kind: Kind = NUMPY) -> Structure:
    """The struct of the library for arrays that are ready."""
    score, label, mass, weight, category = events
    address, rows = kind.address, (mass,) if mass.ndim == 1 else mass
    return _native.ModeEvents(
        _SIZE,
        rows[0].shape[0],
        None if score is None else address(score),
        None if label is None else address(label),
        _MASSES[len(rows)](*map(address, rows)),
        len(rows),
        None if weight is None else address(weight),
        None if category is None else address(category),
        0 if label is None else kind.label_types[label.dtype],
        0 if category is None else kind.label_types[category.dtype],
    )


def in_core(run: Callable[[Options, Events, bool], R], options: Options, events: Events, kind: Kind, said: Said) -> R:
    """The result of ``run`` for checked events, which it gets as the core reads them; ``said`` knows earlier warnings.

    ``run`` gets the options for these events too, and whether the core computes in double.
    """
    arrays, double = kind.ready(events)
    if arrays.label is not None:
        label = kind.as_numpy(arrays.label)
        # A NaN, if there is one, in less time than check_labels takes.
        if label.dtype.kind == "f" and label.size and math.isnan(label.item(label.argmin())):
            check_labels(label, options.labels)
    if not options.fit_all:
        score = events.mass if events.score is None else events.score
        options = options.rounded_to(score.dtype, events.mass.dtype)
    try:
        result = run(options, arrays, double)
    except ValueError as error:
        score, label, mass = (None if array is None else kind.as_numpy(array) for array in arrays[:3])
        raise explained(error, score, mass, label, options, events.mass.dtype) from None
    if options.loss == "mode" and said.due(FAR_MASSES):
        look_at_masses(said, options, arrays.mass, arrays.label)
    if events.mass.dtype.itemsize == 2:
        look_at_type(said, events.mass.dtype, arrays.mass)
    return result


def derivatives(
    options: Options,
    events: Events,
    kind: Kind,
    said: Said,
    *,
    grad: bool = True,
    hess: bool = False,
    loss_alone: bool = False,
    strength: Structure | None = None,
) -> tuple[Structure, Any, Any]:
    """What the core finds for checked events, and the wanted derivatives; with ``loss_alone`` no bias and no events.

    A ``strength`` multiplies the gradient, and has the factor for the loss then.
    """

    def run(options: Options, arrays: Events, double: bool) -> tuple[Structure, Any, Any]:
        score, address = arrays.score, kind.address
        slope = kind.new(score, score.shape) if grad else None
        bound = kind.new(score, score.shape) if hess else None
        addresses = None if slope is None else address(slope), None if bound is None else address(bound)
        result = _native.ModeResult(_SIZE_OF_RESULT, *addresses, 0.0, not loss_alone)
        if options.loss == "disco":
            known = Events(*(None if array is None else kind.as_numpy(array) for array in arrays))
            result.loss = disco(options, known, double, None if slope is None else kind.as_numpy(slope))
            return result, slope, bound
        packed, held = for_core(arrays, kind), (arrays, slope, bound)
        _native.call_with("mode_evaluate", double, packed.n, held, options.struct, packed, result)
        if strength is not None:
            _native.call_with("mode_strengthen", double, packed.n, held, options.struct, packed, strength, addresses[0])
        return result, slope, bound

    return in_core(run, options, events, kind, said)


def direction(
    options: Options, how: Structure, events: Events, state: Any, said: Said, kind: Kind
) -> tuple[NDArray[np.float64], Any]:
    """The lesson and the rows of mode.h, (4, batch), of checked events. ``how`` has the address of the state."""

    def run(options: Options, arrays: Events, double: bool) -> tuple[NDArray[np.float64], Any]:
        packed, lesson = for_core(arrays, kind), np.empty(how.n_state)
        rows = kind.new(arrays.score, (4, how.batch))
        held = arrays, rows, lesson, state
        where = _rows(kind.address(rows) or 0, how.batch, double, lesson)
        _native.call_with("mode_constraint_push", double, packed.n, held, options.struct, packed, how, where)
        return lesson, rows

    return in_core(run, options, events, kind, said)


def _rows(start: int, count: int, double: bool, lesson: NDArray[np.float64]) -> Structure:
    """The struct of the library for rows that begin at an address."""
    step = count * (8 if double else 4)
    places = start, start + step, start + 2 * step, start + 3 * step
    rows: Structure = _native.ModeRows(_SIZE_OF_ROWS, *places, _native.address(lesson))
    return rows


def applied(gradient: Any, rows: Any, lesson: Any, state: Any, norms: Any = None) -> NDArray[Any]:
    """The gradient with the push, as NumPy arrays in the type of the rows; the state, if there is one, is changed."""
    rows, lesson = np.ascontiguousarray(rows), np.ascontiguousarray(lesson, np.float64)
    double, count = rows.dtype == np.float64, rows.shape[1]
    address, result = _native.address, np.empty(count, rows.dtype)
    if gradient is not None:
        gradient = np.ascontiguousarray(gradient, rows.dtype).reshape(count)
    where, held = _rows(address(rows) or 0, count, double, lesson), (gradient, rows, lesson, result, state, norms)
    to = address(gradient), None if gradient is None else address(result), address(state)
    _native.call_with("mode_constraint_apply", double, count, held, count, where, *to, lesson.size, address(norms))
    return result


def evaluate(options: Options, score: Any, *others: Any, said: Said = IN_LINES, **wanted: Any) -> Result:
    """:func:`derivatives` for anything that NumPy turns into arrays, of the shape of the score and of its type."""
    events = read_events(as_array, score, *others)
    value, *both = derivatives(options, events, NUMPY, said, **wanted)
    kind, shape = events.score.dtype, np.shape(score)
    if kind.kind != "f" or kind.itemsize < 4:  # in float16 most of a gradient would be 0
        kind = np.dtype(np.float32 if kind.kind == "f" else np.float64)
    both = [None if one is None else one.reshape(shape).astype(kind, copy=False) for one in both]
    return Result(value.loss, value.bias, value.events, *both)


def loss_and_grad(options: Options, *events: Any, said: Said = IN_LINES) -> tuple[float, NDArray[Any]]:
    """The loss and its gradient, as :func:`evaluate`. Leaving out the bias saves time."""
    result = evaluate(options, *events, loss_alone=True, said=said)
    return result.loss, result.grad
