"""ABCDLoss beside double DisCo and the closure at a random cut: ``python -m studies.abcd.study``.

Each loss with several strengths and sizes of batches. Writes results.json; ``--quick`` is one seed of few steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..command import command
from ..methods import one_thread
from .train import trained

RESULTS = Path(__file__).with_name("results.json")
BATCHES = (256, 2_048, 8_192)
STRENGTHS: dict[str, tuple[float, ...]] = {
    "disco": (100, 300, 1_000),
    "random cut": (1, 3, 10),
    "abcd": (100, 300, 1_000),
}


@dataclass(frozen=True)
class Size:
    """How many seeds each training has, and how many steps."""

    seeds: int
    steps: int


FULL, QUICK = Size(1, 600), Size(1, 100)


@dataclass(frozen=True)
class Task:
    """One training."""

    method: str
    strength: float
    batch: int
    steps: int
    seed: int


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{method} {strength:g} batch {batch} seed {seed}": Task(method, strength, batch, size.steps, seed)
        for seed in range(1, size.seeds + 1)
        for batch in BATCHES
        for method, strengths in STRENGTHS.items()
        for strength in strengths
    }


def measured(task: Task) -> dict[str, Any]:
    """What one training achieves."""
    one_thread()
    return trained(task.method, task.strength, task.batch, task.steps, task.seed)


if __name__ == "__main__":
    command(
        "abcd.study",
        __doc__,
        tasks,
        measured,
        lambda task: 3 + task.steps * (2e-3 + 1e-6 * task.batch),
        (FULL, QUICK),
        RESULTS,
    )
