"""What the state of a constraint shows of the response to background, at each of its cuts."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._native import address, state_fields

#: Standard errors above the limit with which a bump of the signal counts, as in core/constraint.
SURELY = 3.0


@dataclass(frozen=True, eq=False)
class Convergence:
    """What batches show of the response, at 16 cuts with background efficiencies from 1/2 to 1/1000.

    At each cut it is the bump that a search with N background events could mistake for a signal. That is the residual
    projected on the spectrum of the signal in the batches, less the allowed polynomial, or on a window of an eighth of
    the background, whichever is worse. The residual is an average over the last 256,000 background events, or over the
    last 25,600 where the two differ.

    Examples
    --------
    >>> from libmode.jax import State
    >>> State().convergence().flat  # None before the first batch
    """

    flat: bool | None  #: False: not flat. True: no dependence is seen. None: not known
    efficiency: NDArray[np.float64]  #: of the background at each cut, (16,)
    errors: NDArray[np.float64]  #: the bump over the error of the search, (16,); NaN where batches do not reach the cut
    doubt: NDArray[np.float64]  #: the standard error of ``errors``, (16,)
    height: NDArray[np.float64]  #: of the bump relative to the background under it, (16,)
    mass: NDArray[np.float64]  #: where it is, (16,)
    limit: float  #: the largest size of ``errors`` that is flat, 1.8 sqrt(1 + N/T), with T = N where T is unknown
    worst: int  #: the cut that is most above the limit
    tolerance: float  #: N: the argument, or T; where that is unknown 100,000, at most 1/32 of events
    training_events: float | None  #: T, the background events of the training
    batches: int  #: how many there were,
    events: float  #: and the background events in them
    label: int  #: the least flat background label, by its place among the labels
    category: int | None  #: of these numbers; None without categories
    zero: tuple[float, float] | None  #: the mass where the allowed response reaches 0, and the background efficiency
    peak: tuple[float, float] | None  #: the mass of a new maximum of the selected spectrum, and the same
    slope: tuple[float, float] | None  #: the slope, if it is above ``max_slope`` by more than the limit, and the same
    turn: tuple[float, float] | None  #: the largest moment over its bound by ``monotonic``, in the same way
    max_slope: float  #: the bound; infinite without one

    @property
    def smallest(self) -> NDArray[np.float64]:
        """The smallest bump at the mass of the signal that would have been seen at each cut, in errors, (16,)."""
        return self.limit + SURELY * self.doubt

    def __str__(self) -> str:
        at, seen = self.worst, f"after {self.batches:,} batches with {self.events:,.0f} background events "
        if np.isnan(self.errors).all():
            return seen + "nothing is known"
        search = f"a search with {self.tolerance:,.0f} background events"
        if self.flat is False:
            if self.slope or self.turn:
                value, efficiency = self.slope or self.turn or (0, 0)
                said = f"its slope is {value:.2g}, above max_slope = {self.max_slope:g}"
                if self.slope is None:
                    said = f"it rises and falls: a moment is {value:.2g} times its bound by monotonic"
                return f"{seen}{said}, at a background efficiency of {efficiency:.2g}"
            where = "" if self.category is None else f"in category {self.category} "
            return (
                f"{seen}{search} would find {where}{self.errors[at]:+.1f} +- {self.doubt[at]:.1f} errors of signal, "
                f"{self.height[at]:+.0%} of the background, near the mass {self.mass[at]:.4g} at a background "
                f"efficiency of {self.efficiency[at]:.2g}. Up to {self.limit:.1f} errors count as flat"
            )
        least = f"up to {np.nanmin(self.smallest):.1f} errors of signal in {search} would be overlooked"
        return seen + ("no dependence is seen: " if self.flat else "it is not known whether this is flat: ") + least


def convergence(
    options: Any, memory: NDArray[np.float64], training_events: float | None, **steering: Any
) -> Convergence:
    """The convergence of the label or category that is least flat, for the numbers of a state."""
    memory = np.ascontiguousarray(memory, np.float64)
    how = _native.ModeSteering(ctypes.sizeof(_native.ModeSteering), **steering)
    how.state, how.n_state, how.training_events = address(memory), memory.size, training_events or 0.0
    shown = _native.ModeVerdict(ctypes.sizeof(_native.ModeVerdict))
    _native.call("mode_constraint_verdict", options, how, shown)

    def place(mass: float, cut: float) -> tuple[float, float] | None:
        return None if math.isnan(mass) else (mass, cut)

    tables: Any = {name: np.array(getattr(shown, name)) for name in ("efficiency", "errors", "doubt", "height", "mass")}
    numbers: Any = {name: getattr(shown, name) for name in ("limit", "worst", "tolerance", "events", "label")}
    return Convergence(
        **{**tables, **numbers},
        flat={1: True, 0: None, -1: False}[shown.flat],
        training_events=training_events,
        max_slope=options.max_slope,
        batches=int(shown.batches),
        category=None if shown.category < 0 else shown.category,
        zero=place(shown.zero, shown.zero_at),
        peak=place(shown.peak, shown.peak_at),
        slope=place(shown.slope, shown.slope_at),
        turn=place(shown.turn, shown.turn_at),
    )


def number(state: NDArray[np.float64], name: str, part: int = 0) -> float:
    """A number in the state of a constraint."""
    first, stride = state_fields()[name]
    return float(state[first + part * stride])
