"""The loss in the workers of a DataLoader, however these are started."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "helpers" / "loader.py"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_have_the_results_of_their_parent(method):
    ended = subprocess.run([sys.executable, PROGRAM, method], capture_output=True, text=True, timeout=310)
    assert ended.returncode == 0, f"{ended.returncode}: {ended.stdout}{ended.stderr}"
