"""Which events take part, and whether their values are good."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Arrays
from .plan import Plan, Variable

_INFINITE = float("inf")


class Checks(NamedTuple):
    """Whether all is well, each a bool of shape (): of the values, by argument, and of the batch."""

    score: Array
    mass: Array
    weight: Array
    batch: Array  #: there are events, and enough for the bins: what :class:`libmode.BatchError` is raised for

    def also(self, other: Checks) -> Checks:
        """Whether all is well with both."""
        return Checks(*(mine & its for mine, its in zip(self, other, strict=True)))


class Selection(NamedTuple):
    """The events of one label, and their masses in one variable, in float64."""

    inside: Array  #: (n,) whether an event takes part
    mass: Array  #: (n,), the lower end of the range where it does not
    count: Array  #: () how many do
    low: Array  #: () the ends of the range of masses
    high: Array
    differ: Array  #: () whether the weights of those inside are not all one positive number

    @property
    def x(self) -> Array:
        """(n,) the masses, mapped linearly from the range to [-1, 1]."""
        return ((self.mass - self.low) - (self.high - self.mass)) / (self.high - self.low)


def of_label(xp: Arrays, label: Array, background: int) -> Array:
    """Which events have this label, (n,)."""
    return xp.real(label) == float(background)


def check_values(
    xp: Arrays, plan: Plan, selected: Array, score: Array, masses: list[Array], weight: Array | None
) -> Checks:
    """Whether the values of the selected events are finite, and their scores inside ``score_range``."""
    good = xp.isfinite(score)
    if plan.score_range is not None:
        good = good & (score >= plan.score_range[0]) & (score <= plan.score_range[1])
    finite = [xp.isfinite(mass) | (mass != mass) if plan.ignores_missing else xp.isfinite(mass) for mass in masses]
    good_mass = (finite[0] | ~selected).all()
    for others in finite[1:]:
        good_mass = good_mass & (others | ~selected).all()
    good_weight = selected.any() | True if weight is None else (xp.isfinite(weight) | ~selected).all()
    return Checks((good | ~selected).all(), good_mass, good_weight, selected.any())


def select(xp: Arrays, plan: Plan, variable: Variable, selected: Array, mass: Array, weight: Array | None) -> Selection:
    """The selected events whose masses lie inside the range, which by default is that of the masses."""
    given = (variable.edges[0], variable.edges[-1]) if plan.binning == "edges" else variable.mass_range
    if given is None:
        inside = selected & xp.isfinite(mass)
        low, high = xp.where(inside, mass, _INFINITE).min(), xp.where(inside, mass, -_INFINITE).max()
    else:
        low, high = (xp.full((), end) for end in given)
        inside = selected & (mass >= low) & (mass <= high)
    if weight is None:
        differ = inside.any() & False
    else:
        lightest, heaviest = xp.where(inside, weight, _INFINITE).min(), xp.where(inside, weight, -_INFINITE).max()
        differ = (lightest != heaviest) | (lightest <= 0)
    return Selection(inside, xp.where(inside, mass, low), inside.sum(), low, high, differ)
