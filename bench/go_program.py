"""Builds the Go program of bench/gobench and talks to it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# The paper's formula and the defaults of today, in full.
PAPER: dict[str, Any] = {"order": 2, "moments": "quadrature", "unbiased": False}
DEFAULTS: dict[str, Any] = {"order": 2, "moments": "projection", "unbiased": True}
ALL_BOUNDS: dict[str, Any] = {"max_slope": 0.5, "monotonic": True, "unbiased": True}


def build(program: Path, tree: Path = ROOT) -> None:
    """Compiles the program of a tree into a file."""
    command = ["go", "build", "-o", program, "./bench/gobench"]
    done = subprocess.run(command, cwd=tree, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"Go says: {done.stderr}")


def flags(*more: str, **options: Any) -> tuple[str, ...]:
    """Command-line flags from options by their names, and other flags."""
    return (f"-options={json.dumps(options)}", *more)


class GoProgram:
    """A running program that holds sets of n events and makes calls on demand."""

    def __init__(self, program: Path, n: int, flags: tuple[str, ...]) -> None:
        command = [program, f"-n={n}", *flags]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def loss(self) -> float:
        """The loss of the first set."""
        return self._ask("loss")["loss"]

    def sample(self, calls: int) -> list[float]:
        """The seconds of so many calls."""
        return [ns * 1e-9 for ns in self._ask(str(calls))["ns"]]

    def extra_memory(self) -> int:
        """Bytes of one call above inputs and outputs, in a program that has made no call yet."""
        return self._ask("memory")["extra"]

    def close(self) -> None:
        self._process.communicate()

    def _ask(self, question: str) -> dict:
        try:
            print(question, file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            raise RuntimeError(self._process.stderr.read().strip()) from None
