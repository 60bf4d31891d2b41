"""Tables of results inside pages of docs/, between marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parents[1] / "docs"


def marks(name: str) -> tuple[str, str]:
    """The lines between which the table of this name stands."""
    return f"<!-- {name}, written by a program -->\n", f"<!-- end of {name} -->\n"


def write(page: Path, tables: Mapping[str, str]) -> None:
    """Puts each table between its marks, in place of what is there."""
    text = page.read_text()
    for name, table in tables.items():
        begin, end = marks(name)
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{page} has no marks for {name}")
        text = before + begin + table + end + after
    page.write_text(text)


def table(rows: Iterable[Iterable[str]]) -> str:
    """Markdown; the first row is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * (lines[0].count(" | ") + 1))
    return "\n".join(lines) + "\n"


def over_seeds(values: Iterable[float], digits: int) -> str:
    """Mean and standard deviation."""
    found = np.array(list(values))
    spread = f" ± {found.std(ddof=1):.{digits}f}" if len(found) > 1 else ""
    return f"{found.mean():.{digits}f}{spread}"


def biases(values: Iterable[float | None], digits: int = 1) -> str:
    """Fitted signals over their errors, one of each seed: the mean, and its error, from theirs, 1, or their spread.

    The larger of the two; "-" where a seed has no fit.
    """
    given = list(values)
    found = np.array([value for value in given if value is not None])
    if len(found) < len(given):
        return "-"
    spread = found.std(ddof=1) if len(found) > 1 else 0.0
    mean = round(float(found.mean()), digits) + 0.0  # not -0.0
    return f"{mean:.{digits}f} ± {max(1.0, spread) / len(found) ** 0.5:.{digits}f}"
