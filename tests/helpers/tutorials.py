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


def _pytorch(text):
    ((auc,),), ((auc_mode,),) = (numbers(text, f"{name}: AUC") for name in ("cross entropy alone", "with MoDe"))
    (_, sculpted, _, *_), (_, residual, chance, *_) = numbers(text, "^50 % signal efficiency ")
    assert text.index("\nnot flat at order") < text.index("with MoDe") < text.index("\nflat at order")
    assert sculpted > 5 * residual and residual < 2 * chance and auc > auc_mode > 0.8


def _xgboost(text):
    ((auc, loose, tight),) = numbers(text, "XGBoost")
    assert min(loose, tight) > 4
    ((auc_mode, loose, tight),) = numbers(text, "with MoDe")
    assert max(loose, tight) < 2 and auc > auc_mode > 0.8
    assert numbers(text, "largest difference of the scores:")[0][0] < 1e-5
    assert "\nflat at order" in text


def _bump_hunt(text):
    ((chi2, ndof, *_),) = numbers(text, r"order 2: chi2")
    assert chi2 < 2 * ndof
    means = [numbers(text, f"{name}: mean")[0][0] for name in ("cross entropy alone", "with MoDe")]
    assert means[0] > 5 and abs(means[1]) < 1
    fits = numbers(text, "put in,")
    assert len(fits) == 8
    assert all(abs(fitted - passed) > 3 * error for passed, fitted, error in fits[:4])
    assert all(abs(fitted - passed) < 3 * error for passed, fitted, error in fits[4:])
    assert "\nflat at order" in text


def _choosing(text):
    (free, _, peak), (*_, free_few, free_many) = numbers(text, "cross entropy alone")
    flat, line, bent = (numbers(text, f"order {order} ")[0] for order in (0, 1, 2))
    assert peak > 4 and free > bent[0] > flat[0] and line[0] > flat[0] and max(flat[2], line[2], bent[2]) < 2
    (_, loose, loose_few, loose_many) = numbers(text, "order 1, K 0.3 ")[0]
    (_, tight, tight_few, tight_many) = numbers(text, "order 1, K 3 ")[0]
    (*_, none_few, none_many) = numbers(text, "order 1 ")[1]
    assert numbers(text, "cross entropy alone +[0-9.]+ +False") and numbers(text, "order 1 +[0-9.]+ +True")
    assert loose > tight and min(tight_few, none_few) > 0.9 * max(free_few, loose_few)
    assert numbers(text, "order 1, K 0.3 +[0-9.]+ +False") and min(tight_many, none_many, loose_many) > 1.2 * free_many
    assert "\nflat at order 1" in text


def _maps(text):
    (auc, *residuals), (*_, significance) = numbers(text, "as it is")
    assert min(residuals) > 4
    for order in (0, 1):
        (mapped, *residuals), (*_, after) = numbers(text, f"map, order {order}")
        assert max(residuals) < 1.6 and auc > mapped and 0.9 * significance < after < 1.02 * significance
    assert numbers(text, "rms of the difference from the map:")[0][0] < 5e-3
    assert "\nflat at order" in text


#: What is asked of the outputs of each tutorial, since its text says so.
CLAIMS = {
    "bump-hunt": _bump_hunt,
    "choosing": _choosing,
    "maps": _maps,
    "pytorch": _pytorch,
    "xgboost": _xgboost,
}
