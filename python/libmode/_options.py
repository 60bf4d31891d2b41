"""The options of a loss or a layer as text, which the core reads: it has the defaults, and checks the values.

Values of a user become text at once, since arrays and tensors may change later.
"""

from __future__ import annotations

import inspect
import linecache
import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, get_origin

from . import option_types
from ._events import Events
from ._messages import ORDER, near, shown
from ._native import Handle, Row, options_table
from ._read import as_python, each_of, is_for_each
from .option_types import LayerOptions, Loss, LossOptions

# Of the types that are less precise than Python's float: binary digits, and the largest exponent.
_NARROW = {"float16": (11, 15), "bfloat16": (8, 127), "float32": (24, 127)}


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of NumPy, JAX, TensorFlow or PyTorch, for instance "float32"."""
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def _near(value: float, kind: str, to_integer: Callable[[float], int]) -> float:
    """A number of a type near the value; the value itself if the type does not reach it."""
    if kind not in _NARROW or math.isinf(value):
        return value
    digits, largest = _NARROW[kind]
    step = 2.0 ** max(math.frexp(value)[1] - digits, 2 - largest - digits)  # between neighboring numbers of the type
    near = to_integer(value / step) * step
    return value if abs(near) >= 2.0 ** (largest + 1) else near


_KINDS: dict[str, Any] = LossOptions.__annotations__
# The options that each loss takes, and the settings of a layer, which are options of the core too.
TAKEN: dict[Loss, tuple[str, ...]] = {"mode": tuple(_KINDS), "disco": ("unbiased", "background_label")}
OF_LAYER = tuple(name for name in LayerOptions.__annotations__ if name not in _KINDS)
# The options that limit scores or masses.
_LIMITS = ("score_range", "mass_range", "edges")


class Options(Handle):
    """The checked options of one loss or layer, from text."""

    def __init__(self, loss: Loss, text: str) -> None:
        super().__init__(text)
        self.loss = loss
        words = (word.partition("=") for word in self.text.split())
        self.given = {name: value if equals else "true" for name, equals, value in words}
        """The options that are not at their default, as text."""
        self.values = {name: _value(row, self.given.get(name)) for name, row in options_table().items()}
        """All options. None stands for no limit, or for a value from the data."""
        if self.values["edges"]:  # the text leaves out what follows from them
            self.values["binning"] = "edges"
        labels = self.values["background_label"]
        self.labels: tuple[int, ...] = labels if isinstance(labels, tuple) else (labels,)
        limits = [value for name in _LIMITS if (value := self.values[name])]
        self.fit_all = all(_outwards(value, kind) == value for value in limits for kind in _NARROW)
        """Whether all limits are exact in every type, so that :meth:`rounded_to` returns these options."""
        self._rounded: dict[Any, Options] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Options, (self.loss, self.text)

    def changed(self, **values: Any) -> Options:
        """These options with other values of some."""
        return parse_options(self.loss, as_text({name: self.values[name] for name in self.given} | values))

    def rounded_to(self, score: Any, mass: Any) -> Options:
        """These options, with limits and edges rounded to the dtypes of scores and masses."""
        if self.fit_all:
            return self
        if (score, mass) not in self._rounded:
            kinds = zip(_LIMITS, map(dtype_name, (score, mass, mass)), strict=True)
            limits = {name: _outwards(self.values[name], kind) for name, kind in kinds if self.values[name]}
            self._rounded[score, mass] = self.changed(**limits)
        return self._rounded[score, mass]

    def of_check(self) -> dict[str, Any]:
        """The arguments with which :func:`libmode.metrics.check` judges what these options train."""
        names = ["order", "mass_range", "missing", "monotonic", "background_label"]
        names += ["max_slope"] * (self.values["slope_of"] == "selected")
        own = {name: self.values[name] for name in names if name == "order" or name in self.given}
        if edges := self.values["edges"]:
            ends = [(one[0], one[-1]) for one in each_of(edges)]
            own["mass_range"] = ends[0] if len(ends) == 1 else ends
        return own


def _outwards(value: Any, kind: str) -> Any:
    """Increasing limits in the type of this name: both ends rounded outwards, and others to the nearest number."""
    if is_for_each(value):
        return tuple(one and _outwards(one, kind) for one in value)
    low, *inner, high = value
    return _near(low, kind, math.floor), *(_near(edge, kind, round) for edge in inner), _near(high, kind, math.ceil)


def _value(row: Row, text: str | None) -> Any:
    """The value of an option from the text of the core, by its kind."""
    text = row.default if text is None else text
    if ";" in text:
        return tuple(_value(row, one) for one in text.removesuffix(";").split(";"))
    if text == "none":
        return None
    if row.kind in ("range", "numbers"):
        return tuple(map(float, text.split(",")))
    if row.kind == "flag":
        return text == "true"
    if row.kind in ("integer", "labels"):
        return int(text)
    return float(text) if row.kind == "number" else text


def as_text(options: Mapping[str, Any]) -> str:
    """The options as the core reads them."""
    return " ".join([f"{name}={_word(name, value)}" for name, value in options.items()])


def _word(name: str, value: Any) -> str:
    """The value of an option as text."""
    if type(value) not in (bool, int, float, str):  # NumPy's float64 is a float, and writes itself otherwise
        value = as_python(value)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and get_origin(_KINDS.get(name)) is Literal:
        return "_".join(value.split())
    try:
        if isinstance(value, (int, float)):
            return repr(value)
        if isinstance(value, (str, bytes)):
            raise TypeError
        if not isinstance(value, Iterable):
            return repr(float(value))
    except (TypeError, ValueError):  # ValueError of integers with thousands of digits
        raise TypeError(f"{name} = {shown(value)} must be {options_table()[name].allowed}") from None
    each = [as_python(one) for one in value]
    # Several numbers of an option of one number are for several variables of mass, or are several labels.
    several = name in ("bins", "background_label") or any(one is None or isinstance(one, Iterable) for one in each)
    text = (";" if several else ",").join([_word(name, one) for one in each])
    return text + ";" if several and len(each) == 1 and name != "background_label" else text


#: The options of a loss with this text.
parse_options = lru_cache(maxsize=256)(Options)


def check(
    loss: Loss, options: Mapping[str, Any], owner: Callable[..., Any] | None = None, more: Iterable[str] = ()
) -> Options:
    """The checked options of a user, which may have ``more`` names.

    ``owner`` is the function that has them beside keywords of its own, which an error lists too.
    """
    if not isinstance(loss, str) or loss not in TAKEN:
        raise ValueError(f"loss = {shown(loss)}: must be one of {', '.join(map(repr, TAKEN))}")
    names = (*TAKEN[loss], *more)
    for name in options:
        if name not in names:
            own = {} if owner is None else inspect.signature(owner).parameters
            known = dict.fromkeys((*names, *(name for name, one in own.items() if one.kind is one.KEYWORD_ONLY)))
            meant = near(name, {*known, *Events._fields})
            text = f"did you mean {meant}? The" if meant else "the"
            raise TypeError(f"unknown option {name!r}: {text} options are {', '.join(known)}")
    if loss == "mode" and "order" not in options:
        raise TypeError(ORDER)
    plain = {name: value for name, value in options.items() if value is not None or name in TAKEN[loss]}
    return parse_options(loss, as_text({"unbiased": False, **plain} if loss == "disco" else plain))


def check_scaled(
    loss: Loss, options: Mapping[str, Any], strength: float | None, owner: Callable[..., Any] | None = None
) -> Options:
    """The checked options of a loss that has a strength, or None."""
    checked = check(loss, {**options, "strength": strength}, owner, ("strength",))
    if strength is not None and (loss != "mode" or checked.values["score_range"] != (0, 1)):
        what = "score_range other than (0, 1)" if loss == "mode" else f"loss = {loss!r}"
        raise ValueError(
            f"strength = {shown(strength)} and {what}: a strength is relative to the cross entropy of scores from 0 to "
            "1; leave it out, and multiply the loss by a number of your own"
        )
    return checked


def with_options(doc: str | None, kind: str) -> str | None:
    """``doc`` with the rows and the sentences of a class of option_types, in the place of {options}."""
    source = "".join(linecache.getlines(option_types.__file__, vars(option_types)))
    source = source.partition(f"class {kind}(")[2].partition("\nclass ")[0]
    rows = re.findall(r'^    (\w+: .+)\n    """((?:.|\n)+?)"""', source, re.MULTILINE)
    text = "\n".join(f"{row.replace(':', ' :', 1)}\n    {sentences}" for row, sentences in rows)
    return doc and re.sub(r"( *)\{options\}", lambda place: place[1] + text.replace("\n", f"\n{place[1]}"), doc)
