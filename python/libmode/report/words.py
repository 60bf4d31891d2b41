"""Numbers and checks as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..metrics import Check
from ..metrics._result import HEAD, cells
from .judge import Judged

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
VERDICTS = {True: "flat", False: "not flat", None: "not known"}


def short(value: float | None, digits: int = 3) -> str:
    """Three digits, and all of a whole number: 0.612, 28.0, 1234, 1.20×10⁻⁷; a dash for an unknown number."""
    if value is None or value != value:
        return "–"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}×10{str(int(exponent)).translate(RAISED)}"
    if size >= 10 ** (digits - 1):
        return f"{value:.0f}"
    return f"{value:#.{digits}g}".rstrip(".")  # 99.96 is 100, not 100.


class Table(NamedTuple):
    """Text in rows, for the page and the terminal."""

    caption: str
    columns: list[str]
    rows: list[list[str]]


def cuts(check: Check) -> Table:
    """A row for each working point: the table of the check, with its verdict and more on the working point."""
    rows = []
    for cut in check.cuts:
        rejection = 1 / cut.background_efficiency if cut.background_efficiency > 0 else None
        wanted, *rest = cells(cut)
        rows.append([wanted, VERDICTS[cut.flat], short(cut.threshold, 4), short(rejection), *rest])
    return Table(
        "In brackets the residual from statistics alone. Would show: the height of a bump of 3 standard deviations, "
        "over the background under it",
        [HEAD[0], "verdict", "threshold", "rejection", *HEAD[1:]],
        rows,
    )


def closures(second: str, scores: list[Judged]) -> Table:
    """The ABCD method with the second score."""
    labeled = scores[0].auc is not None
    return Table(
        f"Closure of the ABCD method with {second}: background in A where both cuts have the same efficiency; last, "
        "the pair of cuts where the closure is worst",
        ["score", "threshold", "second threshold", "seen", "predicted", "predicted / seen", "significance",
         *["signal / background in A, B, C, D"] * labeled],
        [row for one in scores if one.closure for row in _closure(one.score, one.closure, labeled)],
    )  # fmt: skip


def _closure(name: str, closure: dict[str, Any], labeled: bool) -> Iterator[list[str]]:
    """For each fraction a row with equal fractions of both cuts, and one for the worst pair of cuts."""
    columns = ("seen", "predicted", "ratio", "error", "significance")
    cuts = [
        {"threshold": closure["threshold"][k], "second_threshold": closure["second_threshold"][k]}
        | {column: closure[column][k][k] for column in columns}
        for k in range(len(closure["fractions"]))
    ]
    for k, cut in enumerate([*cuts, closure["worst"]]):
        signal = closure["contamination"] if k < len(cuts) else None
        yield [
            name,
            *(short(cut[column], 4) for column in ("threshold", "second_threshold")),
            *(short(cut.get(column)) for column in ("seen", "predicted")),
            f"{short(cut['ratio'])} ± {short(cut['error'])}",
            f"{cut['significance']:.1f} σ",
            *[", ".join(short(region[k][k]) for region in signal) if signal is not None else "–"] * labeled,
        ]


def lines(table: Table) -> Iterator[str]:
    """A table on the terminal."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    yield table.caption
    for first, *rest in (table.columns, *table.rows):
        aligned = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *aligned])
