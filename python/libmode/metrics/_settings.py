"""The arguments of a check but for the events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._messages import refuse_unknown
from .._read import flag, number, numbers, positive, whole
from ._arguments import Doubles, checked_order
from ._fit import family
from ._working_point import POINTS, number_of_point


class Settings(NamedTuple):
    """The checked arguments of :func:`check` but for the events."""

    order: int
    points: list[tuple[str, float]]
    bins: Any
    mass_range: Any
    missing: str
    signal_mass: Doubles | None
    signal_width: Doubles | None
    background: Any
    tolerance: float | None
    training_events: float | None
    max_slope: float | None
    monotonic: bool
    background_label: Any
    in_unit: Callable[[Any], Any] = np.asarray  #: from masses to masses of the result, as exp of a log mass

    @classmethod
    def checked(
        cls,
        *,
        order: Any = None,
        background_label: Any = 0,
        signal_efficiency: Any = None,
        background_efficiency: Any = None,
        threshold: Any = None,
        bins: Any = 20,
        mass_range: Any = None,
        missing: str = "error",
        signal_mass: Any = None,
        signal_width: Any = None,
        background: Any = None,
        tolerance: Any = None,
        training_events: Any = None,
        max_slope: Any = None,
        monotonic: bool = False,
        **unknown: Any,
    ) -> Settings:
        """Raises the errors of :func:`check` for bad values of these, and for other names."""
        refuse_unknown("check", unknown, cls._fields + POINTS)
        order = checked_order(order)
        wishes = dict(zip(POINTS, (signal_efficiency, background_efficiency, threshold), strict=True))
        chosen = {name: value for name, value in wishes.items() if value is not None} or {POINTS[0]: 0.5}
        if len(chosen) > 1:
            raise TypeError(
                f"{' and '.join(chosen)} both are working points: give one of them, of one number or several"
            )
        ((name, values),) = chosen.items()
        several = np.ndim(values) > 0
        listed = list(values) if several else [values]
        if not listed:
            raise ValueError(f"{name} is empty: expected at least one number")
        points = [
            (name, number_of_point(f"{name}[{k}]" if several else name, name, each)) for k, each in enumerate(listed)
        ]
        if missing not in ("error", "ignore"):
            raise ValueError(f"missing = {missing!r}: expected 'error' or 'ignore'")
        masses, widths = (
            None if each is None else numbers(called, np.atleast_1d(each))
            for called, each in (("signal_mass", signal_mass), ("signal_width", signal_width))
        )
        if widths is not None:
            for k, width in enumerate(widths.tolist()):
                number(f"signal_width[{k}]" if len(widths) > 1 else "signal_width", width, above=0)
            if len(widths) > 1 and (masses is None or len(masses) != len(widths)):
                have = "none" if masses is None else len(masses)
                raise ValueError(f"signal_width has {len(widths)} numbers, and signal_mass {have}: expected as many")
        for called, each in (("tolerance", tolerance), ("training_events", training_events)):
            positive(called, each)
        if max_slope is not None:
            number("max_slope", max_slope, least=0)
            if order < 1:
                raise ValueError(
                    f"max_slope = {max_slope:g}: expected an order of at least 1, order = {order} has no slope"
                )
        if flag("monotonic", monotonic) and order < 2:
            raise ValueError(f"monotonic = True: expected an order of at least 2, order = {order} is monotonic")
        if np.ndim(bins) == 0:
            whole("bins", bins, 2)
        if background is not None:
            family(background)  # its error names the known ones
        return cls(
            order, points, bins, mass_range, missing, masses, widths, background, tolerance, training_events,
            max_slope, bool(monotonic), background_label,
        )  # fmt: skip
