"""Writes the tables of docs/numerics.md: measures what test_numerics.py checks. With --check it only compares.

Compared are the bounds, and the figures of many events with those of bench/results/many_events.json; what the test
measures, the test compares with the page.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import numerics  # noqa: E402

PAGE = Path(__file__).parent / "numerics.md"
MANY = ROOT / "bench" / "results" / "many_events.json"
BEGIN, END = "<!-- numerics, written by docs/write_numerics.py -->\n", "<!-- end of numerics -->"
HEAD = ["| events | loss: observed | C | gradient: observed | C' |", "|---|---|---|---|---|"]
OBSERVED = re.compile(r"^\| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)


def shown(value: float) -> str:
    """Two digits."""
    return f"{float(f'{max(value, 0):.2g}'):,.10g}"


def row(name: str, found: numerics.Errors) -> str:
    """A row of the first table."""
    bounds = numerics.ROWS[name]
    return f"| {name} | {shown(found.loss)} | {bounds.of_loss:,} | {shown(found.gradient)} | {bounds.of_gradient:,} |"


def observed(page: str) -> dict[str, numerics.Errors]:
    """What the page says was observed, by row."""
    rows = OBSERVED.findall(page)
    numbers = {name: [cell.replace(",", "") for cell in cells] for name, *cells in rows}
    return {name: numerics.Errors(float(numbers[name][0]), float(numbers[name][2])) for name in numerics.ROWS}


def tables(found: dict[str, numerics.Errors]) -> str:
    """Both tables."""
    many = [
        f"| {own['events']:,}, {own['kind']} | {shown(own['loss'])} | {shown(own['gradient'])} |"
        for own in json.loads(MANY.read_text())
    ]
    rows = [row(name, errors) for name, errors in found.items()]
    head = ["| events | loss: observed | gradient: observed |", "|---|---|---|"]
    between = ["", "And once, by `python -m bench.many_events`, with the plain loss of order 1 in eight bins:", ""]
    return "\n".join([*HEAD, *rows, *between, *head, *many, ""])


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    check = "--check" in sys.argv
    found = observed(text) if check else {name: numerics.worst(name) for name in numerics.ROWS}
    written = before + BEGIN + tables(found) + END + rest.partition(END)[2]
    if not check:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        sys.exit("docs/numerics.md is not what tests/helpers/numerics.py says: run docs/write_numerics.py")
