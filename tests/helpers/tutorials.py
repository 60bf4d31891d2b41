"""The tutorials of docs/: what they print, and what their text says of that."""

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "docs"))
import notebooks


def outputs(notebook):
    """Of all its cells."""
    return [output for cell in notebooks.code(notebook) for output in cell.outputs]


def printed(notebook):
    """All that its cells print or show as text."""
    return "".join(out.get("text") or out.get("data", {}).get("text/plain", "") + "\n" for out in outputs(notebook))


def complaints(notebook):
    """Warnings and errors among its outputs."""
    return [out for out in outputs(notebook) if out.output_type == "error" or out.get("name") == "stderr"]


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
CLAIMS = {
    "bump-hunt": _bump_hunt,
    "choosing": _choosing,
}
