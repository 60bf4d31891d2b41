"""Pages name nothing that the package lacks: keywords and classes in code spans, and names of C anywhere.

Blocks of code run in test_docs.py. Names come from the source, since no process can import all frameworks.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NODES = [node for path in (ROOT / "python" / "libmode").rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
DEFINED = {node.name for node in NODES if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
KEYWORDS = {node.arg for node in NODES if isinstance(node, ast.arg)}
KEYWORDS |= {node.target.id for node in NODES if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
OF_C = "".join(path.read_text() for path in [*(ROOT / "include").iterdir(), *(ROOT / "examples" / "root").iterdir()])
#: Keywords of other packages.
FOREIGN = {"boosting_type", "drop_last", "fullgraph", "max_depth", "subsample"}


def stale(text):
    """The names in a page's text that the package lacks."""
    macros = {path.stem for path in (ROOT / "examples" / "root").iterdir()}
    found = [name for name in re.findall(r"\b(?:mode_\w+|MODE_\w+|(?<=mode::)\w+)\b", text)
             if not re.search(rf"\b{name}\b", OF_C) and name not in DEFINED | macros]  # fmt: skip
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        found += [name for name in re.findall(r"\bMoDe\w+", span) if name not in DEFINED]
        of_ours = not re.search(r"\w\(", span) or re.search(r"\b(MoDe\w+|mode_\w+|metrics\.\w+|check)\(", span)
        found += [
            name
            for name in re.findall(r"(?<![\w.\"'-])([a-z]\w+)=(?!=)", span)
            if of_ours and name not in KEYWORDS | FOREIGN
        ]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_stale_name(page):
    assert stale(page.read_text()) == []


@pytest.mark.parametrize(
    "text", ["`MoDeLoss(lambd=3)`", "`MoDeTrainer`", "`reponse=0`", "mode_gradient_f32", "mode::pull"]
)
def test_a_stale_name_is_found(text):
    assert len(stale(text)) == 1
