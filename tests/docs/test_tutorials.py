"""The tutorials: their outputs in the tree are of their code, and show what the text says; test-full executes them."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs"))
import notebooks


def numbers(text, pattern):
    """Those of each line that has the pattern, which come after it."""
    found = re.findall(rf"^.*?{pattern}(.*)$", text, re.MULTILINE)
    assert found, f"{pattern} is not in {text}"
    return [list(map(float, re.findall(r"(?<![\w.])-?\d[\d.]*(?:e[+-]\d+)?", line.replace(",", "")))) for line in found]


def _bump_hunt(text):
    means = [numbers(text, f"{name}: mean")[0][0] for name in ("cross entropy alone", "with MoDe")]
    assert means[0] > 5 and abs(means[1]) < 1
    fits = numbers(text, "put in,")
    assert len(fits) == 8
    assert all(abs(fitted - passed) > 3 * error for passed, fitted, error in fits[:4])
    assert all(abs(fitted - passed) < 3 * error for passed, fitted, error in fits[4:])
    assert "\nflat at order" in text


def _choosing(text):
    (free, _, peak) = numbers(text, "cross entropy alone")[0]
    flat, line, bent = (numbers(text, f"order {order} ")[0] for order in (0, 1, 2))
    assert peak > 4 and free > bent[0] > flat[0] and line[0] > flat[0] and max(flat[2], line[2], bent[2]) < 2


#: What is asked of the outputs of each tutorial, since its text says so.
CLAIMS = {"bump-hunt": _bump_hunt, "choosing": _choosing}


def check(name, notebook):
    """No warnings, no errors, pictures, and the numbers of the text."""
    outputs = [output for cell in notebooks.code(notebook) for output in cell.outputs]
    assert [one for one in outputs if one.output_type == "error" or one.get("name") == "stderr"] == []
    assert any("image/png" in one.get("data", {}) for one in outputs)
    CLAIMS[name]("".join(one.get("text") or one.get("data", {}).get("text/plain", "") + "\n" for one in outputs))


@pytest.mark.parametrize("name", notebooks.names())
def test_its_outputs_are_of_its_code_and_show_what_its_text_says(name):
    notebook = notebooks.stored(name)
    assert notebook is not None, f"the code of {name}.md was changed: ./build.sh docs --execute {name}"
    check(name, notebook)


@pytest.mark.full
@pytest.mark.parametrize("name", notebooks.names())
def test_it_prints_and_draws_what_its_text_says(name):
    check(name, notebooks.execute(name))
