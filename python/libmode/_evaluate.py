"""From arrays to a loss of the core and its gradient, or to a push."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import Structure, c_double, sizeof
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._events import Events, no_background, read_events
from ._messages import Fault, reworded
from ._native import DOUBLE, FLOAT, TYPES, BatchError, ModeEvents, ModeResult, address, call
from ._options import Options, dtype_name
from ._problems import OF_FUNCTIONS, SELDOM, Said, look_at_masses
from ._read import as_array, check_labels

_SIZE_OF_RESULT = sizeof(ModeResult)


class Result(NamedTuple):
    """A loss, its significance and its derivatives."""

    loss: float  #: the value of :func:`libmode.mode_loss`
    bias: float  #: the mean excess of the plain loss over the loss of an infinite sample
    events: float  #: (sum w)^2 / sum w^2 of the events that take part
    grad: Any  #: d loss/d score, of score's shape; None with ``grad=False``
    hess: Any  #: a diagonal bound of the curvature, of score's shape, >= 0; None without ``hess=True``


class Kind(NamedTuple):
    """What the functions here do with arrays of NumPy, or with the tensors of a framework."""

    ready: Callable[[Events], tuple[Events, int]]  #: :func:`ready`
    like: Callable[[Any], Any]  #: an array without values, like a given one
    empty: Callable[..., Any]  #: an array without values, of a shape and ``dtype``
    double: Any  #: the type float64
    equal: Callable[[Any, Any], bool]
    address: Callable[[Any], int | None]
    as_numpy: Callable[[Any], Any]  #: of arrays that are ready
    types: Mapping[Any, int]  #: the types of mode.h


_TYPES = {np.dtype(name): number for name, number in TYPES.items()}


def ready(events: Events, double: bool | None = None) -> tuple[Events, int]:
    """Contiguous arrays of float64 or float32, variables of mass as rows; and the number of the type."""
    score, label, mass, weight, category = events
    if double is None:
        narrow = score.dtype.char in "fe" and mass.dtype.char in "fe"
        double = not narrow or weight is not None and weight.dtype.char not in "fe"
    kind = np.float64 if double else np.float32
    mass = np.ascontiguousarray(mass.T if mass.ndim > 1 else mass, kind)
    score, weight = (None if each is None else np.ascontiguousarray(each, kind) for each in (score, weight))
    if label is not None:  # other types become float64, which holds every background label
        label = np.ascontiguousarray(label, label.dtype if label.dtype in _TYPES else np.float64)
    if category is not None:  # an unsigned integer above int64 wraps to a number that no other category has
        category = np.ascontiguousarray(category, category.dtype if category.dtype in _TYPES else np.int64)
    return Events(score, label, mass, weight, category), DOUBLE if double else FLOAT


#: Arrays of NumPy, in the type of the events or in double.
NUMPY = Kind(ready, np.empty_like, np.empty, np.float64, np.array_equal, address, np.asarray, _TYPES)
IN_DOUBLE = NUMPY._replace(ready=partial(ready, double=True))


class Call:
    """A call of the core for checked events: its arrays, its struct of events, and the options rounded to their type.

    ``batch`` of them are the batch, and others reference events; 0: all are.
    """

    def __init__(self, options: Options, events: Events, kind: Kind, batch: int = 0) -> None:
        self.given, self.kind = events, kind
        self.arrays, self.type = kind.ready(events)
        score, label, mass, weight, category = self.arrays
        if label is not None and kind.types[label.dtype] in (FLOAT, DOUBLE) and not kind.equal(label, label):  # NaN
            check_labels(self.label, options.labels)
        if not options.fit_all:
            options = options.rounded_to((mass if score is None else events.score).dtype, events.mass.dtype)
        self.options, where, shape = options, kind.address, events.mass.shape
        self.variables = 1 if len(shape) == 1 else shape[1]
        self.struct = ModeEvents.pack(
            ModeEvents.size,
            shape[0],
            self.type,
            0 if label is None else kind.types[label.dtype],
            0 if category is None else kind.types[category.dtype],
            self.variables,
            0 if score is None else where(score),
            where(mass),
            0 if label is None else where(label),
            0 if weight is None else where(weight),
            0 if category is None else where(category),
            batch,
        )

    @property
    def label(self) -> NDArray[Any] | None:
        """The labels as an array, (n,)."""
        return None if self.arrays.label is None else self.kind.as_numpy(self.arrays.label).reshape(-1)

    def run(self, name: str, said: Said, *arguments: Any) -> None:
        """Calls a function of mode.h, explains its errors, and looks for wrong masses now and then."""
        try:
            call(name, self.options, self.struct, *arguments)
        except ValueError as error:
            raise self.explained(error) from None
        said.calls += 1
        if said.of_functions or said.calls <= 10 or said.calls % SELDOM == 0:  # a look takes the time of 1,000 events
            mass = self.kind.as_numpy(self.arrays.mass).reshape(self.variables, -1)
            look_at_masses(said, self.options, mass, self.label)

    def explained(self, error: Exception) -> Any:
        """An error of the core in the words of a user of arrays: of no background, or of the type of the masses."""
        label = self.label
        if isinstance(error, BatchError) and label is not None and len(label):
            numbers = label.astype(np.float64)  # in float32, 2^31 would be equal to 2^31 - 1
            for background in self.options.labels:
                if not (numbers == background).any():
                    return BatchError(no_background(label, background))
        fault: Fault | None = getattr(error, "fault", None)
        half = fault is not None and fault.argument == "mass" and dtype_name(self.given.mass.dtype) == "float16"
        if half and np.isinf(self.kind.as_numpy(self.arrays.mass)).any():
            return reworded(error, before="float16 ends at 65,504, give masses in float32: ")
        return error


def derivatives(
    options: Options, events: Events, kind: Kind, said: Said, *, grad: bool = True, hess: bool = False,
    quality: bool = False, averages: Any = None, batch: int = 0,
) -> tuple[Structure, Any, Any]:  # fmt: skip
    """What the core finds for checked events, and the wanted derivatives; bias and events with ``quality`` alone.

    With ``averages``, three numbers in the memory of an array, loss and gradient are multiples of the cross entropy.
    """
    ready, where = Call(options, events, kind, batch), kind.address
    score = ready.arrays.score
    slope = kind.like(score) if grad else None
    bound = kind.like(score) if hess else None
    result = ModeResult(
        _SIZE_OF_RESULT,
        quality=quality,
        hess=None if bound is None else where(bound),
        averages=None if averages is None else where(averages),
    )
    if options.loss == "disco":
        result.loss = _disco(ready, None if slope is None else kind.as_numpy(slope).reshape(-1))
    else:
        ready.run("mode_loss", said, result, None if slope is None else where(slope))
    return result, slope, bound


def _disco(ready: Call, grad: NDArray[Any] | None) -> float:
    """DisCo, the distance correlation of mass and score; ``grad`` gets its derivatives."""
    labels, unbiased = ready.options.labels, ready.options.values["unbiased"]
    known: Any = Events(*(None if one is None else ready.kind.as_numpy(one) for one in ready.arrays))
    if known.category is not None or ready.variables > 1 or len(labels) > 1:
        given = f"background_label = {labels}" if len(labels) > 1 else "category is given"
        given = f"mass has {ready.variables} variables" if ready.variables > 1 else given
        raise ValueError(f"{given}, and loss = 'disco' takes one mass and label, no category: call it for each")
    index = np.arange(len(known.score)) if known.label is None else np.flatnonzero(known.label == labels[0])
    own = known.where(index)
    part = None if grad is None else np.empty(len(index), grad.dtype)
    addresses = *map(address, (own.mass, own.score, own.weight)), None, address(part)
    try:
        loss = correlation(ready.type, len(index), addresses, unbiased)
    except ValueError as error:  # about x and y
        fault: Fault = getattr(error, "fault", Fault("", None, ""))
        name = {"x": "mass", "y": "score", "grad_y": "grad"}.get(fault.argument, fault.argument)
        place = None if fault.place is None else int(index[fault.place])
        raise ready.explained(reworded(error, argument=name, place=place)) from None
    if grad is not None:
        grad[:] = 0
        grad[index] = part
    return loss


def correlation(dtype: int, n: int, addresses: Sequence[int | None], unbiased: bool) -> float:
    """DCorr^2 of x and y with weights, at three addresses; the derivatives by x and y go to two more."""
    value, (x, y, weight, *grads) = c_double(), addresses
    call("mode_distance_correlation", None, n, dtype, x, y, weight, unbiased, value, *grads)
    return value.value


def evaluate(options: Options, score: Any, *others: Any, said: Said = OF_FUNCTIONS, **wanted: Any) -> Result:
    """:func:`derivatives` for anything that NumPy turns into arrays, of the shape of the score and of its type."""
    events = read_events(as_array, score, *others)
    value, *both = derivatives(options, events, NUMPY, said, **wanted)
    kind, shape = events.score.dtype, np.shape(score)
    if kind.kind != "f" or kind.itemsize < 4:  # in float16 most of a gradient would be 0
        kind = np.dtype(np.float32 if kind.kind == "f" else np.float64)
    both = [None if one is None else one.reshape(shape).astype(kind, copy=False) for one in both]
    return Result(value.loss, value.bias, value.events, *both)


def loss_and_grad(options: Options, *events: Any, **how: Any) -> tuple[float, NDArray[Any]]:
    """The loss and its gradient, as :func:`evaluate`."""
    result = evaluate(options, *events, **how)
    return result.loss, result.grad
