"""All numbers of a report, and its page, one HTML file that loads nothing, with figures as SVG."""

from __future__ import annotations

import base64
import io
import math
import warnings
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
from jinja2 import Environment, StrictUndefined
from matplotlib.figure import Figure

from .. import metrics, plots
from ..metrics import Check
from ..metrics._result import HEAD, cells, shown
from ..metrics.roc import Roc, area
from .events import Events, Wanted

ROC_POINTS = 500  # evenly spaced among all, and the same number towards the highest scores


class Judged(NamedTuple):
    """A score with its results."""

    score: str
    check: Check
    auc: float | None  #: None without a label
    roc: Roc | None
    warnings: list[str]  #: of libmode.metrics


def judge(wanted: Wanted, events: Events, settings: dict[str, Any]) -> Iterator[Judged]:
    """The results for each score; ``settings`` are arguments of :func:`metrics.check`."""
    label = None if wanted.label is None else events.label
    for name, score in zip(wanted.scores, events.scores.T, strict=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            points = None if label is None else metrics.roc(score, label, weight=events.weight)
            check = metrics.check(score, label, events.mass, weight=events.weight, **settings)
        said = [str(one.message).replace("give mass_range", "take the others by --cut") for one in caught]
        auc, thinned = (area(points), _thinned(points)) if points else (None, None)
        yield Judged(name, check, auc, thinned, list(dict.fromkeys(said)))


def _thinned(curve: Roc) -> Roc:
    """At most 1000 points of a curve, the first and the last among them, denser towards the highest scores."""
    last = len(curve.threshold) - 1
    places = np.r_[np.linspace(0, last, ROC_POINTS), np.geomspace(1, last + 1, ROC_POINTS) - 1]
    which = np.unique(np.rint(places).astype(int))
    return Roc(*(getattr(curve, name)[which] for name in ("signal_efficiency", "false_positive_rate", "threshold")))


def plain(value: Any) -> Any:
    """Dictionaries, dataclasses and arrays as values of JSON, with None for numbers that are not finite."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


TEMPLATE = Path(__file__).with_name("page.html")
LONGEST = 44  # characters of an expression in a figure
VERDICTS = {True: "flat", False: "not flat", None: "not known"}


def of_check(one: Judged, mass_label: str) -> str:
    """The picture of a check as a data address for a page; "" for a check without a picture."""
    if not any(cut.efficiency and cut.scan is not None for cut in one.check.cuts):
        return ""
    figure = one.check.plot(mass_label=mass_label)
    figure.suptitle("")  # the page says it
    return _svg(figure)


def of_rejection(scores: list[Judged], background: int) -> str:
    """The ROC curves."""
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.subplots()
    for one in scores:
        plots.roc(axes, one.roc, label=_plain(one.score))
    line = np.linspace(0.005, 1, 200)
    axes.plot(line, 1 / line, color="0.6", ls=":", label="a random choice")
    # Above this, fewer than ten background events are left.
    axes.set(xlim=(0, 1), ylim=(1, max(10.0, background / 10)))
    axes.legend(fontsize="small")
    return _svg(figure)


def _plain(text: str) -> str:
    """Text that matplotlib draws as it is: no formula between dollars, no name that a legend leaves out."""
    shown = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    shown = shown.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _svg(figure: Figure) -> str:
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"


@matplotlib.style.context("default")  # no style of the user's, such as text.usetex, which may lack LaTeX
def page(numbers: dict[str, Any], scores: list[Judged], mass_label: str | None) -> str:
    """The HTML of a report. Names of files and expressions are escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"count": "{:,}".format, "verdict": VERDICTS.get, "cuts": cuts, "p": shown, "notes": notes}
    label = _plain(numbers["mass"]) if mass_label is None else mass_label
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        report=numbers,
        head=[HEAD[0], "verdict", "threshold", "rejection", *HEAD[1:]],
        scores=[(one, of_check(one, label)) for one in scores],
        rejection=of_rejection(scores, numbers["background"]) if numbers["label"] is not None else "",
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    )


def cuts(check: Check) -> list[list[str]]:
    """A row for each working point: the table of the check, with its verdict and more on the working point."""
    rows = []
    for cut in check.cuts:
        wanted, *rest = cells(cut)
        rejection = f"{1 / cut.background_efficiency:.4g}" if cut.background_efficiency > 0 else "-"
        rows.append([wanted, VERDICTS[cut.flat], f"{cut.threshold:.4g}", rejection, *rest])
    return rows


def notes(check: Check) -> list[str]:
    """What the text of a check says below its table."""
    return str(check).splitlines()[2 + len(check.cuts) :]
