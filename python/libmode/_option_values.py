"""The options that users give, as Python's own numbers, strings and tuples. Arrays and tensors may change later.

The core has the limits and defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from ._events import NOT_WEIGHT
from ._messages import ORDER, near, shown
from ._read import as_python, flag, real, whole
from .option_types import Loss, LossOptions

# The options that each loss takes.
TAKEN: dict[Loss, tuple[str, ...]] = {
    "mode": tuple(LossOptions.__annotations__),
    "disco": ("unbiased", "background_label"),
}
_TYPE: dict[str, Any] = LossOptions.__annotations__
# The enumerations of mode.h, in its order.
_CHOICES = {name: get_args(kind) for name, kind in _TYPE.items() if get_origin(kind) is Literal}

# Names of the arguments of the losses in other packages.
_OTHER_NAMES = {
    "score": ("scores", "pred", "preds", "y_pred", "output", "input"),
    "mass": ("masses", "x_biased"),
    "weight": NOT_WEIGHT,
    "label": ("labels", "target", "targets", "y_true"),
    "category": ("categories", "group", "groups"),
    "background_label": ("background_labels", "background"),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}


def plain(loss: Loss, options: Mapping[str, Any], owner: Callable[..., Any] | None = None) -> dict[str, Any]:
    """The options as Python's numbers, strings and tuples of numbers.

    ``owner`` is the function that has them beside keywords of its own, which an error lists too.
    """
    if not isinstance(loss, str) or loss not in TAKEN:
        raise ValueError(f"loss = {shown(loss)}: must be one of {', '.join(map(repr, TAKEN))}")
    names = TAKEN[loss]
    for name in options:
        if name not in names:
            own = () if owner is None else keywords(owner)
            known = *names, *own
            raise TypeError(f"unknown option {name!r}: {_suggestion(name, known)} options are {', '.join(known)}")
    if loss == "mode" and "order" not in options:
        raise TypeError(ORDER)
    return {name: _plain_value(name, value) for name, value in options.items()}


def keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names that a function takes by keyword alone."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)


def _suggestion(name: str, names: Sequence[str]) -> str:
    """The part of a sentence with the name that the caller may have meant."""
    known = {*names, *_OTHER_NAMES} - {name}
    meant = _MEANT.get(name) or near(name, known)
    return f"did you mean {meant}? The" if meant in known else "the"


def _plain_value(name: str, value: Any) -> Any:
    if value is not None or name == "background_label":
        return _READER[name](name, value)
    if type(None) not in get_args(_TYPE[name]):
        raise TypeError(f"{name} = None: must not be None")
    return None


def _integer(name: str, value: Any) -> int:
    number = whole(name, value)
    if name.startswith("bins") and number == 0:  # in C 0 stands for bins left out
        raise ValueError(f"{name} = 0: must be at least 1")
    return number


def _choice(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in _CHOICES[name]:
        raise ValueError(f"{name} = {shown(value)}: must be one of {', '.join(map(repr, _CHOICES[name]))}")
    return str(value)


def _listed(name: str, values: Any) -> Sequence[Any]:
    listed = as_python(values)
    if isinstance(listed, (str, bytes)) or not hasattr(listed, "__iter__"):
        raise TypeError(f"{name} = {shown(values)}: must be a sequence of numbers")
    return tuple(listed)


def _is_list(value: Any) -> bool:
    return not isinstance(value, (int, float, str, bytes)) and hasattr(as_python(value), "__iter__")


def _reals(name: str, values: Any) -> tuple[float, ...]:
    return tuple(real(f"{name}[{k}]", value) for k, value in enumerate(_listed(name, values)))


def _range(name: str, value: Any) -> tuple[float, ...]:
    ends = _reals(name, value)
    if len(ends) != 2:
        raise ValueError(f"{name} = {shown(value)}: must be a pair (low, high) or None")
    return ends


def _each(name: str, value: Any) -> Any:
    """The value of an option for all variables, or for each of them; None stands for the default, which edges lack."""
    one, listed = _OF_EACH[name], as_python(value)
    nested = _is_list(listed) and (name == "bins" or any(map(_is_list, listed)) or {*map(type, listed)} == {type(None)})
    if not nested:
        return one(name, value)
    values = tuple(
        None if each is None and name != "edges" else one(f"{name}[{k}]", each) for k, each in enumerate(listed)
    )
    if not values:
        raise ValueError(f"{name} = (): must have a value for each variable of mass")
    return values


_OF_EACH: dict[str, Callable[[str, Any], Any]] = {"bins": _integer, "mass_range": _range, "edges": _reals}


def is_for_each(value: Any) -> bool:
    """Whether the plain value of an option has a value for each of several variables."""
    return isinstance(value, tuple) and any(not isinstance(one, float) for one in value)


def _labels(name: str, value: Any) -> int | tuple[int, ...]:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} = {shown(value)}: must be an integer or a sequence of integers")
    values = as_python(value)
    if isinstance(values, Iterable):
        return tuple(whole(f"{name}[{k}]", label) for k, label in enumerate(values))
    return whole(name, values)


# The function that reads the value of an option, by its type.
_READ: dict[Any, Callable[[str, Any], Any]] = {
    int: _integer,
    int | Sequence[int | None] | None: _each,
    bool: flag,
    float: real,
    float | None: real,
    tuple[float, float] | None: _range,
    tuple[float, float] | Sequence[tuple[float, float] | None] | None: _each,
    Iterable[float | Iterable[float]] | None: _each,
    int | Sequence[int]: _labels,
    **{_TYPE[name]: _choice for name in _CHOICES},
}
# The same, by the name of the option.
_READER = {name: _READ[kind] for name, kind in _TYPE.items()}
