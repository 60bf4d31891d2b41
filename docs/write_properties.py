"""Writes the list of docs/properties.md from the docstrings of the tests. With --check it only compares.

An entry is a docstring of a first sentence, a reason, and the options under which it holds, and perhaps those under
which it does not, each of which begins a line: "Reason:", "Holds:" and "Not:".
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path(__file__).parent / "properties.md"
SECTIONS = {
    "Events": ["core/test_properties_of_events.py"],
    "Responses and bounds": ["core/test_properties_of_responses.py"],
    "The gradient": ["core/test_properties_of_gradients.py"],
    "Batches": ["core/test_unbiased.py"],
    "Parts, processes, trees and maps": [
        "pytorch/test_gather.py",
        "trees/test_boosted_derivatives.py",
        "trees/test_dask.py",
        "posthoc/test_quantile_map.py",
    ],
}
BEGIN, END = "<!-- properties, written by docs/write_properties.py -->\n", "<!-- end of properties -->"
LABELS = "Reason:", "Holds:", "Not:"


def parts_of(doc: str) -> dict[str, str]:
    """The sentences of a docstring: the first by "", the others by their labels."""
    found, label = {"": ""}, ""
    for line in doc.splitlines():
        for name in LABELS:
            if line.strip().startswith(name):
                label, line = name, line.strip().removeprefix(name)
                found[label] = ""
        found[label] = f"{found[label]} {line.strip()}".strip()
    return found


def entry(parts: dict[str, str], path: str, test: str) -> str:
    """An item of the list."""
    reason = parts["Reason:"]
    lines = [f"- **{parts['']}** {reason[0].upper()}{reason[1:]}", f"  *Holds* {parts['Holds:']}"]
    if "Not:" in parts:
        lines.append(f"  *Not:* {parts['Not:']}")
    return "\n".join([*lines, f"  (`tests/{path}`: `{test.removeprefix('test_')}`)"])


def properties(path: str) -> list[str]:
    """The items of a file of tests."""
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    found = []
    for node in ast.walk(tree):
        doc = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        parts = parts_of(doc or "")
        if "Reason:" in parts and "Holds:" in parts:
            found.append(entry(parts, path, node.name))
    return found


def sections() -> str:
    """A list for each section."""
    lines = []
    for title, paths in SECTIONS.items():
        lines += [f"## {title}", "", *(item for path in paths for item in properties(path)), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    written = before + BEGIN + sections() + END + rest.partition(END)[2]
    if "--check" not in sys.argv:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        sys.exit("docs/properties.md is not what the docstrings of the tests say: run docs/write_properties.py")
