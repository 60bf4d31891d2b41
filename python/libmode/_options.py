"""The options of a call, checked, as ``mode_options`` of mode.h. Defaults and limits are the core's.

Options are made Python's own numbers, texts and tuples before anything is kept of
them, so that an array or a tensor may change afterwards.
"""

from __future__ import annotations

import ctypes
import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

from . import _native
from ._limits import exact, name_of, outwards
from ._native import int32
from .option_types import DisCoOptions, FlatnessOptions, Loss, LossOptions

# The options that each loss takes.
TAKEN: dict[Loss, tuple[str, ...]] = {
    "mode": tuple(LossOptions.__annotations__),
    "disco": tuple(DisCoOptions.__annotations__),
    "flatness": tuple(FlatnessOptions.__annotations__),
}
# An option of each, for a sentence that shows how options are given.
EXAMPLE: dict[Loss, str] = {"mode": "order=1", "disco": "unbiased=True", "flatness": "bins=20"}

_TYPE: dict[str, Any] = LossOptions.__annotations__
# The enumerations of mode.h, in its order.
_CHOICES = {name: get_args(kind) for name, kind in _TYPE.items() if get_origin(kind) is Literal}

# What other packages call the arguments of the losses.
_OTHER_NAMES = {
    "score": ("scores", "pred", "preds", "y_pred", "output", "input"),
    "mass": ("masses", "x_biased"),
    "weight": ("weights", "sample_weight", "sample_weights"),
    "label": ("labels", "target", "targets", "y_true"),
    "background_label": ("background_labels", "background"),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}


def plain(loss: Loss, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as Python's numbers, texts and tuples of numbers: a copy that no array can change.

    Raises TypeError for an option that the loss does not take, with those that it takes,
    and TypeError or ValueError for a value of the wrong kind.
    """
    names = TAKEN[loss]
    for name in options:
        if name not in names:
            raise TypeError(f"unknown option {name!r}: {_suggestion(name, names)} options are {', '.join(names)}")
    return {name: _plain_value(name, value) for name, value in options.items()}


def _suggestion(name: str, names: Sequence[str]) -> str:
    """The part of a sentence that says what the caller may have meant."""
    known = {*names, *_OTHER_NAMES} - {name}
    meant = [_MEANT[name]] if name in _MEANT else difflib.get_close_matches(name, sorted(known), 1, 0.75)
    return f"did you mean {meant[0]}? The" if meant and meant[0] in known else "the"


def _plain_value(name: str, value: Any) -> Any:
    if value is not None or name == "background_label":
        return _READER[name](name, value)
    if type(None) not in get_args(_TYPE[name]):
        raise TypeError(f"{name} = None: this option has no such value")
    return None


def _integer(name: str, value: Any) -> int:
    number = int32(name, value)
    if name == "bins" and number == 0:  # which in C says that bins was not given
        raise ValueError("bins = 0: must be at least 1")
    return number


def _flag(name: str, value: Any) -> bool:
    if value not in (True, False):
        raise TypeError(f"{name} = {value!r}: must be True or False")
    return bool(value)


def _choice(name: str, value: Any) -> str:
    if not isinstance(value, str) or value not in _CHOICES[name]:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, _CHOICES[name]))}")
    return str(value)


def _real(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} = {value!r}: must be a number")
    try:
        return float(_as_python(value))
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r}: must be a number") from None


def _reals(name: str, values: Any) -> tuple[float, ...]:
    listed = _as_python(values)
    if isinstance(listed, (str, bytes)) or not hasattr(listed, "__iter__"):
        raise TypeError(f"{name} = {values!r}: must be a sequence of numbers")
    return tuple(_real(name, value) for value in listed)


def _range(name: str, value: Any) -> tuple[float, ...]:
    ends = _reals(name, value)
    if len(ends) != 2:
        raise ValueError(f"{name} = {value!r}: must be a pair (low, high) or None")
    return ends


def _labels(name: str, value: Any) -> int | tuple[int, ...]:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} = {value!r}: must be an integer or a sequence of integers")
    values = _as_python(value)
    if isinstance(values, Iterable):
        return tuple(int32(name, label) for label in values)
    return int32(name, values)


def _as_python(value: Any) -> Any:
    """Arrays and tensors as Python's numbers and lists."""
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):  # TensorFlow's
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


