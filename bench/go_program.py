"""Builds the Go program of bench/gobench and talks to it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(directory: Path) -> Path:
    """Returns the program, built into a directory."""
    program = directory / "gobench"
    subprocess.run(["go", "build", "-o", program, "./bench/gobench"], cwd=ROOT, check=True)
    return program


class GoProgram:
    """A running program that holds the events of a directory, and makes calls when asked."""

    def __init__(self, program: Path, events: Path, flags: tuple[str, ...]) -> None:
        command = [program, f"-events={events}", *flags]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def sample(self, calls: int) -> list[float]:
        """The seconds of each of so many calls."""
        return [ns * 1e-9 for ns in self._ask(str(calls))["ns"]]

    def extra_memory(self) -> int:
        """Bytes that one call needs above inputs and outputs; for a program that has made no call yet."""
        return self._ask("memory")["extra"]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, question: str) -> dict:
        print(question, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the Go program ended with status {self._process.wait()}")
        return json.loads(answer)
