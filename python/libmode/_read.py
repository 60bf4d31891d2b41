"""The readers of arguments, of all rings: arrays of events and plain numbers.

An error names the argument, the value and its place.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._messages import Fault, shown

#: How many variables of mass a call may have.
MOST_VARIABLES = 3

_OPTIONAL = ("label", "weight", "category")
_FINITE = "a finite number; leave such events out of all arguments"


def real(name: str, value: Any) -> float:
    """``value`` as a number, which may be infinite or NaN."""
    try:
        plain = as_python(value)
        if isinstance(plain, (bool, str, bytes)):
            raise TypeError
        return float(plain)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {shown(value)}: must be a number") from None
    except OverflowError:  # an integer
        raise ValueError(f"{name} = {shown(value)}: is too large for double precision") from None


def number(
    name: str, value: Any, *, above: float | None = None, least: float | None = None, most: float = math.inf
) -> float:
    """``value`` as a finite number ``above`` a limit or of ``least`` this size, and at ``most`` another."""
    known, low = real(name, value), -math.inf if least is None else least
    if math.isfinite(known) and low <= known <= most and (above is None or known > above):
        return known
    limits = [] if above is None else ["positive" if above == 0 else f"above {above:g}"]
    if math.isinf(most):
        limits += ["finite"] + ([] if least is None else [f"at least {least:g}"])
    else:
        limits += [f"at most {most:g}"] if least is None else [f"from {least:g} to {most:g}"]
    raise ValueError(f"{name} = {shown(value)}: must be {' and '.join(limits)}")


def check_averages(averages: Any) -> None:
    """Raises ValueError for averages of a loss with a strength that would make all further losses NaN or 0."""
    for place, value in enumerate(averages):
        number(f"norms[{place}]", float(value), least=0)


def whole(name: str, value: Any, least: int | None = None) -> int:
    """``value`` as an integer of 32 bits, not below ``least``."""
    try:
        integer = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {shown(value)}: must be an integer") from None
    if least is not None and integer < least:
        raise ValueError(f"{name} = {shown(integer)}: must be at least {least}")
    if not -(2**31) <= integer < 2**31:
        raise ValueError(f"{name} = {shown(integer)}: does not fit in 32 bits")
    return int(integer)


def flag(name: str, value: Any) -> bool:
    """``value`` as True or False; TypeError if it is neither."""
    try:
        known = value in (True, False)
    except Exception:  # the comparison fails for arrays of several values and for pandas.NA
        known = False
    if not known:
        raise TypeError(f"{name} = {shown(value)}: must be True or False")
    return bool(value)


def as_python(value: Any) -> Any:
    """Arrays and tensors as Python's numbers and lists."""
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):  # TensorFlow's
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


def as_array(name: str, values: Any) -> NDArray[Any]:
    """``values`` as an array of a real type."""
    if values is None:
        raise TypeError(f"{name} is None: expected an array of real numbers")
    try:
        array = np.asarray(without_masks(name, values))
    except ValueError as error:  # ragged lists
        raise ValueError(f"{name} cannot be made an array: expected one number for each event") from error
    if array.dtype.kind not in "fiub" or name == "category" and array.dtype.kind == "f":
        if array.size == 0:
            return np.zeros(0, bool)
        wanted = "integers" if name == "category" else "real numbers"
        raise TypeError(f"{name} has dtype {array.dtype}: expected {wanted}")
    return array


