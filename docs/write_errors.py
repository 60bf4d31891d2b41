"""Writes the tables of docs/errors.md from tests/helpers/error_cases.py. With --check it only compares."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import error_cases  # noqa: E402

PAGE = Path(__file__).parent / "errors.md"
SECTIONS = {
    "Options": error_cases.OPTIONS,
    "Events": error_cases.EVENTS,
    "Edges, moments and curvature": error_cases.LOOKING,
    "Options, in Python": error_cases.FRONT_OPTIONS,
    "Arrays, in Python": error_cases.FRONT_ARRAYS,
    "In C alone": error_cases.C_CASES,
}
BINDINGS = {"c": "C", "torch": "PyTorch", "jax": "JAX", "tensorflow": "TensorFlow", "keras": "Keras"}
BEGIN, END = "<!-- errors, written by docs/write_errors.py -->\n", "<!-- end of errors -->"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("{options}", "...")


def row(case: error_cases.Case) -> str:
    """A row of the table."""
    sentences = [case.sentence]
    for binding, sentence in case.elsewhere.items():
        if sentence:
            sentences.append(f"{BINDINGS[binding]}: {sentence}")
    call = "" if case.function == "mode_loss" else f"{case.function}: "
    kind = f"`{case.kind}`" if case.kind in error_cases.STATUS else case.kind
    return f"| {call}`{cell(case.input)}` | {kind} | {cell('<br>'.join(sentences))} |"


def tables() -> str:
    """A table for each section."""
    parts = []
    for title, cases in SECTIONS.items():
        parts += [f"## {title}\n", "| input | error | sentence |", "|---|---|---|", *map(row, cases), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    written = before + BEGIN + tables() + END + rest.partition(END)[2]
    if "--check" not in sys.argv:
        PAGE.write_text(written, encoding="utf-8")
    elif written != text:
        sys.exit("docs/errors.md is not what tests/helpers/error_cases.py says: run docs/write_errors.py")
