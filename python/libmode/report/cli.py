"""The command line: options, progress and the status that the command ends with."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from .. import __version__
from .._messages import ORDER
from ..metrics._result import shown
from .events import Wanted, read
from .figures import page
from .formats import find
from .judge import Judged, judge, numbers
from .problem import Problem
from .sample import look

FAILED, BROKEN, INTERRUPTED = 1, 2, 130
KINDS = {"signal": "signal_efficiency", "background": "background_efficiency", "threshold": "threshold"}
USUAL = {"signal": [0.8, 0.5, 0.2], "background": [0.5, 0.2, 0.05]}


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """A list of numbers with commas."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> list[float]:
        """The numbers of the text."""
        try:
            return [float(part) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is no list of numbers such as 0.5,0.2.", param, context)


class WorkingPoints(Numbers):
    """Numbers, behind what they are; without it None."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        """What the numbers are, or "", and the numbers."""
        kind, colon, numbers = value.rpartition(":")
        if colon and kind not in KINDS:
            self.fail(f"{kind!r} is none of {', '.join(KINDS)}.", param, context)
        return kind, super().convert(numbers, param, context)


def run() -> int:
    """Runs the command, and returns its status: 1 says "not flat" and nothing else."""
    try:
        status = int(main(prog_name="libmode", standalone_mode=False) or 0)
        sys.stdout.flush()
        return status
    except click.ClickException as error:
        error.show()
    except click.Abort:
        return INTERRUPTED
    except SystemExit:  # by click, where the program that reads the output has ended
        pass
    except Exception as error:
        traceback.print_exc()
        if isinstance(error, OSError):  # Python writes the rest at its end, and would fail with another status
            with suppress(Exception):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def main() -> None:
    """The MoDe loss, and whether a classifier sculpts the mass of its background."""


@main.command(name="report")
@click.argument("files", nargs=-1, required=True, metavar="FILE[:TREE]...")
@click.option("--score", "scores", multiple=True, required=True, metavar="EXPR", help="Repeat it to compare several.")
@click.option("--mass", required=True, metavar="EXPR", help="What the score should not give away.")
@click.option("--weight", metavar="EXPR", help="Of either sign; 1 by default.")
@click.option("--label", metavar="EXPR", help="1 for signal, 0 for background; without it all events are background.")
@click.option("--cut", metavar="EXPR", help="Only events where this is true.")
@click.option(
    "--order", type=click.IntRange(0, 16), help="Needed: 0 allows no dependence on mass, 1 a line, and so on."
)
@click.option("--working-points", type=WorkingPoints(), metavar="[KIND:]E,E,...", help="Such as background:0.01.")
@click.option("--mass-label", metavar="TEXT", help="Of the axes, with the unit: 'm [GeV]'.")
@click.option("--signal-mass", "--signal-masses", type=Numbers(), metavar="M[,M...]", help="Of the spurious signal.")
@click.option("--signal-width", type=Numbers(), metavar="W[,W...]", help="One, or one for each mass.")
@click.option("--bins", type=Numbers(), metavar="N", help="Of the mass, 20 by default; or the edges, as 50,80,120.")
@click.option("--max-slope", type=float, metavar="S", help="The slope of the allowed line is at most this.")
@click.option("--monotonic", is_flag=True, help="The allowed polynomial is monotonic; from order 2 on.")
@click.option("--training-events", type=float, metavar="T", help="The background events of the training.")
@click.option("--out", type=Path, default="report", metavar="DIR", help="Where report.html and report.json go.")
@click.option("--max-dependence", type=click.FloatRange(0, 1), metavar="P", help="Fail if a p-value is below P.")
@click.pass_context
def report(context: click.Context, /, out: Path, **options: Any) -> None:
    """Write a page on whether scores sculpt the mass of background, from ROOT, Parquet, HDF5 or CSV files.

    FILE may be a pattern such as 'mc*.root', in quotes. TREE is a tree, or a group or data set of HDF5; it may be
    left out where there is one. EXPR is a column, or an expression as for pandas, such as 'log(pt) - 0.5*eta**2'.

    By default, working points have a signal efficiency of 0.8, 0.5 and 0.2 or, without --label, a background
    efficiency of 0.5, 0.2 and 0.05; background:0.01,0.001 asks for others. The signal has the mass and the width of
    that of the label. A wide signal, or none, means a scan.

    The status is 0, or 1 where --max-dependence fails, or 2 for errors.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        contents, scores = _report(out, **options)
    except (ValueError, TypeError, OSError) as error:
        raise Problem(f"{error}") from error
    for one in scores:
        click.echo(f"{one.score}: {one.check}\n")
    click.echo(out / "report.html")
    for warning in contents["warnings"]:
        click.echo(f"Warning: {warning}", err=True)
    if contents["max_dependence"] is None:
        return
    for one in scores:
        if one.check.p_value < contents["max_dependence"]:
            p = shown(one.check.p_value)
            click.echo(f"{one.score} has p {p}, below --max-dependence {contents['max_dependence']:g}", err=True)
    if contents["passed"] is None:
        why = next(one.check.why for one in scores if one.check.p_value != one.check.p_value)
        raise Problem(f"--max-dependence: a p-value is missing: {why}.")
    if not contents["passed"]:
        context.exit(FAILED)


def _report(
    out: Path,
    files: tuple[str, ...],
    order: int | None,
    working_points: tuple[str | None, list[float]] | None,
    mass_label: str | None,
    max_dependence: float | None,
    bins: Any,
    signal_mass: list[float] | None,
    signal_width: list[float] | None,
    max_slope: float | None,
    monotonic: bool,
    training_events: float | None,
    **expressions: Any,
) -> tuple[dict[str, Any], list[Judged]]:
    """Writes both files, and returns the contents of report.json, and the checks."""
    if order is None:
        raise Problem(f"--{ORDER}.")
    wanted = Wanted(**expressions)
    kind, points = working_points or ("", None)
    kind = kind or ("background" if wanted.label is None else "signal")
    settings = {"order": order, KINDS[kind]: points or USUAL[kind], "monotonic": monotonic}
    if bins is not None and len(bins) == 1:
        if bins[0] % 1:
            raise Problem(f"--bins is {bins[0]:g}: expected a number of bins, or edges such as 50,80,120.")
        bins = int(bins[0])
    others = {
        "bins": bins, "signal_mass": signal_mass, "signal_width": signal_width, "max_slope": max_slope,
        "training_events": training_events,
    }  # fmt: skip
    settings |= {name: value for name, value in others.items() if value is not None}
    sources = list(dict.fromkeys(source for argument in files for source in find(argument)))
    bar: Any = partial(click.progressbar, file=sys.stderr)
    with bar(sources, label="reading") as progress:
        sample = look((read(source, wanted) for source in progress), wanted.label is not None)
    with bar(judge(wanted, sample, settings), length=len(wanted.scores), label="scores") as judged:
        scores = [*judged]
    contents = numbers(wanted, sample, settings, scores)
    contents |= {"libmode": __version__, "files": list(map(str, sources)), "max_dependence": max_dependence}
    p_values = [one.check.p_value for one in scores]
    contents["passed"] = None  # without a limit, or where a p-value is not known
    if max_dependence is not None:
        below = any(p < max_dependence for p in p_values)
        contents["passed"] = False if below else None if any(map(math.isnan, p_values)) else True
    (out / "report.json").write_text(json.dumps(contents, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (out / "report.html").write_text(page(contents, scores, mass_label), encoding="utf-8")
    return contents, scores
