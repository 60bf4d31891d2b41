"""What every framework does with the arrays of a call before anything is computed with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

NO_SECOND_DERIVATIVE = (
    "this loss has no second derivative: MoDe and flatness are piecewise linear in the scores, and for DisCo none is "
    "computed. Leave it out of what is differentiated twice (create_graph=True, Hessians, gradient penalties)"
)


_OPTIONAL = ("weight", "label", "category")

#: How many variables of mass a call may have.
MOST_VARIABLES = 3


class Events(NamedTuple):
    """The arrays or tensors of one call, each of shape (n,); mass also (n, d) for d variables."""

    score: Any
    mass: Any
    weight: Any = None
    label: Any = None
    category: Any = None

    def where(self, chosen: Any) -> Events:
        """The events for which ``chosen``, of shape (n,), is true."""
        return Events(*(None if array is None else array[chosen] for array in self))


def events_of(
    read: Callable[[str, Any], Any], score: Any, mass: Any, weight: Any, label: Any, category: Any = None
) -> Events:
    """The arguments of a loss as :func:`together` makes them, with up to three variables of mass."""
    arrays = together(read, variables, score=score, mass=mass, weight=weight, label=label, category=category)
    return Events(*arrays)


def together(
    read: Callable[[str, Any], Any], of_mass: Callable[[Any], Any] | None = None, /, **given: Any
) -> list[Any]:
    """The arguments of a call as arrays of shape (n,), in their order; all but score and mass may be None.

    ``read(name, values)`` makes values an array or tensor, and raises TypeError for what
    holds no real numbers. Raises ValueError for one that is not of shape (n,) or (n, 1),
    or has another length than the first. ``of_mass`` takes a mass of another shape than
    (n,), which is otherwise an error.
    """
    arrays: list[Any] = []
    for name, values in given.items():
        if values is None and name in _OPTIONAL:
            arrays.append(None)
            continue
        array = read(name, values)
        if array.ndim != 1:
            array = of_mass(array) if of_mass and name == "mass" else flat(name, array)
        arrays.append(array)
        if array.shape[0] != arrays[0].shape[0]:
            same_length(name, array, next(iter(given)), arrays[0])
    return arrays


def variables(mass: Any) -> Any:
    """Masses of shape (n, d), or (n,) of one variable, of an array or tensor of shape (n,) or (n, d)."""
    shape = tuple(mass.shape)
    if len(shape) == 1:
        return mass
    if len(shape) != 2 or not 1 <= shape[1] <= MOST_VARIABLES:
        raise ValueError(f"mass has shape {shape}: expected (n,), or (n, d) for d variables, at most {MOST_VARIABLES}")
    return mass[:, 0] if shape[1] == 1 else mass


def flat(name: str, array: Any) -> Any:
    """An array or tensor of shape (n,), of one of shape (n,) or (n, 1)."""
    shape = array.shape
    if len(shape) == 2 and shape[1] == 1:
        return array[:, 0]
    if len(shape) != 1:
        why = "; this is for one variable at a time" if name == "mass" and len(shape) == 2 else ""
        raise ValueError(f"{name} has shape {tuple(shape)}: expected (n,) or (n, 1){why}")
    return array


def same_length(name: str, array: Any, other_name: str, other: Any) -> None:
    """Raises ValueError for arrays of different lengths; one that is not known yet, None, is no difference."""
    length, expected = array.shape[0], other.shape[0]
    if length != expected and None not in (length, expected):
        raise ValueError(f"{name} has length {length}, but {other_name} has length {expected}")
