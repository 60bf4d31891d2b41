"""A QuantileMap as a C++ header that needs nothing else: the numbers for ``quantile_map.h.in``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from string import Template
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .quantile_map import QuantileMap

TEMPLATE = Path(__file__).with_name("quantile_map.h.in")
# What a function of two doubles cannot be called in C++11 to C++20, and functions of <cmath> that it would replace.
TAKEN = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl "
    "concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
    "xor_eq main std NAN NULL INFINITY HUGE_VAL atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder "
    "scalb errno assert"
)
OF_ONE = """\
// The same for one variable of mass.
inline double {name}(double score, double mass) {{ return {name}(score, &mass); }}
"""


def header(quantile_map: QuantileMap, name: str) -> str:
    """The text of the header, with a function of this name."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name = {name!r}: must be a name in C++, of letters, digits and _")
    if name in TAKEN.split() or "__" in name:
        raise ValueError(f"name = {name!r}: has a meaning in C++: choose another name for the function")
    variables = len(quantile_map.knots_)
    targets = np.zeros((len(quantile_map.levels_), 0)) if quantile_map.targets_ is None else quantile_map.targets_
    columns = targets.shape[1]
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        name=name,
        guard=name.upper(),
        what=f"of order {columns - 1:d}" if columns else "the background's distribution itself",
        levels=len(quantile_map.levels_),
        variables=variables,
        functions=quantile_map.coefficients_.shape[1],
        targets=columns,
        level_values=_numbers(quantile_map.levels_),
        knots="\n".join(
            f"const double knots{k}[] = {{{_numbers(ends)}}};" for k, ends in enumerate(quantile_map.knots_)
        ),
        knot_counts=", ".join(str(len(knots)) for knots in quantile_map.knots_),
        knot_names=", ".join(f"knots{k}" for k in range(variables)),
        range=_numbers(quantile_map.ranges_[0]),
        coefficients=_numbers(quantile_map.coefficients_.ravel()),
        target_values=_numbers(targets.ravel() if columns else np.zeros(len(quantile_map.levels_))),
        of_one=OF_ONE.format(name=name) if variables == 1 else "",
    )


def _numbers(values: Iterable[float]) -> str:
    return "\n".join(wrap(", ".join(repr(float(value)) for value in values), 118))
