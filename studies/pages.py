"""Writes tables of results between marks in pages of docs/."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[1] / "docs"


def marks(name: str) -> tuple[str, str]:
    """The marks before and after the table of this name."""
    return f"<!-- {name}, written by a program -->\n", f"<!-- end of {name} -->\n"


def write(tables: Mapping[str, str], rest: Path) -> None:
    """Puts each table between its marks in a page of docs/. Tables without marks go into the file ``rest``."""
    others = ["# Further tables of this study, written by a program\n"]
    for name, table in tables.items():
        begin, end = marks(name)
        page = page_of(name)
        if page is None:
            others.append(f"{begin}{table}{end}")
            continue
        before, _, after = page.read_text().partition(begin)
        _, found, after = after.partition(end)
        if not found:
            raise ValueError(f"{page} has no end of {name}")
        page.write_text(before + begin + table + end + after)
    rest.write_text("\n".join(others))


def page_of(name: str) -> Path | None:
    """The page of docs/ with the marks of this table."""
    begin, _ = marks(name)
    found = [page for page in sorted(DOCS.glob("*.md")) if begin in page.read_text()]
    if len(found) > 1:
        raise ValueError(f"{found[0]} and {found[1]} both have marks for {name}")
    return found[0] if found else None


def shown(name: str, rest: Path) -> str:
    """The table of this name, from its page or else from the file ``rest``."""
    begin, end = marks(name)
    return (page_of(name) or rest).read_text().partition(begin)[2].partition(end)[0]


def table(rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown, whose first row is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * (lines[0].count(" | ") + 1))
    return "\n".join(lines) + "\n"


def over_seeds(values: Iterable[float], digits: int) -> str:
    """Mean and standard deviation, as text."""
    found = np.array(list(values))
    spread = f" ± {found.std(ddof=1):.{digits}f}" if len(found) > 1 else ""
    return f"{found.mean():.{digits}f}{spread}"


def biases(values: Iterable[float | None], digits: int = 1) -> str:
    """The mean over seeds of fitted signals over their errors, with its error.

    Each fit has an error of 1. The error of the mean comes from these errors or from the spread, whichever is larger.
    "-" if a seed has no fit.
    """
    given = list(values)
    found = np.array([value for value in given if value is not None])
    if len(found) < len(given):
        return "-"
    spread = found.std(ddof=1) if len(found) > 1 else 0.0
    mean = round(float(found.mean()), digits) + 0.0  # not -0.0
    return f"{mean:.{digits}f} ± {max(1.0, spread) / len(found) ** 0.5:.{digits}f}"
