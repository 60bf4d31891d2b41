"""A QuantileMap as a C++ header that needs nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .quantile_map import QuantileMap

_HEADER = """\
// {name}: a QuantileMap of libmode, {what}.
// Written by libmode.posthoc.QuantileMap.to_cpp; needs C++11 and nothing else.
#ifndef LIBMODE_{guard}_H
#define LIBMODE_{guard}_H

#include <cmath>
#include <limits>

namespace {name}_map {{

const int kLevels = {levels}, kVariables = {variables}, kFunctions = {functions}, kTargets = {targets};
const double levels[kLevels] = {{{level_values}}};
{knots}
const int kKnots[kVariables] = {{{knot_counts}}};
const double *const knots[kVariables] = {{{knot_names}}};
const double range[2] = {{{range}}};
// Row by row, one for each level.
const double coefficients[kLevels * kFunctions] = {{{coefficients}}};
const double targets[kLevels * (kTargets > 0 ? kTargets : 1)] = {{{target_values}}};

// The place of x among increasing values: at most n - 2, and values[place] <= x where there is such a one.
inline int place(const double *values, int n, double x) {{
  int low = 0, high = n - 1;
  while (high - low > 1) {{
    const int middle = (low + high) / 2;
    (values[middle] <= x ? low : high) = middle;
  }}
  return low;
}}

// The four cubic B-splines that are not 0 at x, and the number of the first of them.
inline int splines(const double *knots, int n, double x, double *values) {{
  if (x < knots[0]) x = knots[0];
  if (x > knots[n - 1]) x = knots[n - 1];
  const int first = place(knots, n, x);
  double left[4], right[4];
  values[0] = 1;
  for (int degree = 1; degree <= 3; ++degree) {{
    const int below = first + 1 - degree, above = first + degree;
    left[degree] = x - knots[below < 0 ? 0 : below];
    right[degree] = knots[above > n - 1 ? n - 1 : above] - x;
    double saved = 0;
    for (int k = 0; k < degree; ++k) {{
      const double share = values[k] / (right[k + 1] + left[degree - k]);
      values[k] = saved + right[k + 1] * share;
      saved = left[degree - k] * share;
    }}
    values[degree] = saved;
  }}
  return first;
}}

// The sum of the coefficients of a level times the products of the splines of each variable.
inline double sum(const double *row, const int *first, const double (*values)[4], int variable, int at) {{
  if (variable == kVariables) return row[at];
  double total = 0;
  for (int k = 0; k < 4; ++k) {{
    const int next = at * (kKnots[variable] + 2) + first[variable] + k;
    total += values[variable][k] * sum(row, first, values, variable + 1, next);
  }}
  return total;
}}

inline double target(const double *polynomials, int level) {{
  double total = 0;
  for (int k = 0; k < kTargets; ++k) total += polynomials[k] * targets[level * kTargets + k];
  return total;
}}

}} // namespace {name}_map

// The mapped score of an event; mass points to kVariables masses. NaN where the score or a mass is NaN.
inline double {name}(double score, const double *mass) {{
  using namespace {name}_map;
  if (std::isnan(score)) return score;
  int first[kVariables];
  double values[kVariables][4];
  for (int v = 0; v < kVariables; ++v) {{
    if (std::isnan(mass[v])) return mass[v];
    first[v] = splines(knots[v], kKnots[v], mass[v], values[v]);
  }}
  const int at = place(levels, kLevels, score);
  double share = (score - levels[at]) / (levels[at + 1] - levels[at]);
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  const double below = sum(coefficients + at * kFunctions, first, values, 0, 0);
  double probability = below + share * (sum(coefficients + (at + 1) * kFunctions, first, values, 0, 0) - below);
  probability = probability < 0 ? 0 : probability > 1 ? 1 : probability;
  if (kTargets == 0) return score < levels[0] ? 0 : probability;

  double u = (mass[0] - range[0]) / (range[1] - range[0]), polynomials[kTargets > 0 ? kTargets : 1];
  u = u < 0 ? 0 : u > 1 ? 1 : u;
  polynomials[0] = 1;
  for (int order = 1; order < kTargets; ++order) {{ // Bernstein's of one order from those of the order below
    polynomials[order] = u * polynomials[order - 1];
    for (int k = order - 1; k > 0; --k) polynomials[k] = u * polynomials[k - 1] + (1 - u) * polynomials[k];
    polynomials[0] *= 1 - u;
  }}
  int low = 0, high = kLevels - 1;
  while (high - low > 1) {{
    const int middle = (low + high) / 2;
    (target(polynomials, middle) <= probability ? low : high) = middle;
  }}
  const double from = target(polynomials, low), rise = target(polynomials, high) - from;
  double part = rise > 0 ? (probability - from) / rise : 0;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  const double inside = score < levels[0] ? levels[0] : score > levels[kLevels - 1] ? levels[kLevels - 1] : score;
  return levels[low] + part * (levels[high] - levels[low]) + (score - inside);
}}

{of_one}
#endif
"""

_OF_ONE = """\
// The same for one variable of mass.
inline double {name}(double score, double mass) {{ return {name}(score, &mass); }}
"""


def header(given: QuantileMap, name: str) -> str:
    """The text of the header, with a function of this name."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ValueError(f"name = {name!r}: must be a name in C++, of letters, digits and _")
    count = len(given.knots_)
    columns = 0 if given.targets_ is None else given.targets_.shape[1]
    targets = [0.0] * len(given.levels_) if given.targets_ is None else given.targets_.ravel().tolist()
    return _HEADER.format(
        name=name,
        guard=name.upper(),
        what=f"of order {columns - 1:d}" if columns else "the background's distribution itself",
        levels=len(given.levels_),
        variables=count,
        functions=given.coefficients_.shape[1],
        targets=columns,
        level_values=_numbers(given.levels_.tolist()),
        knots="\n".join(
            f"const double knots{k}[] = {{{_numbers(knots.tolist())}}};" for k, knots in enumerate(given.knots_)
        ),
        knot_counts=", ".join(str(len(knots)) for knots in given.knots_),
        knot_names=", ".join(f"knots{k}" for k in range(count)),
        range=_numbers(given.ranges_[0]),
        coefficients=_numbers(given.coefficients_.ravel().tolist()),
        target_values=_numbers(targets),
        of_one=_OF_ONE.format(name=name) if count == 1 else "",
    )


def _numbers(values: Iterable[float]) -> str:
    lines: list[Sequence[str]] = [[]]
    for value in values:
        if len(lines[-1]) == 8:
            lines.append([])
        lines[-1] = [*lines[-1], repr(float(value))]
    return ",\n".join(", ".join(line) for line in lines)
