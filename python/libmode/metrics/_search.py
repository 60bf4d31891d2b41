"""Where a search for a signal looks: bins, masses and widths that follow from the events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._bins import Bins, Doubles

CENTRAL = 0.95  # of the background is in the range of the fit: selections leave bins empty in the tails
LEAST_BINS, MOST_BINS = 20, 100  # of equal width, at most the width of the signal; two more for each order
MOST_MASSES = 50
OF_RANGE = 20  # without labels, the range over the width of the signal
AROUND = 3  # The fit goes beyond the masses of the user by this number of widths, where there is background.
FEWEST = 10  # labeled signal events, from which the width is taken
CORE = 0.1585, 0.8415  # quantiles that are two standard deviations of a Gaussian apart
NARROW = 8  # the least ratio of range and signal width: a polynomial could describe a wider signal


def search(
    background: Doubles, signal: Doubles, order: int, bins: Any, mass_range: Any, masses: Doubles | None,
    widths: Doubles | None,
) -> tuple[Doubles, Doubles, Doubles]:  # fmt: skip
    """The edges of the bins, the masses of the signals, and one width or a width for each signal.

    The user gives ``bins``, ``mass_range``, ``masses`` and ``widths``, or None.
    """
    edges = None if bins is None else Bins(bins, background[:, None], mass_range).axes[0]
    if edges is None and mass_range is None:
        ends = np.quantile(background, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2])
    else:
        ends = Bins(2, background[:, None], mass_range).axes[0][[0, -1]] if edges is None else edges[[0, -1]]
    low, high = (float(end) for end in ends)
    if low == high:
        raise ValueError(f"the central 95 % of the background has a single mass, {low:g}")
    if widths is None:
        known = len(signal) >= FEWEST
        widths = np.diff(np.quantile(signal, CORE)) / 2 if known else np.array([(high - low) / OF_RANGE])
    if edges is None:
        wanted = np.empty(0) if masses is None else masses
        least, most = float(background.min()), float(background.max())
        around = widths if len(widths) == len(wanted) else np.full(len(wanted), widths.max())
        for mean, own in zip(wanted.tolist(), around.tolist(), strict=True):
            if not least < mean < most:
                raise ValueError(f"the signal mass {mean:g} is outside the background, from {least:.4g} to {most:.4g}")
            if mass_range is None:
                low, high = min(low, max(mean - AROUND * own, least)), max(high, min(mean + AROUND * own, most))
        if not 0 < widths.min() <= widths.max() <= (high - low) / NARROW:
            raise ValueError(
                f"the signal has a width of {widths.max():.3g} in mass, and the background a range of "
                f"{high - low:.3g}: a fit needs a peak that is at least {NARROW} times narrower, see signal_width"
            )
        count = min(max(math.ceil((high - low) / widths.min()), LEAST_BINS + 2 * order), MOST_BINS)
        edges = np.linspace(low, high, count + 1)
    if masses is None:
        own = float(widths.max())
        masses = np.linspace(low + 2 * own, high - 2 * own, min(max(int((high - low) / own) - 3, 1), MOST_MASSES))
    return edges, masses, widths
