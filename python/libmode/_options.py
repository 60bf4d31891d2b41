"""The options of a call, checked, as ``mode_options`` of mode.h. The core has the defaults and limits."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from . import _native
from ._limits import dtype_name, exact, nearest, outwards
from ._option_values import TAKEN, is_for_each, plain
from ._read import MOST_VARIABLES
from .option_types import Loss

# The options that may have a value for each of several variables, the members of ``mode_variable``.
_OF_VARIABLES = ("bins", "mass_range", "edges")
# The options that limit scores and masses.
_LIMITS = ("score_range", "mass_range", "edges")


class Options:
    """The checked options of one loss, ready for the library, from the result of :func:`plain`."""

    def __init__(self, loss: Loss, **options: Any) -> None:
        self.loss, self._given = loss, dict(options)
        self.text = json.dumps([loss, options])
        """The options as text, for operators that take no objects; :func:`parse_options` reads it."""
        if options.get("edges") is not None:
            options.setdefault("binning", "edges")
        labels = options.get("background_label", 0)
        self.labels: tuple[int, ...] = (labels,) if isinstance(labels, int) else tuple(labels)
        if loss == "disco":
            options.setdefault("unbiased", False)
        self.struct = _native.default_options()
        self._lists: list[Any] = []  # the struct points to their memory
        self._each = {name: options.pop(name) for name in _OF_VARIABLES if is_for_each(options.get(name))}
        for name, value in {**options, "background_label": self.labels}.items():
            self._set(self.struct, name, value)
        self._set_variables()
        _native.call("mode_options_check", self.struct)
        self.fit_all = all(map(exact, chain(*(one for name in _LIMITS for one in _each(self._given.get(name))))))
        """Whether all limits are exact in every type, so that :meth:`rounded_to` returns these options."""
        self._rounded: dict[tuple[Any, Any], Options] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Options) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_options, (self.text,)

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The limits of the integral; None if they come from the data."""
        low, high = self.struct.score_range
        return None if math.isinf(low) else (low, high)

    def takes_default_range(self, variable: int) -> bool:
        """Whether the range of this variable of mass comes from the data, and matters."""
        limits: list[Any] = [self._given.get(name) for name in ("mass_range", "edges")]
        each = [value[variable] if is_for_each(value) else value for value in limits]
        return self.loss == "mode" and each == [None, None]

    def rounded_to(self, score: Any, mass: Any) -> Options:
        """These options, with limits and edges rounded to the dtypes of scores and masses."""
        if self.fit_all:
            return self
        if (score, mass) not in self._rounded:
            changed = dict(self._given)
            for name, dtype in zip(_LIMITS, (score, mass, mass), strict=True):
                if changed.get(name) is not None:
                    changed[name] = _outwards(changed[name], dtype_name(dtype))
            self._rounded[score, mass] = self if changed == self._given else Options(self.loss, **changed)
        return self._rounded[score, mass]

    def differing(self, other: Options) -> list[tuple[str, Any, Any]]:
        """The name of each option in which another differs, with the values here and there, also default values."""
        names = TAKEN[self.loss]
        each = zip(names, map(self._value, names), map(other._value, names), strict=True)
        return [(name, own, others) for name, own, others in each if own != others]

    def of_check(self) -> dict[str, Any]:
        """The arguments with which :func:`libmode.metrics.check` judges what these options train."""
        own = {name: value for name, value, _ in self.differing(check("mode", {"order": 0}))}
        if edges := _ends(self._given.get("edges")):
            own["mass_range"] = edges[0] if len(edges) == 1 else edges
        names = ["mass_range", "missing", "monotonic", "background_label"]
        names += ["max_slope"] * (own.get("slope_of") == "selected")
        return {"order": self.struct.order} | {name: own[name] for name in names if name in own}

    def _value(self, name: str) -> Any:
        """The value of an option; None if it is left out or has no limit."""
        if name in self._each:
            return self._given[name]
        kind, values, none = _native.OPTIONS[name]
        value = getattr(self.struct, name)
        if kind in (_native.NUMBERS, _native.LABELS):
            return tuple(value[: getattr(self.struct, f"n_{name}")]) or None
        if kind == _native.RANGE:
            return None if math.isinf(value[0]) else tuple(value)
        if values:
            return values[value]
        return None if value == none else bool(value) if kind == _native.FLAG else value

    def _set(self, struct: Any, name: str, value: Any) -> None:
        """Sets an option of all variables, or of one."""
        kind, values, none = _native.OPTIONS[name]
        if kind == _native.RANGE:
            getattr(struct, name)[:] = (-math.inf, math.inf) if value is None else value
        elif kind in (_native.NUMBERS, _native.LABELS):
            if value is not None:
                self._point(struct, name, ctypes.c_double if kind == _native.NUMBERS else ctypes.c_int32, value)
        elif values:
            setattr(struct, name, values.index(value))
        else:
            setattr(struct, name, type(getattr(struct, name))(none) if value is None else value)

    def _set_variables(self) -> None:
        """Sets the options of each variable."""
        if not self._each:
            return
        count = max(map(len, self._each.values()))
        for name, value in self._each.items():
            if len(value) != count or count > MOST_VARIABLES:
                raise ValueError(
                    f"{name} has length {len(value)}: expected one entry for each variable of mass, {count} as in "
                    f"other options, and at most {MOST_VARIABLES}"
                )
        variables = (_native.ModeVariable * count)()
        for k, variable in enumerate(variables):
            _native.call("mode_variable_init", variable, ctypes.sizeof(variable))
            for name, values in self._each.items():
                self._set(variable, name, values[k])
        self.struct.variables, self.struct.n_variables = variables, count

    def _point(self, struct: ctypes.Structure, name: str, element: Any, values: Sequence[Any]) -> None:
        """Points a member of a struct to these values, and sets the member with their number."""
        self._lists.append((element * len(values))(*values))
        setattr(struct, name, ctypes.cast(self._lists[-1], ctypes.POINTER(element)))
        setattr(struct, f"n_{name}", len(values))


def _ends(value: Any) -> list[tuple[float, float]]:
    """The ends of an option that limits scores or masses, for each variable."""
    return [(one[0], one[-1]) for one in _each(value)]


def _each(value: Any) -> list[tuple[float, ...]]:
    """The numbers of an option that limits scores or masses, for each variable that has it."""
    return [one for one in (value if is_for_each(value) else (value,)) if one]


def _outwards(value: Any, kind: str) -> Any:
    """The numbers of an option that limits scores or masses, rounded to the type of this name."""
    if is_for_each(value):
        return tuple(one and _outwards(one, kind) for one in value)
    if not value:
        return value
    low, *inner, high = value
    low, high = outwards(low, high, kind)
    return (low, *(nearest(edge, kind) for edge in inner), high)


_cached = lru_cache(maxsize=256)(Options)


def check(loss: Loss, options: Mapping[str, Any]) -> Options:
    """The checked options of a user, from a cache."""
    return _cached(loss, **plain(loss, options))


@lru_cache(maxsize=256)
def parse_options(text: str) -> Options:
    """The options with this ``text``."""
    loss, options = json.loads(text)
    return _cached(loss, **{name: _tupled(value) for name, value in options.items()})


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
