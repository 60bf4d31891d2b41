"""Keyword options to ``mode_options``. Defaults and limits are the core's.

Options are made Python's own numbers, texts and tuples before anything is kept of
them, so that an array or a tensor may change afterwards.
"""

from __future__ import annotations

import ctypes
import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypedDict, get_args

from . import _native
from ._native import int32

# The enumerations of mode.h, in its order.
Binning = Literal["quantile", "uniform", "edges"]
MomentKind = Literal["quadrature", "projection"]
SlopeOf = Literal["rejected", "selected"]
Reduction = Literal["mean", "sum"]

_NAMES = {
    "binning": get_args(Binning),
    "moments": get_args(MomentKind),
    "slope_of": get_args(SlopeOf),
    "reduction": get_args(Reduction),
}
_INTEGERS = ("order", "bins")
_FLAGS = ("monotonic", "unbiased")
_RANGES = ("mass_range", "score_range")

# What None means: for the first that there is no limit, for the others that nothing was given.
_UNBOUNDED = ("max_slope", *_RANGES)
_MAY_BE_NONE = (*_UNBOUNDED, "edges", "bins")

# What other packages call the arguments of the losses.
_OTHER_NAMES = {
    "score": ("scores", "pred", "preds", "y_pred", "output", "input"),
    "mass": ("masses", "x_biased"),
    "weight": ("weights", "sample_weight", "sample_weights"),
    "label": ("labels", "target", "targets", "y_true"),
    "background_label": ("background_labels", "background"),
}
_MEANT = {other: name for name, others in _OTHER_NAMES.items() for other in others}


class LossOptions(TypedDict, total=False):
    """Every option of the loss, as in mode.h; :func:`libmode.mode_loss` says what each means."""

    order: int
    bins: int | None
    binning: Binning
    edges: Iterable[float] | None
    mass_range: tuple[float, float] | None
    max_slope: float | None
    slope_of: SlopeOf
    monotonic: bool
    moments: MomentKind
    unbiased: bool
    slope_penalty: float
    score_range: tuple[float, float] | None
    reduction: Reduction


class BinOptions(TypedDict, total=False):
    """The options of the loss that say what is binned, which the flatness loss takes."""

    bins: int | None
    binning: Binning
    edges: Iterable[float] | None
    mass_range: tuple[float, float] | None
    score_range: tuple[float, float] | None


class DisCoOptions(TypedDict, total=False):
    """The option of the loss that DisCo takes."""

    unbiased: bool


OPTION_NAMES = tuple(LossOptions.__annotations__)


def plain(given: Mapping[str, Any], names: Sequence[str] = OPTION_NAMES) -> dict[str, Any]:
    """The options as Python's numbers, texts and tuples of numbers: a copy that no array can change.

    Raises TypeError for an option that is not among ``names``, which the sentence
    lists, and TypeError or ValueError for a value of the wrong kind.
    """
    for name in given:
        if name not in names:
            raise TypeError(f"unknown option {name!r}: {_suggestion(name, names)} options are {', '.join(names)}")
    return {name: _plain_value(name, value) for name, value in given.items()}


def _suggestion(name: str, names: Sequence[str]) -> str:
    """The part of a sentence that says what the caller may have meant."""
    known = {*names, *_OTHER_NAMES} - {name}
    meant = [_MEANT[name]] if name in _MEANT else difflib.get_close_matches(name, sorted(known), 1, 0.75)
    return f"did you mean {meant[0]}? The" if meant and meant[0] in known else "the"


def _plain_value(name: str, value: Any) -> Any:
    if value is None:
        if name not in _MAY_BE_NONE:
            raise TypeError(f"{name} = None: this option has no such value")
        return None
    if name in _NAMES:
        if not isinstance(value, str) or value not in _NAMES[name]:
            raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, _NAMES[name]))}")
        return str(value)
    if name in _INTEGERS:
        number = int32(name, value)
        if name == "bins" and number == 0:  # which in C says that bins was not given
            raise ValueError("bins = 0: must be at least 1")
        return number
    if name in _FLAGS:
        if value not in (True, False):
            raise TypeError(f"{name} = {value!r}: must be True or False")
        return bool(value)
    if name in _RANGES:
        ends = _reals(name, value)
        if len(ends) != 2:
            raise ValueError(f"{name} = {value!r}: must be a pair (low, high) or None")
        return ends
    return _reals(name, value) if name == "edges" else _real(name, value)


