"""Every public name has a docstring that says what it is, with shapes, errors, source and an example that runs.

What that asks of each is in tests/helpers/docstrings.py, which runs in processes of their own: TensorFlow and PyTorch's
compiler abort one that has both, and the threads of XGBoost and LightGBM stand in those of PyTorch's way.
"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import docstrings
import pytest

ROOT = Path(__file__).resolve().parents[2]

# Who shares a process, by how names begin; those that are not here are NumPy's.
PROCESSES = {
    "libmode.torch": "torch", "libmode.compat.pytorch": "torch", "libmode.compat.disco": "torch", "libmode.TrainingWarning": "torch",
    "libmode.keras": "tensorflow", "libmode.compat.tf": "tensorflow",
    "libmode.jax": "jax",
    "libmode.xgboost": "trees", "libmode.lightgbm": "trees",
}  # fmt: skip


def names():
    """The public names of docs/reference.md, each by the process in which it is looked at."""
    page = (ROOT / "docs" / "reference.md").read_text()
    listed = re.findall(r"currentmodule:: (\S+)\n\n.*\n(?:   :.*\n)+\n((?:   \w+\n)+)", page)
    found = {}
    for name in (f"{module}.{name}" for module, names in listed for name in names.split()):
        found[name] = next((own for start, own in PROCESSES.items() if name.startswith(start)), "numpy")
    return found


NAMES = names()


@cache
def lacking(process):
    """What each name of a process lacks."""
    command = [sys.executable, "-W", "error", docstrings.__file__, *(name for name in NAMES if NAMES[name] == process)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    print(done.stderr)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is(name):
    assert lacking(NAMES[name])[name] == []


def test_there_are_names_in_every_process():
    assert set(NAMES.values()) == {"numpy", *PROCESSES.values()}
    assert len(NAMES) > 40


# A module of a user, with what a docstring must not be.
BAD = '''
class Halved:
    """Half of the score

    Parameters
    ----------
    score : array

    All arguments are keywords.

    Examples
    --------
    >>> 2 * 2
    """

    def __init__(self, score):
        self.half = score / 2

    def show(self, digits):
        """Prints it."""


def doubled(score, mass, **options) -> float:
    """Twice the score.

    Raises
    ------
    ValueError
        Never.

    Parameters
    ----------
    score : (n,)

    Examples
    --------
    >>> 2 * 2
    5
    """


def fine(score, mass, **options) -> float:
    """Twice the score, of arrays (n,), with masses in any unit.

    Takes what :func:`libmode.mode_loss` takes.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        Never.

    Examples
    --------
    >>> print("anything", 2 * 2)
    anyth... 4
    """


def bare(score): ...
'''


def test_what_is_missing_is_found(tmp_path):
    (tmp_path / "libmode_bad.py").write_text(BAD)
    command = [
        sys.executable,
        docstrings.__file__,
        "libmode_bad.Halved",
        "libmode_bad.doubled",
        "libmode_bad.fine",
        "libmode_bad.bare",
    ]
    path = f"{tmp_path}:{ROOT / 'python'}"
    done = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["libmode_bad.Halved"][:-1] == [
        "the first sentence has no end",
        "no shape of an array",
        "no section Raises",
        "no equation and no source",
        "All arguments are keywords. is no parameter",
        "show is in no example",
        "no word on digits of show",
        "no example that prints something",
    ]
    assert "Expected nothing" in found["libmode_bad.Halved"][-1]
    assert found["libmode_bad.doubled"][:-1] == [
        "no word on mass",
        "no word on options",
        "no unit of the mass",
        "no equation and no source",
        "no section Returns",
        "Parameters is no section or not in its place",
    ]
    assert "Expected:\n    5\nGot:\n    4" in found["libmode_bad.doubled"][-1]
    assert found["libmode_bad.fine"] == []
    assert found["libmode_bad.bare"] == ["it has no docstring"]
