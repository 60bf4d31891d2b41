"""Numbers and checks as text for people."""

from __future__ import annotations

from typing import NamedTuple

from ..metrics import Check
from ..metrics._result import HEAD, cells

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
    """Text in rows."""

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
        "In brackets the residual from statistics alone",
        [HEAD[0], "verdict", "threshold", "rejection", *HEAD[1:]],
        rows,
    )


def notes(check: Check) -> list[str]:
    """What the text of a check says below its table."""
    return str(check).splitlines()[2 + len(check.cuts) :]
