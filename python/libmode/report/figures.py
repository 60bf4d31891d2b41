"""The figures of the page, drawn by :mod:`libmode.plots`, as SVG."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .. import plots
from .judge import Judgement
from .numbers import efficiency

LONGEST = 44  # characters of an expression in a legend
SIZE = 9.0  # inches, the width; fonts are those of plots.style
# The same numbers give the same file.
SETTINGS: Any = {"axes.labelpad": 8.0, "svg.fonttype": "path", "svg.hashsalt": "libmode"}


class Picture(NamedTuple):
    """A figure with its words."""

    title: str
    caption: str
    svg: bytes


def pictures(found: Judgement, scores: list[str], mass: str, order: int, labelled: bool) -> list[Picture]:
    """All figures for which the numbers are known.

    scores, mass : the expressions, in the legends and on the axes
    labelled : whether working points are efficiencies of signal, not of background
    """
    names = [_plain(name) for name in scores]
    points = range(len(found.scores[0].points))
    with plots.style(), matplotlib.rc_context(SETTINGS):
        drawn: list[Picture | None] = [_by_mass(found, k, names, _plain(mass), order, labelled) for k in points]
        if labelled:
            drawn.append(_rejection(found, names))
        drawn.append(_jsd(found, names, labelled))
        drawn.append(_closure(found, names))
        if found.fit is not None:
            drawn += [_spurious(found, k, names, _plain(mass), labelled) for k in points]
    return [picture for picture in drawn if picture is not None]


def _plain(expression: str) -> str:
    """Text that matplotlib draws as it is: no formula between dollars, no name that a legend leaves out."""
    shown = expression if len(expression) <= LONGEST else expression[: LONGEST - 1] + "…"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _point(wanted: float, labelled: bool) -> str:
    return f"{efficiency(wanted)} {'signal' if labelled else 'background'} efficiency"


def _figure(height: float, rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(SIZE, height), layout="constrained")
    ratios = [2, 1][:rows]
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=ratios)
    return figure, list(axes[:, 0])


def _picture(figure: Figure, legend_of: Axes, named: bool, title: str, caption: str) -> Picture:
    """With a legend above the axes, where it lies on nothing, if ``named``."""
    if named:
        handles, labels = legend_of.get_legend_handles_labels()
        longest = max(map(len, labels))
        columns = min(len(labels), max(1, 50 // (longest + 4)))
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize="small")
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return Picture(title, caption, file.getvalue())


def _by_mass(found: Judgement, place: int, names: list[str], mass: str, order: int, labelled: bool) -> Picture:
    """Efficiency above, residuals below."""
    figure, (above, below) = _figure(8.5, rows=2)
    above.set(xlabel=" ", ylabel="background efficiency", xlim=_shown(found.edges))
    below.set(xlabel=mass, ylabel="residual / mean")
    below.axhline(0, color="black", lw=1)
    for judged, name in zip(found.scores, names, strict=True):
        point = judged.points[place]
        plots.efficiency(above, point.efficiency, label=name)
        if point.residual is not None:
            residual = point.residual
            plots.efficiency(below, (residual.edges, residual.value, residual.error), label=name)
        else:
            _skip_colour(below)
    above.set_xlabel("")
    above.set_ylim(bottom=0)
    curve = {0: "the mean", 1: "the best straight line"}.get(order, f"the best polynomial of order {order}")
    return _picture(
        figure,
        above,
        len(names) > 1,
        f"By mass, at {_point(found.scores[0].points[place].wanted, labelled)}",
        f"Above: the background efficiency in bins of equal numbers of events. Below: its distance from {curve}, "
        "relative to the mean efficiency. Bands are statistical errors; wide bins at the ends are cut short.",
    )


def _shown(edges: NDArray[np.float64]) -> tuple[float, float]:
    """The range of the axis: bins of equal numbers of events are wide in the tails, which are cut short."""
    most = (edges[-2] - edges[1]) / 5 if len(edges) > 3 else np.inf
    return float(max(edges[0], edges[1] - most)), float(min(edges[-1], edges[-2] + most))


def _skip_colour(axes: Axes) -> None:
    """So that the next score has its own colour."""
    axes.plot([], [])


def _rejection(found: Judgement, names: list[str]) -> Picture | None:
    figure, (axes,) = _figure(6.5)
    for judged, name in zip(found.scores, names, strict=True):
        if judged.roc is not None:
            plots.roc(axes, judged.roc, label=name)
    line = np.linspace(0.005, 1, 200)
    axes.plot(line, 1 / line, color="0.6", ls=":", lw=1.5)
    # Above this, fewer than ten background events are left.
    axes.set(xlim=(0, 1), ylim=(1, max(10.0, found.background / 10)))
    return _picture(
        figure,
        axes,
        len(names) > 1,
        "ROC: rejection against signal efficiency",
        "One over the background efficiency. Dotted: a random choice. The curve ends where ten background "
        "events are left.",
    )


def _jsd(found: Judgement, names: list[str], labelled: bool) -> Picture | None:
    figure, (axes,) = _figure(6.5)
    drawn = False
    for judged, name in zip(found.scores, names, strict=True):
        known = [p for p in judged.points if p.inverse_jsd and p.inverse_jsd_ceiling and p.rejection]
        if not known:
            _skip_colour(axes)
            continue
        first, drawn = not drawn, True
        rejection = [p.rejection for p in known]
        joined = [-p.wanted for p in known]
        plots.rejection_against_jsd(
            axes, [1 / p.inverse_jsd for p in known if p.inverse_jsd], rejection, scan=joined, label=name
        )
        colour = axes.lines[-1].get_color()
        ceiling = [1 / p.inverse_jsd_ceiling for p in known if p.inverse_jsd_ceiling]
        plots.rejection_against_jsd(
            axes,
            ceiling,
            rejection,
            scan=joined,
            color=colour,
            ls=":",
            mfc="white",
            label="mass-blind" if first else None,
        )
    axes.set_yscale("log")
    if not drawn:
        return None
    return _picture(
        figure,
        axes,
        True,
        "1/JSD beside its ceiling",
        "Rejection against 1/JSD of the mass of background that is selected and that is not, at each working point. "
        "Dotted, with hollow points: what a selection of as many events has that does not look at the mass.",
    )


def _closure(found: Judgement, names: list[str]) -> Picture | None:
    if all(judged.closure is None for judged in found.scores):
        return None
    figure, (axes,) = _figure(6.5)
    for judged, name in zip(found.scores, names, strict=True):
        if judged.closure is None:
            _skip_colour(axes)
        else:
            plots.closure(axes, judged.closure, label=name)
    return _picture(
        figure,
        axes,
        len(names) > 1,
        "Closure of the ABCD method",
        "Background that B C / D predicts for A, over what is there, where both cuts keep as much. Bars are "
        "statistical errors, of all four regions.",
    )


def _spurious(found: Judgement, place: int, names: list[str], mass: str, labelled: bool) -> Picture | None:
    figure, (axes, ratio) = _figure(8.5, rows=2)
    axes.set(xlabel=" ", ylabel="spurious signal [events]")
    ratio.set(xlabel=f"signal mass: {mass}")
    for own in (axes, ratio):
        own.axhline(0, color="black", lw=1)
        if found.fit is not None and found.fit.plan.quoted is not None:
            own.axvline(found.fit.plan.quoted, color="black", lw=1, ls=":")
    drawn = False
    for judged, name in zip(found.scores, names, strict=True):
        scan = judged.points[place].spurious
        if scan is None:
            _skip_colour(axes)
            continue
        drawn = True
        plots.spurious_scan(axes, scan, ratio=ratio, label=name)
    if not drawn:
        return None
    axes.set_xlabel("")
    return _picture(
        figure,
        axes,
        len(names) > 1,
        f"Spurious signal, at {_point(found.scores[0].points[place].wanted, labelled)}",
        "Above: the signal that a fit finds in selected background, where there is none, with its standard error. "
        "Below: signal over error.",
    )
