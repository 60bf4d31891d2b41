"""The command line: options, progress and the status that the command ends with."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..metrics._sample import POINTS
from .events import Wanted, read_all
from .formats import Problem, find
from .judge import Judged, judge, page, plain

FAILED, BROKEN = 1, 2
USUAL = {"signal_efficiency": [0.8, 0.5, 0.2], "background_efficiency": [0.5, 0.2, 0.05]}


def numbers(text: str) -> list[float]:
    """A list of numbers with commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text!r} is no list of numbers such as 0.5,0.2.") from None


def run() -> int:
    """Runs the command, and returns its status: 1 says "not flat" and nothing else."""
    try:
        return int(main(prog_name="libmode", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
    except (click.Abort, SystemExit, Exception):  # SystemExit by click, where the reader of the output has ended
        traceback.print_exc()
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
@click.option("--order", type=click.IntRange(0, 16), required=True, help="0 allows no dependence on mass.")
@click.option("--signal-efficiency", type=numbers, metavar="E[,E...]", help="Of the cuts; 0.8,0.5,0.2 by default.")
@click.option("--background-efficiency", type=numbers, metavar="E[,E...]", help="In place of the signal efficiency.")
@click.option("--threshold", type=numbers, metavar="T[,T...]", help="Of the cuts, in place of an efficiency.")
@click.option("--mass-label", metavar="TEXT", help="Of the axes, with the unit: 'm [GeV]'.")
@click.option("--signal-mass", "--signal-masses", type=numbers, metavar="M[,M...]", help="Of the spurious signal.")
@click.option("--signal-width", type=numbers, metavar="W[,W...]", help="One, or one for each mass.")
@click.option("--bins", type=numbers, metavar="N", help="Of the mass, 20 by default; or the edges, as 50,80,120.")
@click.option("--max-slope", type=float, metavar="S", help="The slope of the allowed line is at most this.")
@click.option("--monotonic", is_flag=True, help="The allowed polynomial is monotonic; from order 2 on.")
@click.option("--training-events", type=float, metavar="T", help="The background events of the training.")
@click.option("--out", type=Path, default="report", metavar="DIR", help="Where report.html and report.json go.")
@click.option(
    "--max-dependence", type=click.FloatRange(0, 1), metavar="P", help="Fail unless every p-value is at least P."
)
@click.pass_context
def report(context: click.Context, /, out: Path, **options: Any) -> None:
    """Write a page on whether scores sculpt the mass of background, from ROOT, Parquet, HDF5 or CSV files.

    FILE may be a pattern such as 'mc*.root', in quotes. TREE is a tree, or a group or data set of HDF5; it may be
    left out where there is one. EXPR is a column, or an expression as for pandas, such as 'log(pt) - 0.5*eta**2'.

    By default, cuts have a signal efficiency of 0.8, 0.5 and 0.2 or, without --label, a background efficiency of 0.5,
    0.2 and 0.05. The signal has the mass and the width of that of the label. A wide signal, or none, means a scan.

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
    if contents["passed"] is False:
        click.echo(f"Failed: not every p-value is at least {contents['max_dependence']:g}", err=True)
        context.exit(FAILED)


def _report(
    out: Path, files: tuple[str, ...], mass_label: str | None, max_dependence: float | None, bins: Any, **options: Any
) -> tuple[dict[str, Any], list[Judged]]:
    """Writes both files, and returns the contents of report.json, and the checks."""
    wanted = Wanted(**{name: options.pop(name) for name in Wanted._fields})
    settings = {name: value for name, value in options.items() if value is not None}
    if bins is not None:
        settings["bins"] = bins if len(bins) > 1 else bins[0] if bins[0] % 1 else int(bins[0])
    if not settings.keys() & {*POINTS}:
        usual = POINTS[wanted.label is None]
        settings[usual] = USUAL[usual]
    sources = list(dict.fromkeys(source for argument in files for source in find(argument)))
    bar: Any = click.progressbar(sources, label="reading", file=sys.stderr)
    with bar as progress:
        entries, events = read_all(progress, wanted)
    scores, signal = list(judge(wanted, events, settings)), int(events.label.sum())
    # A p-value that is not known fails.
    passed = None if max_dependence is None else all(one.check.p_value >= max_dependence for one in scores)
    contents: dict[str, Any] = plain({
        **wanted._asdict(), "order": settings["order"], "entries": entries, "background": len(events.mass) - signal,
        "signal": signal if wanted.label else None, "scores": [one._asdict() for one in scores],
        "warnings": list(dict.fromkeys(f"{one.score}: {text}" for one in scores for text in one.warnings)),
        "libmode": __version__, "files": list(map(str, sources)), "max_dependence": max_dependence, "passed": passed,
    })  # fmt: skip
    (out / "report.json").write_text(json.dumps(contents, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (out / "report.html").write_text(page(contents, scores, mass_label), encoding="utf-8")
    return contents, scores