# How the value of an option is read, by its type.
_READ: dict[Any, Callable[[str, Any], Any]] = {
    int: _integer,
    int | None: _integer,
    bool: _flag,
    float: _real,
    float | None: _real,
    tuple[float, float] | None: _range,
    Iterable[float] | None: _reals,
    int | Sequence[int]: _labels,
    **{_TYPE[name]: _choice for name in _CHOICES},
}
# The same by the name of the option.
_READER = {name: _READ[kind] for name, kind in _TYPE.items()}


class Options:
    """The checked options of one loss, ready for the library: ``options`` is what :func:`plain` returns.

    Raises ValueError for an option that is out of range.
    """

    def __init__(self, loss: Loss, **options: Any) -> None:
        self.loss, self._given = loss, options
        if options.get("edges") is not None:
            if options.get("binning", "edges") != "edges":
                binning = options["binning"]
                raise ValueError(f"binning = {binning!r} cannot be given together with edges: leave one of them out")
            options = {**options, "binning": "edges"}
        labels = options.get("background_label", 0)
        self.labels: tuple[int, ...] = (labels,) if isinstance(labels, int) else tuple(labels)
        self.struct = _native.default_options()
        self._lists: list[Any] = []  # that the struct points to
        for name, value in {"loss": loss, **options, "background_label": self.labels}.items():
            self._set(name, value)
        _native.check_options(self.struct)
        edges = options.get("edges") or (0, 1)
        limits = (self.struct.score_range, self.struct.mass_range, (edges[0], edges[-1]))
        self._exact = all(exact(*ends) for ends in limits)
        self._rounded: dict[tuple[Any, Any], Options] = {}

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The limits of the integral, or None if they come from the data."""
        low, high = self.struct.score_range
        return None if math.isinf(low) else (low, high)

    def rounded_to(self, score: Any, mass: Any) -> Options:
        """These options for scores and masses of these dtypes, to which their limits are rounded outwards."""
        if self._exact:
            return self
        if (score, mass) not in self._rounded:
            changed = dict(self._given)
            for name, dtype in (("score_range", score), ("mass_range", mass), ("edges", mass)):
                if changed.get(name) is not None:
                    low, *inner, high = changed[name]
                    low, high = outwards(low, high, name_of(dtype))
                    changed[name] = (low, *inner, high)
            self._rounded[score, mass] = self if changed == self._given else Options(self.loss, **changed)
        return self._rounded[score, mass]

    def _set(self, name: str, value: Any) -> None:
        kind, _, values, none = _native.OPTIONS[name]
        if kind == _native.RANGE:
            getattr(self.struct, name)[:] = (-math.inf, math.inf) if value is None else value
        elif kind in (_native.NUMBERS, _native.LABELS):
            if value is not None:
                element = ctypes.c_double if kind == _native.NUMBERS else ctypes.c_int32
                self._lists.append((element * len(value))(*value))
                setattr(self.struct, name, ctypes.cast(self._lists[-1], ctypes.POINTER(element)))
                setattr(self.struct, f"n_{name}", len(value))
        elif values:
            setattr(self.struct, name, values.index(value))
        else:
            setattr(self.struct, name, type(getattr(self.struct, name))(none) if value is None else value)


_cached = lru_cache(maxsize=256)(Options)


def check(loss: Loss, options: Mapping[str, Any]) -> Options:
    """``Options`` of what a user gives, from a cache."""
    return _cached(loss, **plain(loss, options))


def keywords_only(owner: object, positional: Sequence[object], example: str) -> None:
    """Raises TypeError if a module was constructed with positional arguments."""
    if positional:
        name = type(owner).__name__
        raise TypeError(
            f"{name}({', '.join(map(repr, positional))}): the arguments of {name} are given by name, "
            f"for instance {name}({example})"
        )
