"""The classifiers of the study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .. import methods


@dataclass(frozen=True)
class Classifier(methods.Classifier):
    """One row of a table.

    features : the columns of the events' features that the network sees
    modified : on the modified model
    """

    features: tuple[int, ...] = (0, 1)
    modified: bool = False


def mode(order: int, strength: float, name: str | None = None, modified: bool = False, **options: Any) -> Classifier:
    """A classifier with MoDe."""
    return Classifier(name or f"MoDe[{order}]", "mode", strength, {"order": order} | options, modified=modified)


AGNOSTIC = "m-agnostic"
DEMO = (
    Classifier("unconstrained"),
    Classifier(AGNOSTIC, features=(0,)),
    mode(0, 5000),
    mode(1, 1000),
    mode(2, 1000),
)
OTHERS = (
    Classifier("planing", "planing"),
    Classifier("flatness", "flatness", 100),
    Classifier("DisCo 1000", "disco", 1000, {"unbiased": True}),
    Classifier("DisCo 2000", "disco", 2000, {"unbiased": True}),
    Classifier("adversary 10", "adversary", 10),
    Classifier("adversary 100", "adversary", 100),
)
MODIFIED = tuple(replace(c, modified=True) for c in (*DEMO[:2], *DEMO[3:])) + (
    mode(2, 1000, "MoDe[2] monotonic", modified=True, monotonic=True),
)
MONOTONIC_TIGHT = mode(2, 3000, "MoDe[2] monotonic with odds", modified=True, monotonic=True, integral_over="odds")
MAX_SLOPES = {"rejected": (0.1, 0.2, 0.4), "selected": (0.25, 0.5, 0.75)}
SLOPES = tuple(
    mode(1, 1000, f"MoDe[1] {max_slope:g} of {slope_of}", max_slope=max_slope, slope_of=slope_of)
    for slope_of, slopes in MAX_SLOPES.items()
    for max_slope in slopes
)
SLOPES_TIGHT = tuple(
    mode(
        1,
        3000,
        f"MoDe[1] {max_slope:g} of selected with odds",
        max_slope=max_slope,
        slope_of="selected",
        integral_over="odds",
    )
    for max_slope in MAX_SLOPES["selected"]
)