def without_masks(name: str, values: Any) -> Any:
    """``values`` with NaN for each masked mass; any other masked value is a TypeError.

    A mask may come from NumPy, Awkward (option types) or pandas (NA).
    """
    package = type(values).__module__.partition(".")[0]
    if package == "torch" and str(getattr(values, "dtype", "")) == "torch.bfloat16":  # NumPy has no such type
        return values.detach().cpu().float()
    if package == "awkward":
        values = sys.modules[package].to_numpy(values)
    elif package == "pandas" and name == "mass" and hasattr(values, "to_numpy") and np.asarray(values).dtype == object:
        try:
            return values.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):  # strings
            return values
    # Without a look at sys.modules, the first np.ma.MaskedArray would import numpy.ma, which takes 20 ms.
    if "numpy.ma" not in sys.modules or not isinstance(values, np.ma.MaskedArray):
        return values
    hidden = np.ma.getmaskarray(values)
    if hidden.any() and name == "mass":
        return np.where(hidden, np.nan, values.data)
    if hidden.any():
        raise TypeError(
            f"{name}{np.argwhere(hidden)[0].tolist()} is masked: take the same events of all arguments, for instance "
            f"events of ~numpy.ma.getmaskarray({name})"
        )
    return values.data


def converted(name: str, values: Any, convert: Callable[[Any], Any], expected: str) -> Any:
    """``convert(values)``, an array of a framework, with the errors of :func:`as_array`."""
    if values is None:
        as_array(name, values)  # raises its error
    values = without_masks(name, values)
    try:
        with np.errstate(over="ignore"):  # a number beyond float32 becomes infinite, with an error of its own
            return convert(values)
    except (TypeError, ValueError, OverflowError) as error:  # strings, objects, ragged lists
        as_array(name, values)
        raise TypeError(f"{name} cannot be made {expected}: {error}") from None


def vector(name: str, values: Any) -> NDArray[Any]:
    """``values``, of shape (n,) or (n, 1), as an array of shape (n,) of a real type."""
    array: NDArray[Any] = flat(name, as_array(name, values))
    return array


