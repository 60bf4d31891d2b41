"""The events of a call, and the checks of their arrays that all frameworks share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._native import BatchError
from ._read import as_array, check_labels, is_background, of_one_index, together, variables

P = ParamSpec("P")
R = TypeVar("R")

#: The arguments with one value for each event.
_OF_EVENTS = ("x", "score", "second", "label", "mass", "weight", "category")

_LABELS_SHOWN = 5  # of an error


class Events(NamedTuple):
    """The arrays or tensors of one call, each of shape (n,); mass also (n, d) for d variables.

    Examples
    --------
    >>> import numpy as np
    >>> from libmode.torch import Events
    >>> events = Events(np.array([0.2, 0.7, 0.4]), np.array([0, 1, 0]), np.array([80.0, 90.0, 120.0]))
    >>> events.where(events.label == 0).mass
    array([ 80., 120.])
    """

    score: Any  #: outputs of the classifier, floating
    label: Any = None  #: None: every event takes part
    mass: Any = None  #: the protected attribute, in any unit
    weight: Any = None  #: of either sign; None: all 1
    category: Any = None  #: integers or bools; None: all events are of one category

    def where(self, chosen: Any) -> Events:
        """The events for which ``chosen``, of shape (n,), is true."""
        return Events(*[None if array is None else array[chosen] for array in self])


def read_events(
    convert: Callable[[str, Any], Any], score: Any, label: Any, mass: Any, weight: Any = None, category: Any = None
) -> Events:
    """The arguments of a loss, read by :func:`together`, with up to three variables of mass."""
    arrays = together(convert, variables, score=score, label=label, mass=mass, weight=weight, category=category)
    return Events(*arrays)


def read_reference(reference: Any, make: Callable[..., Any]) -> Any:
    """``make(*reference)``, whose errors call the arguments ``reference.score`` and so on."""
    if not isinstance(reference, Events):
        raise TypeError(f"reference is {type(reference).__name__}: give Events(score, label, mass, weight)")
    try:
        return make(*reference)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"reference.{error}") from None


def joined(
    batch: Events, reference: Any, labels: Sequence[int], convert: Callable[[str, Any], Any], framework: Any
) -> Events:
    """The checked events of a batch, followed by the reference events, which are background unless they have labels.

    ``framework`` is NumPy or PyTorch, whose arrays they are. Labels on a device stay there, unchecked.
    """
    further: Events = read_reference(reference, partial(read_events, convert))
    if batch.label is None:
        further = further._replace(label=None)
    elif further.label is None:
        further = further._replace(label=framework.full_like(further.score, labels[0], dtype=batch.label.dtype))
    elif str(getattr(further.label, "device", "cpu")) == "cpu":
        check_reference(as_array("label", further.label), labels)
    every: list[Any] = []
    for name, first, second in zip(Events._fields, batch, further, strict=True):
        if (first is None) != (second is None):
            who, other = ("the batch", "reference") if second is None else ("reference", "the batch")
            raise ValueError(f"{who} has {name}, and {other} has none: give it for both or for neither")
        if first is not None and first.shape[1:] != second.shape[1:]:
            raise ValueError(
                f"reference.mass has shape {tuple(second.shape)}, but the batch has shape {tuple(first.shape)}"
            )
        here, there = (getattr(one, "device", None) for one in (first, second))
        if here != there:
            raise ValueError(
                f"reference.{name} is on {there}, but the batch on {here}: move it there, "
                f"reference.{name}.to({str(here)!r})"
            )
        every.append(None if first is None else framework.concatenate([first, second]))
    return Events(*every)


def check_reference(label: NDArray[Any], labels: Sequence[int]) -> None:
    """ValueError for a label that is NaN; BatchError where no reference event has one of these labels."""
    check_labels(label, labels, "reference.label")
    if not is_background(label, labels).any():
        raise BatchError(f"reference: {no_background(label, labels[0])}")


def no_background(label: NDArray[Any], background: int) -> str:
    """The sentence of the error that ``label``, of shape (n,), does not hold ``background``."""
    values, counts = np.unique(label, return_counts=True)
    words = [f"{value:g} ({count} times)" for value, count in zip(values.astype(float), counts, strict=True)]
    shown = ", ".join(words[:_LABELS_SHOWN])
    if (others := len(words) - _LABELS_SHOWN) > 0:
        shown += f" and {others} other values"
    return (
        f"no event selected: none of the {len(label)} values of label equals background_label = {background}; label "
        f"holds {shown}: check background_label, or use larger batches"
    )


def takes_events(function: Callable[P, R]) -> Callable[P, R]:
    """Adds :func:`of_one_index` to a function."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for value in (*args, *kwargs.values()):
            if hasattr(type(value), "loc"):  # of pandas; a call here would cost small batches time
                values = {**inspect.signature(function).bind(*args, **kwargs).arguments, **kwargs}
                of_one_index({name: values[name] for name in _OF_EVENTS if name in values})
                break
        return function(*args, **kwargs)

    return checked
