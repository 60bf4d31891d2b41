"""How many functions a fit goes through, and how long they are: a reader follows them."""

import ast
from pathlib import Path

import libmode
import pytest
from boosted import SMALL
from libmode.xgboost import MoDeXGBClassifier

from tools.walk import entered

PACKAGE = Path(libmode.__file__).parent
FILES = [*sorted((PACKAGE / "_trees").iterdir()), PACKAGE / "lightgbm.py", PACKAGE / "xgboost.py"]


@pytest.mark.filterwarnings("ignore:nothing judges")
def test_a_fit_goes_through_few_functions():
    """Of a second fit, whose options are known. Comprehensions are no functions, as in Python 3.12."""
    classifier = MoDeXGBClassifier(order=1, n_estimators=80, n_jobs=1)
    _, calls = (entered(lambda: classifier.fit(SMALL.features, SMALL.label, mass=SMALL.mass)) for _ in range(2))
    functions = {(file, name) for file, name in calls if not name.endswith(("comp>", "genexpr>"))}
    files = {file for file, _ in functions}
    assert len(functions) <= 70 and len(files) <= 12, "\n".join(map(" ".join, sorted(functions)))
    assert sum(name == "call_with" for _, name in calls) > 80, "the walk does not come to the core"


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".py"], ids=lambda path: path.name)
def test_no_function_is_long(path):
    """Docstrings are no part of the code."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    texts = [one.body[0] if ast.get_docstring(one) else None for one in functions]
    of_texts = [0 if text is None else text.end_lineno - text.lineno + 1 for text in texts]
    lines = {one.name: one.end_lineno - one.lineno + 1 - own for one, own in zip(functions, of_texts, strict=True)}
    assert {name for name, count in lines.items() if count > 60} == set()
