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
OF_ONE = """\
// The same for one variable of mass.
inline double {name}(double score, double mass) {{ return {name}(score, &mass); }}
"""


def header(quantile_map: QuantileMap, name: str) -> str:
    """The text of the header, with a function of this name."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name = {name!r}: must be a name in C++, of letters, digits and _")
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
