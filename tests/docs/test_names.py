"""Pages name nothing that the package lacks: keywords, attributes and functions in code spans, and names of C anywhere.

Blocks of code run in test_docs.py. Names come from the source, since no process can import all frameworks.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TREES = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "python" / "libmode").rglob("*.py")]
NODES = [node for tree in TREES for node in ast.walk(tree)]
FUNCTIONS = [node for node in NODES if isinstance(node, ast.FunctionDef)]
CLASSES = [node for node in NODES if isinstance(node, ast.ClassDef)]
HEADERS = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "include").iterdir())

#: Keywords of other packages, by their callables, or alone.
FOREIGN = {
    "BinaryCrossentropy", "DataLoader", "EarlyStopping", "compile", "cross_validate", "fit", "max_depth", "subsample", "drop_last",
    "fullgraph", "boosting_type",
}  # fmt: skip


def arguments(function):
    every = function.args
    return {one.arg for one in (*every.posonlyargs, *every.args, *every.kwonlyargs)}


def fields(of_class):
    return {one.target.id for one in of_class.body if isinstance(one, ast.AnnAssign)}


OPTIONS = {name for one in CLASSES for name in fields(one)}
KEYWORDS = OPTIONS.union(*map(arguments, FUNCTIONS))
NAMES = {node.name for node in (*FUNCTIONS, *CLASSES)}
PUBLIC = set(re.findall(r"^   (\w+)$", (ROOT / "docs" / "reference.md").read_text(encoding="utf-8"), re.MULTILINE))
#: What a span may write after the name of a module, or after `constraint`.
ATTRIBUTES = {
    "metrics": PUBLIC,
    "plots": PUBLIC,
    "libmode": PUBLIC | {"__version__"} | {path.stem for path in (ROOT / "python" / "libmode").iterdir()},
    "constraint": {"eval", "state_dict", "skipped", "Direction", "Judge"}.union(
        *(
            {node.name for node in one.body if isinstance(node, ast.FunctionDef)}
            for one in CLASSES
            if one.name == "MoDeConstraint"
        )
    ),
}


def keywords_of(name):
    """What functions and classes of this name take, or None if the package has none."""
    makers = [node for node in FUNCTIONS if node.name == name]
    for one in CLASSES:
        if one.name == name:
            own = [node for node in one.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
            if not own:
                return KEYWORDS
            makers += own
    if not makers:
        return None
    return set().union(*map(arguments, makers), OPTIONS if any(maker.args.kwarg for maker in makers) else ())


def stale(text):
    """The names in a page's text that the package lacks."""
    found = [f"{name} of C" for name in re.findall(r"\b(?:mode_\w+|MODE_\w+)\b", text) if not exists(name)]
    found += [f"mode::{name}" for name in re.findall(r"\bmode::(\w+)", text) if not exists(name)]
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    for span in spans:
        found += [f"{one} in {span}" for one in re.findall(r"\bMoDe\w+", span) if one not in NAMES]
        for of, name in re.findall(rf"(?<![\w./])({'|'.join(ATTRIBUTES)})\.(\w+)", span):
            found += [f"{of}.{name}"] if name not in ATTRIBUTES[of] else []
        try:
            (tree,) = ast.parse(f"call({span})" if re.match(r"[a-z_]+=", span) else span).body
        except (SyntaxError, ValueError):
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            of = getattr(call.func, "id", getattr(call.func, "attr", ""))
            known = KEYWORDS if of == "call" else keywords_of(of)
            if of in FOREIGN or known is None:
                continue
            found += [f"{of}({one.arg}=)" for one in call.keywords if one.arg and one.arg not in known | FOREIGN]
    return found


def exists(name):
    """Whether the headers, the package or the macros have a name that begins with mode_."""
    macros = {path.stem for path in (ROOT / "examples" / "root").iterdir()}
    return bool(re.search(rf"\b{name}\b", HEADERS)) or name in NAMES | macros


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_no_stale_name(page):
    assert stale(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ["`MoDeConstraint(order=1, lambd=3)`", "`MoDeTrainer`", "`constraint.rho`", "`metrics.bias`", "`response=0`", "mode_gradient_f32", "mode::pull"],
)  # fmt: skip
def test_a_stale_name_is_found(text):
    assert len(stale(text)) == 1
