"""Keyword options to ``mode_options``. Defaults and limits are the core's."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
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


OPTION_NAMES = tuple(LossOptions.__annotations__)


class Options:
    """A checked set of options, ready for the library.

    Raises TypeError for an unknown option or a value of the wrong type and
    ValueError for one out of range.
    """

    def __init__(self, background_label: int | Sequence[int] = 0, **given: Any) -> None:
        unknown = sorted(set(given) - set(OPTION_NAMES))
        if unknown:
            raise TypeError(f"unknown option {unknown[0]!r}: the options are {', '.join(OPTION_NAMES)}")
        self.struct = _native.default_options()
        for name, value in given.items():
            if value is not None:
                self._set(name, value)
            elif name in ("max_slope", *_RANGES):
                self._set_unbounded(name)
            elif name not in ("edges", "bins"):
                raise TypeError(f"{name} = None: this option has no such value")
        self._set_edges(given.get("edges"), given.get("binning"))
        self.labels = _labels(background_label)
        #: A number that is no background label.
        self.unused_label = min(label for label in range(len(self.labels) + 1) if label not in self.labels)
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
            if value not in _NAMES[name]:
                raise ValueError(f"{name} = {value!r}: must be one of {', '.join(map(repr, _NAMES[name]))}")
            setattr(self.struct, name, _NAMES[name].index(value))
        elif name in _INTEGERS:
            setattr(self.struct, name, int32(name, value))
        elif name in _FLAGS:
            if value not in (True, False):
                raise TypeError(f"{name} = {value!r}: must be True or False")
            setattr(self.struct, name, bool(value))
        elif name in _RANGES:
            ends = _reals(name, value)
            if len(ends) != 2:
                raise ValueError(f"{name} = {value!r}: must be a pair (low, high) or None")
            getattr(self.struct, name)[:] = ends
        elif name != "edges":
            setattr(self.struct, name, _real(name, value))

    def _set_unbounded(self, name: str) -> None:
        if name == "max_slope":
            self.struct.max_slope = math.inf
        else:
            getattr(self.struct, name)[:] = [-math.inf, math.inf]

    def _set_edges(self, edges: Any, binning: str | None) -> None:
        if edges is None:
            return
        if binning == "uniform":
            raise ValueError("binning = 'uniform' cannot be given together with edges: leave one of them out")
        values = _reals("edges", edges)
        self._edge_array = (ctypes.c_double * len(values))(*values)
        self.struct.edges = ctypes.cast(self._edge_array, ctypes.POINTER(ctypes.c_double))
        self.struct.n_edges = len(values)
        self.struct.binning = _NAMES["binning"].index("edges")


def options(background_label: int | Sequence[int] = 0, **given: Any) -> Options:
    """``Options``, from a cache where all values are hashable."""
    try:
        return _cached(background_label, **given)
    except TypeError:  # a list among the values, or an error that comes again
        return Options(background_label, **given)


_cached = lru_cache(maxsize=256, typed=True)(Options)


def _real(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} = {value!r}: must be a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} = {value!r}: must be a number") from None


def _reals(name: str, values: Any) -> list[float]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} = {values!r}: must be a sequence of numbers")
    return [_real(name, value) for value in values]


def _labels(background_label: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(background_label, (str, bytes)):
        raise TypeError(f"background_label = {background_label!r}: must be an integer or a sequence of integers")
    several = background_label if isinstance(background_label, Iterable) else (background_label,)
    return tuple(int32("background_label", label) for label in several)
