"""The files on_*.py on each backend, in a process of its own: Keras reads KERAS_BACKEND once, at import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = [Path(__file__).with_name(name) for name in ("on_keras.py", "on_keras_constraint.py")]
#: What differs between backends: gradients, states, and a training with its file.
NUMBERS = "of_the_core or two_outputs or both_parts or resumed"
#: All tests by TensorFlow; by the others those numbers, and in test-full all.
RUNS = [("tensorflow", ""), ("jax", NUMBERS), ("torch", NUMBERS)]
RUNS += [pytest.param(backend, "", marks=pytest.mark.full) for backend in ("jax", "torch")]


@pytest.mark.parametrize("backend, chosen", RUNS)
def test_on_backend(backend, chosen, tmp_path):
    environment = os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    # A directory of its own: in a common one each would clear away what another has just left.
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=short",
        "--basetemp",
        tmp_path / "tests",
        "-k",
        chosen,
        *TESTS,
    ]
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200
    )
    print(done.stdout)
    assert done.returncode == 0
