"""The picture of a check."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ._result import AtCut, Check

BINS = 80  # of the spectra


def draw(check: Check, figure: Any, mass_label: str) -> Any:
    """The figure of :meth:`Check.plot`."""
    from matplotlib.figure import Figure

    drawn = [
        cut for cut in check.cuts if cut.spectrum is not None and cut.scan is not None and cut.efficiency is not None
    ]
    if not drawn:
        wanted = ", ".join(cut.wanted for cut in check.cuts)
        raise ValueError(f"plot: at {wanted} there is no spectrum of one mass to draw; {check.why}")
    made = figure or Figure(figsize=(6 * len(drawn), 8.5), layout="constrained")
    axes = made.subplots(3, len(drawn), sharex="col", squeeze=False, height_ratios=[3, 2, 2])
    for cut, *column in zip(drawn, *axes, strict=True):
        _draw(check, cut, *column)
        column[-1].set_xlabel(mass_label)
    made.suptitle("\n".join(textwrap.wrap(check.why, 40 + 50 * len(drawn))), fontsize="medium")
    return made


def _draw(check: Check, cut: AtCut, above: Any, middle: Any, below: Any) -> None:
    """The spectra, the efficiency with the allowed polynomial, and the spurious signal, on three Axes."""
    assert cut.spectrum is not None and cut.efficiency is not None and cut.polynomial is not None
    assert cut.scan is not None
    step = max(1, cut.spectrum.shape[1] // BINS)
    starts = np.arange(0, cut.spectrum.shape[1], step)
    edges, width = np.append(cut.spectrum[0, starts], cut.spectrum[1, -1]), step * np.diff(cut.spectrum[:2, 0])[0]
    for row, name, color in ((2, "background", "0.5"), (3, f"selected: {cut.wanted}", "C0")):
        values = np.add.reduceat(cut.spectrum[row], starts)
        above.stairs(np.where(values > 0, values, np.nan), edges, label=name, color=color)
    above.set_yscale("log")
    above.set_ylabel(f"events / {width:.3g}")
    bins, value, error = np.asarray(cut.efficiency.edges), cut.efficiency.value, cut.efficiency.error
    steps = np.repeat(bins, 2)[1:-1]
    middle.stairs(value, bins, baseline=None, color="C0")
    middle.fill_between(steps, *(np.repeat(value + sign * error, 2) for sign in (-1, 1)), color="C0", alpha=0.3, lw=0)
    allowed = "allowed: the mean" if check.order == 0 else f"allowed: a polynomial of degree {check.order}"
    middle.plot(steps, np.repeat(cut.polynomial, 2), color="black", lw=1, label=allowed)
    middle.set_ylabel("background efficiency")
    middle.set_ylim(bottom=min(0, float(np.nanmin(cut.efficiency.value))))
    for width in np.unique(cut.scan[:, 1])[::-1]:
        at, _, signal, error = cut.scan[cut.scan[:, 1] == width].T
        (line,) = below.plot(at, signal, lw=1, label=f"width {width:.3g}")
        below.fill_between(at, signal - 2 * error, signal + 2 * error, alpha=0.3, color=line.get_color(), lw=0)
    for limit in (-check.flat_below, check.flat_below):
        below.axhline(limit, color="black", ls="--", lw=1)
    below.set_ylabel("spurious signal\n[errors of the search]")
    for axes in (above, middle, below):
        for mass in check.signal_masses:
            axes.axvline(mass, color="C2", lw=1, label="signal")
        if np.isfinite(cut.mass):
            axes.axvline(cut.mass, color="C3", ls=":", lw=1.5, label=f"decides: {cut.mass:.4g}")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
    above.set_xlim(edges[0], edges[-1])
