"""The files on_*.py on each backend, in a process of its own: Keras reads KERAS_BACKEND once, at import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = [Path(__file__).with_name(name) for name in ("on_keras.py", "on_keras_constraint.py")]
BACKENDS = ("tensorflow", "jax", "torch")


def start(backend, directory):
    environment = os.environ | {"KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
    # A directory of its own: in a common one each would clear away what another has just left.
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--basetemp", str(directory), *TESTS]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """All backends at once."""
    started = {backend: start(backend, tmp_path_factory.mktemp(backend) / "tests") for backend in BACKENDS}
    yield started
    for process in started.values():
        process.kill()
        process.communicate()


@pytest.mark.parametrize("backend", BACKENDS)
def test_on_backend(processes, backend):
    output, _ = processes[backend].communicate(timeout=1200)
    print(output)
    assert processes[backend].returncode == 0