class Options:
    """A checked set of options, ready for the library: what :func:`plain` and :func:`plain_labels` return.

    Raises ValueError for an option that is out of range.
    """

    def __init__(self, background_label: tuple[int, ...], **given: Any) -> None:
        self.struct = _native.default_options()
        for name, value in given.items():
            if value is not None:
                self._set(name, value)
            elif name in _UNBOUNDED:
                self._set_unbounded(name)
        self._set_edges(given.get("edges"), given.get("binning"))
        self.labels = background_label
        #: A number that is no background label.
        self.unused_label = min(set(range(len(self.labels) + 1)).difference(self.labels))
        self._label_array = (ctypes.c_int32 * len(self.labels))(*self.labels)
        self.struct.background_label = ctypes.cast(self._label_array, ctypes.POINTER(ctypes.c_int32))
        self.struct.n_background_label = len(self.labels)
        _native.check_options(self.struct)

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The limits of the integral, or None if they come from the data."""
        low, high = self.struct.score_range
        return None if math.isinf(low) else (low, high)

    def _set(self, name: str, value: Any) -> None:
        if name in _NAMES:
            setattr(self.struct, name, _NAMES[name].index(value))
        elif name in _RANGES:
            getattr(self.struct, name)[:] = value
        elif name != "edges":
            setattr(self.struct, name, value)

    def _set_unbounded(self, name: str) -> None:
        if name == "max_slope":
            self.struct.max_slope = math.inf
        else:
            getattr(self.struct, name)[:] = [-math.inf, math.inf]

    def _set_edges(self, edges: tuple[float, ...] | None, binning: str | None) -> None:
        if edges is None:
            return
        if binning not in (None, "edges"):
            raise ValueError(f"binning = {binning!r} cannot be given together with edges: leave one of them out")
        self._edge_array = (ctypes.c_double * len(edges))(*edges)
        self.struct.edges = ctypes.cast(self._edge_array, ctypes.POINTER(ctypes.c_double))
        self.struct.n_edges = len(edges)
        self.struct.binning = _NAMES["binning"].index("edges")


def options(
    background_label: Any = 0, given: Mapping[str, Any] = MappingProxyType({}), names: Sequence[str] = OPTION_NAMES
) -> Options:
    """``Options`` of what a user gives, from a cache; only ``names`` may be among ``given``."""
    return _cached(plain_labels(background_label), **plain(given, names))


_cached = lru_cache(maxsize=256)(Options)


def plain_labels(background_label: Any) -> tuple[int, ...]:
    """The background labels as a tuple: ``background_label`` is an integer or a sequence of integers."""
    if type(background_label) is int:
        return (int32("background_label", background_label),)
    if isinstance(background_label, (str, bytes)):
        raise TypeError(f"background_label = {background_label!r}: must be an integer or a sequence of integers")
    values = _as_python(background_label)
    several = values if isinstance(values, Iterable) else (values,)
    return tuple(int32("background_label", label) for label in several)


def plain_background_label(background_label: Any) -> int | tuple[int, ...]:
    """The same, where one integer stays one: what a module keeps and shows."""
    labels = plain_labels(background_label)
    return labels[0] if isinstance(_as_python(background_label), int) else labels


def keywords_only(owner: object, positional: Sequence[object], example: str) -> None:
    """Raises TypeError if a module was constructed with positional arguments."""
    if positional:
        name = type(owner).__name__
        raise TypeError(
            f"{name}({', '.join(map(repr, positional))}): the arguments of {name} are given by name, "
            f"for instance {name}({example})"
        )


def _as_python(value: Any) -> Any:
    """Arrays and tensors as Python's numbers and lists."""
    if not hasattr(value, "tolist") and hasattr(value, "numpy"):  # TensorFlow's
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value


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
