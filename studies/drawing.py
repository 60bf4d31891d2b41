"""The look of the pictures of studies and benchmarks: mplhep's style of ROOT, with colors for any color vision."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import matplotlib.style
import mplhep
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes

#: Colors that differ with any color vision (M. Okabe and K. Ito, 2008).
OKABE_ITO = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "bluish green": "#009E73",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "reddish purple": "#CC79A7",
    "black": "#000000",
    "yellow": "#F0E442",
}
SETTINGS = {
    "font.size": 20,
    "axes.prop_cycle": cycler(color=[color for name, color in OKABE_ITO.items() if name != "yellow"]),
    "axes.unicode_minus": True,
    "xaxis.labellocation": "center",
    "yaxis.labellocation": "center",
    "lines.linewidth": 2,
    "lines.markersize": 8,
    "patch.linewidth": 2,
    "figure.constrained_layout.w_pad": 0.12,
}


def style() -> AbstractContextManager[None]:
    """A context in which figures are made and saved, since matplotlib looks up fonts only then."""
    return matplotlib.style.context([mplhep.style.ROOT, SETTINGS])


def efficiency(axes: Axes, rates: Any, *, label: str | None = None, **style: Any) -> None:
    """Steps, and a band of value +- error, of (edges, value, error) or the efficiency of libmode.metrics."""
    edges, value, error = rates if isinstance(rates, tuple) else (rates.edges, rates.value, rates.error)
    steps = axes.stairs(value, edges, baseline=None, label=label, **style)
    low, high = (np.repeat(limit, 2) for limit in (value - error, value + error))
    axes.fill_between(np.repeat(edges, 2)[1:-1], low, high, color=steps.get_edgecolor(), alpha=0.3, lw=0)
    axes.set_xlabel(axes.get_xlabel() or "mass")
    axes.set_ylabel(axes.get_ylabel() or "efficiency")
