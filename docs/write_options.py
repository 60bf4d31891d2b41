"""Writes the table of docs/options.md from the rows of libmode/option_types.py. With --check it only compares."""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "options.md"
ROWS = Path(__file__).parents[1] / "python" / "libmode" / "option_types.py"
BEGIN, END = "<!-- options, written by docs/write_options.py -->\n", "<!-- end of options -->"


def table() -> str:
    """A row for each option."""
    source = ROWS.read_text(encoding="utf-8").partition("class LayerOptions")[0]
    rows = re.findall(r'^    (\w+): .+\n    """((?:.|\n)+?)"""', source, re.MULTILINE)
    lines = [f"| `{name}` | {' '.join(sentences.split()).replace('``', '`')} |" for name, sentences in rows]
    return "\n".join(["| option | meaning |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    written = before + BEGIN + table() + END + rest.partition(END)[2]
    if "--check" not in sys.argv:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        sys.exit("docs/options.md is not what the rows of option_types.py say: run docs/write_options.py")
