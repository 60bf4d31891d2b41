"""The page, one HTML file that loads nothing, and its figures, drawn by :mod:`libmode.plots`, as SVG."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib
import numpy as np
from jinja2 import Environment, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .. import plots
from . import words
from .words import efficiency

TEMPLATE = Path(__file__).with_name("page.html")

LONGEST = 44  # characters of an expression in a legend
Picture = tuple[str, str, bytes]  # title, caption and SVG


def pictures(numbers: dict[str, Any]) -> list[Picture]:
    """All figures of the numbers that :meth:`libmode.report.judge.Judge.numbers` returns."""
    with plots.style(), matplotlib.rc_context({"axes.labelpad": 8.0}):
        return list(_drawn(numbers))


def _drawn(numbers: dict[str, Any]) -> Iterator[Picture]:
    scores, kind = numbers["scores"], "background" if numbers["label"] is None else "signal"
    for points in zip(*(score["working_points"] for score in scores), strict=True):
        yield _by_mass(numbers, points, f"By mass, at {efficiency(points[0]['wanted'])} {kind} efficiency")
    if numbers["label"] is not None:
        yield _rejection(numbers)
    if any(score["closure"] for score in scores):
        yield _closure(numbers)
    for points in zip(*(score["working_points"] for score in scores), strict=True):
        if any(point["spurious_signal"] for point in points):
            yield _spurious(numbers, points, f"Spurious signal, at {efficiency(points[0]['wanted'])} {kind} efficiency")


def _plain(expression: str) -> str:
    """Text that matplotlib draws as it is: no formula between dollars, no name that a legend leaves out."""
    shown = expression if len(expression) <= LONGEST else expression[: LONGEST - 1] + "…"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _styles(numbers: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The label and the color of each score, the same in all figures."""
    return ({"label": _plain(score["score"]), "color": f"C{place}"} for place, score in enumerate(numbers["scores"]))


def _figure(rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(9.0, 4.5 + 2 * rows), layout="constrained")
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False, height_ratios=[2, 1][:rows])
    return figure, list(axes[:, 0])


def _picture(figure: Figure, title: str, caption: str) -> Picture:
    """The figure as SVG. If it has several labels, a legend stands above the axes, where it hides nothing."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if len(labels) > 1:
        columns = min(len(labels), max(1, 50 // (max(map(len, labels)) + 4)))
        figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize="small")
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    return title, caption, file.getvalue()


def _by_mass(numbers: dict[str, Any], points: tuple[Any, ...], title: str) -> Picture:
    """Efficiency above, residuals below."""
    figure, (above, below) = _figure(rows=2)
    above.set(xlabel=" ", ylabel="background efficiency", xlim=_shown(numbers["edges"]))
    below.set(xlabel=_plain(numbers["mass"]), ylabel="residual / mean")
    below.axhline(0, color="black", lw=1)
    for point, style in zip(points, _styles(numbers), strict=True):
        plots.efficiency(above, point["efficiency"], **style)
        if point["residual"] is not None:
            residual = point["residual"]
            plots.efficiency(below, (residual.edges, residual.value, residual.error), **style)
    above.set_xlabel("")
    above.set_ylim(bottom=0)
    order = numbers["order"]
    curve = {0: "the mean", 1: "the best straight line"}.get(order, f"the best polynomial of order {order}")
    return _picture(
        figure,
        title,
        f"Above: the background efficiency in bins of equal numbers of events. Below: its distance from {curve}, over "
        "the mean. Bands are statistical errors; wide bins at the ends are cut short.",
    )


def _shown(edges: NDArray[np.float64]) -> tuple[float, float]:
    """The range of the axis: bins of equal numbers of events are wide in the tails, which are cut short."""
    most = (edges[-2] - edges[1]) / 5 if len(edges) > 3 else np.inf
    return float(max(edges[0], edges[1] - most)), float(min(edges[-1], edges[-2] + most))


def _rejection(numbers: dict[str, Any]) -> Picture:
    figure, (axes,) = _figure()
    for score, style in zip(numbers["scores"], _styles(numbers), strict=True):
        plots.roc(axes, score["roc"], **style)
    line = np.linspace(0.005, 1, 200)
    axes.plot(line, 1 / line, color="0.6", ls=":", lw=1.5)
    # Above this, fewer than ten background events are left.
    axes.set(xlim=(0, 1), ylim=(1, max(10.0, numbers["background"] / 10)))
    return _picture(
        figure,
        "ROC: rejection against signal efficiency",
        "One over the background efficiency. Dotted: a random choice. The curve ends where ten background "
        "events are left.",
    )


def _closure(numbers: dict[str, Any]) -> Picture:
    figure, (axes,) = _figure()
    for score, style in zip(numbers["scores"], _styles(numbers), strict=True):
        if score["closure"]:
            plots.closure(axes, SimpleNamespace(**score["closure"]), **style)
    return _picture(
        figure,
        "Closure of the ABCD method",
        "Background that B C / D predicts for A, over what is there, where both cuts keep as much. Bars are "
        "statistical errors, of all four regions.",
    )


def _spurious(numbers: dict[str, Any], points: tuple[Any, ...], title: str) -> Picture:
    figure, (axes, ratio) = _figure(rows=2)
    axes.set(xlabel=" ", ylabel="spurious signal [events]")
    ratio.set(xlabel=f"{_plain(numbers['mass'])} of the signal")
    for panel in (axes, ratio):
        panel.axhline(0, color="black", lw=1)
        if numbers["fit"]["quoted"] is not None:
            panel.axvline(numbers["fit"]["quoted"], color="black", lw=1, ls=":")
    for point, style in zip(points, _styles(numbers), strict=True):
        if point["spurious_signal"]:
            scan = [point["spurious_signal"][name] for name in ("signal_mass", "signal", "error")]
            plots.spurious_scan(axes, scan, ratio=ratio, **style)
    axes.set_xlabel("")
    return _picture(
        figure,
        title,
        "Above: the signal that a fit finds in selected background, where there is none, with its standard error. "
        "Below: signal over error.",
    )


def page(numbers: dict[str, Any], pictures: Sequence[Picture]) -> str:
    """The HTML of the contents of report.json. Names of files and expressions are escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        name: getattr(words, name) for name in ("short", "percent", "efficiency", "signal_and_error")
    }
    environment.filters |= {"count": "{:,}".format}
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        report=numbers,
        labeled=numbers["label"] is not None,
        pictures=[(title, caption, base64.b64encode(svg).decode()) for title, caption, svg in pictures],
        reasons=list(words.unknown(numbers)),
        tables=list(words.tables(numbers)),
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    )
