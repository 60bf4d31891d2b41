"""The figure of a check."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._result import AtCut


def draw(cut: AtCut, above: Any, below: Any, order: int) -> None:
    """The spectra, and the efficiency with the allowed polynomial, on two Axes."""
    from .. import plots

    efficiency = cut.efficiency
    assert efficiency is not None and cut.polynomial is not None
    edges, widths = efficiency.edges, np.diff(efficiency.edges)
    plots.spectrum(above, efficiency, before=True, label="background")
    plots.spectrum(above, efficiency, label=f"selected: {cut.wanted}", color="C0")
    density = efficiency.background / widths
    if density.min() > 0 and density.max() > 10 * density.min():
        above.set_yscale("log")
    above.set_xlabel("")
    plots.efficiency(below, efficiency, color="C0")
    steps = np.repeat(edges, 2)[1:-1]
    allowed = "allowed: the mean" if order == 0 else f"allowed: a polynomial of degree {order}"
    below.plot(steps, np.repeat(cut.polynomial, 2), color="black", lw=1, label=allowed)
    if np.isfinite(cut.signal_mass):
        for axes in (above, below):
            axes.axvline(cut.signal_mass, color="0.5", ls=":", lw=1)
    below.set_ylabel("background efficiency")
    # Bins of equal numbers of events are wide in the tails, which are cut short.
    most = (edges[-2] - edges[1]) / 5 if len(edges) > 3 else np.inf
    below.set_xlim(max(edges[0], edges[1] - most), min(edges[-1], edges[-2] + most))
    below.set_ylim(bottom=min(0, float(np.nanmin(efficiency.value))))
    for axes in (above, below):
        axes.legend(fontsize="small")