def numbers(name: str, values: Any, like_name: str = "", like: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Finite numbers of shape (n,), n > 0, and of the length of ``like``."""
    array = vector(name, values)
    if like is not None:
        same_length(name, array, like_name, like)
    if len(array) == 0:
        raise ValueError(f"{name} is empty: expected at least one event")
    return finite(name, array.astype(np.float64, copy=False))


def finite(name: str, array: NDArray[Any], expected: str = _FINITE, of: Any = True) -> NDArray[Any]:
    """The array; ValueError for the first number ``of`` a mask that is NaN or infinite."""
    refuse(name, array, ~np.isfinite(array) & of, expected)
    return array


def refuse(name: str, array: NDArray[Any], bad: NDArray[np.bool_], expected: str) -> None:
    """ValueError for the first of the bad values."""
    if bad.any():
        place = tuple(np.argwhere(bad)[0].tolist())
        raise Fault(name, place, f" = {array[place]:g}: expected {expected}").error()


def together(
    convert: Callable[[str, Any], Any], shape_mass: Callable[[Any], Any] | None = None, /, **arguments: Any
) -> list[Any]:
    """The arguments as arrays ``convert(name, values)`` of shape (n,), in their order.

    Label, weight and category may be None. ``shape_mass`` reads a mass of another shape, which is an error without it.
    """
    of_one_index(arguments)
    arrays: list[Any] = []
    first_name, first = "", None
    for name, values in arguments.items():
        if values is None and name in _OPTIONAL:
            arrays.append(None)
            continue
        array = convert(name, values)
        if array.ndim != 1:
            array = shape_mass(array) if shape_mass and name == "mass" else flat(name, array)
        arrays.append(array)
        if first is None:
            first_name, first = name, array
        elif array.shape[0] != first.shape[0]:
            same_length(name, array, first_name, first)
    return arrays


def of_one_index(arguments: Mapping[str, Any]) -> None:
    """Raises ValueError if two of the arguments are a pandas.Series or DataFrame with different indexes."""
    first = ""
    for name, values in arguments.items():
        # The type is asked first: torch.compile leaves the graph for an attribute of a tensor.
        index = getattr(values, "index", None) if hasattr(type(values), "loc") else None
        if index is None or not hasattr(index, "equals"):
            continue
        if not first:
            first, expected = name, index
        elif not (index is expected or index.equals(expected)):
            raise ValueError(
                f"{name} and {first} have different indexes, and libmode matches events by position: select the same "
                f"rows by {name}.loc[{first}.index], or give .to_numpy() of both if they are in the same order"
            )


def flat(name: str, array: Any) -> Any:
    """An array or tensor of shape (n,), from shape (n,) or (n, 1)."""
    shape = array.shape
    if len(shape) == 2 and shape[1] == 1:
        return array[:, 0]
    if len(shape) != 1:
        why = {"mass": "; this is for one variable at a time", "label": "; of one-hot labels give label.argmax(1)"}
        raise ValueError(
            f"{name} has shape {tuple(shape)}: expected (n,) or (n, 1){why.get(name, '') * (len(shape) == 2)}"
        )
    return array


def variables(mass: Any) -> Any:
    """Masses of shape (n, d), or (n,) for one variable, from an array or tensor of shape (n,) or (n, d)."""
    shape = tuple(mass.shape)
    if len(shape) == 1:
        return mass
    if len(shape) != 2 or not 1 <= shape[1] <= MOST_VARIABLES:
        raise ValueError(f"mass has shape {shape}: expected (n,), or (n, d) for d variables, at most {MOST_VARIABLES}")
    return mass[:, 0] if shape[1] == 1 else mass


def same_length(name: str, array: Any, other_name: str, other: Any) -> None:
    """Raises ValueError for arrays of different lengths; a length of None is not known yet, and fits."""
    length, expected = array.shape[0], other.shape[0]
    if length != expected and None not in (length, expected):
        raise ValueError(f"{name} has length {length}, but {other_name} has length {expected}")


_MISSING = ("None", "nan", "<NA>")  # as tables have them among strings


def coded(label: Any, background: Any) -> tuple[Any, Any]:
    """Labels that are strings as integers, with the integers of the background labels; numbers as they are."""
    array = np.asarray(without_masks("label", label))
    if array.dtype.kind not in "OSU":
        return label, background
    without = np.array([not isinstance(one, str) and str(one) in _MISSING for one in array.flat])
    if without.any():
        one = int(without.argmax())
        raise Fault("label", one, f" = {array.flat[one]}: leave events without a label out of all arguments").error()
    wanted: list[Any] = list(background) if np.ndim(background) else [background]
    missing = [name for name in wanted if not np.any(array == name)]
    if missing or not wanted:
        kinds = ", ".join(map(repr, np.unique(array.astype(str)).tolist()))
        raise ValueError(f"background_label = {(missing or [background])[0]!r}: expected one of label's {kinds}")
    numbers = np.select([array == name for name in wanted], range(len(wanted)), len(wanted))  # the last one is signal
    return numbers, np.unique(numbers[numbers < len(wanted)]).tolist()


def is_background(label: Any, labels: Sequence[int]) -> Any:
    """A mask of the events whose label, an array of any framework, is one of ``labels``."""
    mask = label == labels[0]
    for other in labels[1:]:
        mask = mask | (label == other)
    return mask


def check_labels(label: NDArray[Any] | None, labels: Sequence[int], name: str = "label") -> None:
    """Raises ValueError for a label that is NaN, as where a join of tables finds no partner.

    Where no label is a background label, the error of the core lists the labels, and NaN among them.
    """
    if label is None or label.dtype.kind != "f":
        return
    missing = np.isnan(label)
    if missing.any() and is_background(label, labels).any():
        raise missing_label(missing, name)


def missing_label(missing: NDArray[np.bool_], name: str = "label") -> Any:
    """The error of the first event whose label is missing."""
    after = " = nan: expected a number; leave such events out of all arguments"
    return Fault(name, int(missing.argmax()), after).error()


def each_of(value: Any) -> tuple[Any, ...]:
    """The value of an option for each variable of mass that has one of its own, or the one value for all."""
    return value if is_for_each(value) else (value,)


def is_for_each(value: Any) -> bool:
    """Whether the value of an option has a value for each of several variables."""
    return isinstance(value, tuple) and any(not isinstance(one, float) for one in value)
