"""B-splines of the masses."""

from __future__ import annotations

from .arrays import Array, Arrays
from .selection import Selection


def b_splines(xp: Arrays, knots: tuple[float, ...], degree: int, of: Selection) -> list[Array]:
    """The B-splines of this degree, (n,) each, by the recurrence of Cox and de Boor from degree to degree.

    The knots are those given, and the ends of the range, degree + 1 times each. At the upper end the last
    function is 1.
    """
    inner = [xp.full((), knot) for knot in knots]
    t, m = [of.low] * (degree + 1) + inner + [of.high] * (degree + 1), of.mass
    last = degree + len(knots)  # the interval that ends in the upper end of the range
    real: list[bool] = [degree <= j <= last for j in range(len(t) - 1)]  # others are empty
    rows = []
    for j, some in enumerate(real):
        inside = (m >= t[j]) & ((m < t[j + 1]) | (j == last)) if some else m != m
        rows.append(xp.real(inside))
    for d in range(1, degree + 1):
        # A ramp over an empty interval multiplies a function that is 0.
        rising = [(m - t[j]) / (t[j + d] - t[j]) if any(real[j : j + d]) else m * 0 for j in range(len(rows))]
        rows = [rising[j] * rows[j] + (1 - rising[j + 1]) * rows[j + 1] for j in range(len(rows) - 1)]
    return rows
