"""Every public name has a docstring that says what its parameters are, and examples that run.

What that asks of each is in tests/helpers/docstrings.py, which runs in processes of their own: TensorFlow and PyTorch's
compiler abort one that has both, and the threads of XGBoost and LightGBM stand in those of PyTorch's way.
"""

import json
import re
import sys
from pathlib import Path

import docstrings
import pytest
from programs import run

ROOT = Path(__file__).resolve().parents[2]

# Who shares a process, by how names begin; those that are not here are NumPy's.
PROCESSES = {
    "libmode.torch": "torch", "libmode.TrainingWarning": "torch",
    "libmode.keras": "tensorflow",
    "libmode.jax": "jax",
    "libmode.xgboost": "trees", "libmode.lightgbm": "trees",
}  # fmt: skip


def names():
    """The public names of docs/reference.md, by the process in which they are looked at."""
    page = (ROOT / "docs" / "reference.md").read_text()
    listed = re.findall(r"currentmodule:: (\S+)\n\n.*\n(?:   :.*\n)+\n((?:   \w+\n)+)", page)
    found = {process: [] for process in ("numpy", *PROCESSES.values())}
    for name in (f"{module}.{name}" for module, names in listed for name in names.split()):
        found[next((own for start, own in PROCESSES.items() if name.startswith(start)), "numpy")].append(name)
    return found


@pytest.mark.parametrize("process", names())
def test_public_names_say_what_they_are(process):
    found = json.loads(run(sys.executable, "-W", "error", docstrings.__file__, *names()[process]))
    assert found and {name: gaps for name, gaps in found.items() if gaps} == {}
