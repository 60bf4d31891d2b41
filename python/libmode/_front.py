"""What every framework does with the arrays of a call before anything is computed with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

NO_SECOND_DERIVATIVE = (
    "this loss has no second derivative: MoDe and flatness are piecewise linear in the scores, and for DisCo none is "
    "computed. Leave it out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
)


class Events(NamedTuple):
    """The arrays or tensors of one call, each of shape (n,)."""

    score: Any
    mass: Any
    weight: Any
    label: Any

    def where(self, chosen: Any) -> Events:
        """The events for which ``chosen``, of shape (n,), is true."""
        return Events(*(None if array is None else array[chosen] for array in self))


def together(read: Callable[[str, Any], Any], **given: Any) -> Any:
    """The arguments of a call as arrays of shape (n,), in their order; weight and label may be None.

    ``read(name, values)`` makes values an array or tensor, and raises TypeError for what
    holds no real numbers. Raises ValueError for one that is not of shape (n,) or (n, 1),
    or has another length than the first.
    """
    arrays: list[Any] = []
    for name, values in given.items():
        if values is None and name in ("weight", "label"):
            arrays.append(None)
            continue
        array = read(name, values)
        arrays.append(array if array.ndim == 1 else flat(name, array))
        if array.shape[0] != arrays[0].shape[0]:
            same_length(name, array, next(iter(given)), arrays[0])
    return arrays


def flat(name: str, array: Any) -> Any:
    """An array or tensor of shape (n,), of one of shape (n,) or (n, 1)."""
    shape = array.shape
    if len(shape) == 2 and shape[1] == 1:
        return array[:, 0]
    if len(shape) != 1:
        raise ValueError(f"{name} has shape {tuple(shape)}: expected (n,) or (n, 1)")
    return array


def same_length(name: str, array: Any, other_name: str, other: Any) -> None:
    """Raises ValueError for arrays of different lengths; one that is not known yet, None, is no difference."""
    length, expected = array.shape[0], other.shape[0]
    if length != expected and None not in (length, expected):
        raise ValueError(f"{name} has length {length}, but {other_name} has length {expected}")
