"""The command line: options, progress and the status that the command ends with."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from .. import __version__
from .._messages import ORDER
from ..metrics._fit import FAMILIES
from . import words
from .events import Events, Wanted, read
from .figures import page, pictures
from .formats import find
from .judge import Judge, plain
from .problem import Problem
from .sample import look
from .spurious import TEMPLATE, Search

FAILED, SHAPES = 1, (*FAMILIES, TEMPLATE)
SIGNAL_POINTS, BACKGROUND_POINTS = (0.8, 0.5, 0.2), (0.5, 0.2, 0.05)


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """A list of numbers with commas, each between low and high."""

    name = "numbers"

    def __init__(self, low: float = -math.inf, high: float = math.inf) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> tuple[float, ...]:
        """The numbers of the text; the default is a tuple already."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of numbers such as 0.5,0.2.", param, context)
        for number in numbers:
            if not self._low < number < self._high:
                self.fail(f"{number:g} is not between {self._low:g} and {self._high:g}.", param, context)
        return numbers


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
@click.option("--second", metavar="EXPR", help="A second score: does the ABCD method close with each --score?")
@click.option("--cut", metavar="EXPR", help="Only events where this is true.")
@click.option(
    "--order", type=click.IntRange(0, 16), help="Needed: 0 allows no dependence on mass, 1 a line, and so on."
)
@click.option("--working-points", type=Numbers(0, 1), metavar="E,E,...", help="Efficiencies of the signal.")
@click.option("--signal-mass", type=float, metavar="M", help="Quote the spurious signal at this mass.")
@click.option("--signal-masses", type=Numbers(), default=(), metavar="M,M,...", help="Scan these masses.")
@click.option("--signal-width", type=Numbers(0), default=(), metavar="W[,W,...]", help="One, or one for each mass.")
@click.option(
    "--background",
    type=click.Choice(SHAPES),
    default=SHAPES[0],
    help="The shape that is fitted; dijet: masses in GeV; template: the spectrum before the selection.",
)
@click.option("--out", type=Path, default="report", metavar="DIR", help="Where report.html and report.json go.")
@click.option("--max-dependence", type=click.FloatRange(0, 1), metavar="P", help="Fail if a p-value is below P.")
@click.pass_context
def report(context: click.Context, /, out: Path, **options: Any) -> None:
    """Write a page on whether scores sculpt the mass of background, from ROOT, Parquet, HDF5 or CSV files.

    FILE may be a pattern such as 'mc*.root', in quotes. TREE is a tree, or a group or data set of HDF5; it may be
    left out where there is one. EXPR is an expression over columns as in uproot, such as 'log(pt) - 0.5*eta**2'.

    By default, working points have a signal efficiency of 0.8, 0.5 and 0.2 or, without --label, a background
    efficiency of 0.5, 0.2 and 0.05. The signal is as wide as that of the label, or a twentieth of the range, and is
    tried at up to 50 masses.

    The status is 0, or 1 where --max-dependence fails, or 2 for bad use.
    """
    most = options["max_dependence"]
    try:
        out.mkdir(parents=True, exist_ok=True)
        numbers = _report(out, **options)
    except (ValueError, OSError) as error:
        raise Problem(f"{error}") from error
    _show(numbers, out)
    for warning in numbers["warnings"]:
        click.echo(f"Warning: {warning}", err=True)
    if most is not None and numbers["passed"] is None:
        why = next(test["unknown"]["dependence"] for *_, test in _tests(numbers) if test["dependence"] is None)
        raise Problem(f"--max-dependence: a p-value is missing: {why}.")
    if most is not None and numbers["passed"] is False:
        for score, at, test in _tests(numbers):
            if test["dependence"] is not None and test["dependence"]["p_value"] < most:
                p = words.p_value(test["dependence"]["p_value"])
                said = f"a p-value of dependence is below --max-dependence {most:g}: {p}, of {score} at {at}"
                click.echo(said, err=True)
        context.exit(FAILED)


def _report(
    out: Path,
    files: tuple[str, ...],
    order: int | None,
    working_points: tuple[float, ...] | None,
    signal_mass: float | None,
    signal_masses: tuple[float, ...],
    signal_width: tuple[float, ...],
    background: str,
    max_dependence: float | None,
    **expressions: Any,
) -> dict[str, Any]:
    """Writes both files, and returns the contents of report.json."""
    if order is None:
        raise Problem(f"--{ORDER}.")
    if len(signal_width) > 1 and len(signal_width) != len(signal_masses):
        raise Problem(f"--signal-width has {len(signal_width)} numbers, and --signal-masses {len(signal_masses)}.")
    if signal_mass is not None and signal_masses and signal_mass not in signal_masses:
        raise Problem(f"--signal-mass {signal_mass:g} is none of --signal-masses.")
    wanted = Wanted(**expressions)
    sources = list(dict.fromkeys(source for argument in files for source in find(argument)))
    size = sum(source.path.stat().st_size for source in sources) or 1
    bar = partial(click.progressbar, file=sys.stderr)

    def events(description: str) -> Iterator[tuple[int, Events]]:
        with bar(length=size, label=description) as progress:
            yield from read(sources, wanted, lambda step: progress.update(math.ceil(step)))

    sample = look(events("reading"), wanted.label is not None)
    # Of more events than fit into memory, histograms are filled in a second pass.
    chunks = [sample.background, sample.signal] if sample.complete else (part for _, part in events("histograms"))
    points = working_points or (SIGNAL_POINTS if wanted.label is not None else BACKGROUND_POINTS)
    judge = Judge(wanted, sample, order, points, Search(signal_mass, signal_masses, signal_width, background))
    histograms = judge.histograms(chunks)
    with bar(judge.scores(histograms), length=len(wanted.scores), label="scores") as judged:
        results = judge.numbers([*judged])
    results |= {"libmode": __version__, "files": list(map(str, sources)), "max_dependence": max_dependence}
    numbers: dict[str, Any] = plain(results)
    numbers["passed"] = _passed(numbers)
    (out / "report.json").write_text(json.dumps(numbers, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (out / "report.html").write_text(page(numbers, pictures(results)), encoding="utf-8")
    return numbers


def _tests(numbers: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The score, the cut and the numbers of each test of dependence: of all cuts, and of each working point."""
    for score in numbers["scores"]:
        yield score["score"], "all cuts", score
        for point in score["working_points"]:
            yield score["score"], words.efficiency(point["wanted"]), point


def _passed(numbers: dict[str, Any]) -> bool | None:
    """Whether no test has a p-value below the limit; None without one, or where a p-value is not known."""
    limit, known = numbers["max_dependence"], [test["dependence"] for *_, test in _tests(numbers)]
    if limit is None:
        return None
    if any(test is not None and test["p_value"] < limit for test in known):
        return False
    return None if None in known else True


def _show(numbers: dict[str, Any], out: Path) -> None:
    """The verdicts and tables of the page, on the terminal."""
    for score in numbers["scores"]:
        click.echo(f"{score['score']}: {score['check']['why']}")
    click.echo()
    for table in words.tables(numbers):
        widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
        click.echo(table.caption)
        for first, *cells in (table.columns, *table.rows):
            aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
            click.echo("  ".join([first.ljust(widths[0]), *aligned]))
        click.echo()
    for where, name, why in words.unknown(numbers):
        click.echo(f"not known: {where + ', ' if where else ''}{name}: {why}")
    click.echo(out / "report.html")
