"""The command line: options, progress and the status that the command ends with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from .. import __version__
from .contents import contents, passed
from .figures import pictures
from .judge import Judgement, judge
from .numbers import efficiency, p_value, percent, short
from .page import page
from .problem import Problem
from .read import Events, Wanted, read
from .sample import look
from .sources import find
from .spurious import Search

FAILED, BAD_USE = 1, 2
SIGNAL_POINTS, BACKGROUND_POINTS = "0.8,0.5,0.2", "0.5,0.2,0.05"
MOST_ORDER = 16  # of the loss


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def main() -> None:
    """The MoDe loss, and what a classifier does to the mass of its background."""


@main.command(name="report")
@click.argument("files", nargs=-1, required=True, metavar="FILE[:TREE]...")
@click.option("--score", "scores", multiple=True, required=True, metavar="EXPR", help="Repeat it to compare several.")
@click.option("--mass", required=True, metavar="EXPR", help="What the score should not give away.")
@click.option("--weight", metavar="EXPR", help="Of either sign; 1 by default.")
@click.option("--label", metavar="EXPR", help="1 for signal, 0 for background; without it all events are background.")
@click.option("--second", metavar="EXPR", help="A second score: does the ABCD method close with each --score?")
@click.option("--cut", metavar="EXPR", help="Only events where this is true.")
@click.option(
    "--order",
    type=click.IntRange(0, MOST_ORDER),
    default=0,
    show_default=True,
    help="The degree of the polynomial in mass that the efficiency of background may follow.",
)
@click.option(
    "--working-points",
    metavar="E,E,...",
    help=f"Efficiencies of the signal [default: {SIGNAL_POINTS}], or without --label of the background "
    f"[default: {BACKGROUND_POINTS}].",
)
@click.option("--signal-mass", type=float, metavar="M", help="Quote the spurious signal at this mass.")
@click.option("--signal-masses", metavar="M,M,...", help="Scan these masses [default: up to 50 over the range].")
@click.option(
    "--signal-width",
    metavar="W[,W,...]",
    help="The standard deviation of the signal in mass: one, or one for each of --signal-masses "
    "[default: that of the signal, or without --label a twentieth of the range].",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report"),
    show_default=True,
    metavar="DIR",
    help="Where report.html and report.json go.",
)
@click.option(
    "--max-dependence",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="End with status 1 if a p-value of dependence is below P.",
)
@click.pass_context
def report(
    context: click.Context,
    files: tuple[str, ...],
    scores: tuple[str, ...],
    mass: str,
    weight: str | None,
    label: str | None,
    second: str | None,
    cut: str | None,
    order: int,
    working_points: str | None,
    signal_mass: float | None,
    signal_masses: str | None,
    signal_width: str | None,
    out: Path,
    max_dependence: float | None,
) -> None:
    """Write a page on what scores do to the mass of background, from ROOT, Parquet, HDF5 or CSV files.

    FILE may be a pattern such as 'mc*.root', in quotes. TREE is a tree, or a group or data set of HDF5; it may be
    left out where there is one. EXPR is an expression over columns as in uproot, such as 'log(pt) - 0.5*eta**2'.

    The status is 0, or 1 where --max-dependence fails, or 2 for bad use.
    """
    try:
        search = _search(signal_mass, signal_masses, signal_width)
        wanted = Wanted(scores, mass, weight, label, cut, second)
        status = _report(files, wanted, order, working_points, search, out, max_dependence)
    except (Problem, ValueError, OSError) as problem:
        click.echo(f"Error: {problem}", err=True)
        status = BAD_USE
    context.exit(status)


def _report(
    files: tuple[str, ...],
    wanted: Wanted,
    order: int,
    working_points: str | None,
    search: Search,
    out: Path,
    max_dependence: float | None,
) -> int:
    for place, score in enumerate(wanted.scores):
        if score in wanted.scores[:place]:
            raise Problem(f"--score {score!r} is there twice.")
    if max_dependence is not None and math.isnan(max_dependence):
        raise Problem("--max-dependence is nan: expected a number from 0 to 1.")
    labelled = wanted.label is not None
    points = _efficiencies(working_points or (SIGNAL_POINTS if labelled else BACKGROUND_POINTS))
    sources = find(files)
    out.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    with _progress(console) as progress:
        size = sum(source.path.stat().st_size for source in sources) or 1

        def events(description: str) -> Iterator[Events]:
            task = progress.add_task(description, total=size)
            return read(sources, wanted, lambda step: progress.advance(task, step))

        sample = look(events("reading"))
        # Of more events than fit into memory, histograms are filled in a second pass.
        chunks: Iterable[Events] = sample.parts() if sample.complete else events("histograms")
        steps = len(wanted.scores) + 2
        task = progress.add_task("bins of mass", total=steps)
        found = judge(
            sample,
            chunks,
            order,
            points,
            lambda text: progress.update(task, advance=1, description=text),
            search,
        )
        progress.update(task, advance=1, description="figures")
        numbers = contents(sources, wanted, sample, found, order, max_dependence)
        drawn = pictures(found, list(wanted.scores), wanted.mass, order, labelled)
        (out / "report.json").write_text(json.dumps(numbers, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        (out / "report.html").write_text(page(numbers, drawn), encoding="utf-8")
    _show(numbers, out)
    if found.far_masses:
        click.echo(f"Warning: {found.far_masses}: leave out events whose mass is not known, by --cut", err=True)
    return _status(found, max_dependence)


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def _efficiencies(text: str) -> list[float]:
    """Raises Problem for what is no list of numbers above 0 and below 1, or has one twice."""
    found = _numbers("--working-points", text, "numbers above 0 and below 1, as in 0.5,0.2", 0, 1)
    _no_number_twice("--working-points", found)
    return found


def _search(mass: float | None, masses: str | None, width: str | None) -> Search:
    """Raises Problem for what is no list of numbers, and for numbers that do not go together."""
    if mass is not None and not math.isfinite(mass):
        raise Problem(f"--signal-mass is {mass}: expected a number.")
    scanned = [] if masses is None else _numbers("--signal-masses", masses, "numbers, as in 90,125,170")
    _no_number_twice("--signal-masses", scanned)
    widths = [] if width is None else _numbers("--signal-width", width, "numbers above 0, as in 8 or 6,8,11", 0)
    if len(widths) > 1 and len(widths) != len(scanned):
        raise Problem(f"--signal-width has {len(widths)} numbers, and --signal-masses {len(scanned)}.")
    if mass is not None and scanned and mass not in scanned:
        raise Problem(f"--signal-mass {mass:g} is none of --signal-masses {masses}.")
    return Search(mass, tuple(scanned), tuple(widths))


def _numbers(option: str, text: str, expected: str, low: float = -math.inf, high: float = math.inf) -> list[float]:
    """Of a list with commas, each between low and high."""
    found = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = math.nan
        if not low < value < high:
            raise Problem(f"{option} has {part.strip()!r}: expected {expected}.")
        found.append(value)
    return found


def _no_number_twice(option: str, found: list[float]) -> None:
    for place, value in enumerate(found):
        if value in found[:place]:
            raise Problem(f"{option} has {value:g} twice.")


def _show(numbers: dict[str, Any], out: Path) -> None:
    """The verdicts, on the terminal."""
    console = Console(highlight=False)
    table = Table(Column("score", overflow="fold"))
    for title in ("at", "rejection", "residual (chance)", "p-value", "dependence"):
        table.add_column(title, no_wrap=True)
    for score in numbers["scores"]:
        for place, point in enumerate(score["working_points"]):
            flat, test = point["flatness"], point["dependence"]
            table.add_row(
                "" if place else escape(score["score"]),
                efficiency(point["wanted"]),
                short(point["rejection"]),
                f"{percent(flat['rms'])} ({percent(flat['expected'])})" if flat else "–",
                p_value(test["p_value"]) if test else "–",
                point["level"],
            )
    console.print(table)
    console.print(escape(str(out / "report.html")), soft_wrap=True)


def _status(found: Judgement, max_dependence: float | None) -> int:
    if max_dependence is None:
        return 0
    fine = passed(found, max_dependence)
    if fine is None:
        why = next(test.unknown["dependence"] for test in found.tests() if test.dependence is None)
        raise Problem(f"--max-dependence: a p-value is not known: {why}.")
    if not fine:
        click.echo(f"a p-value of dependence is below --max-dependence {max_dependence:g}", err=True)
        return FAILED
    return 0
