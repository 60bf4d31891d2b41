"""Six ways to make two scores independent, in batches of three sizes: ``python -m studies.abcd.study``.

Writes results.json; ``--quick`` is one seed of one epoch.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..command import command
from ..methods import one_thread
from .train import METHODS, TRAINING, trained

RESULTS = Path(__file__).with_name("results.json")
BATCHES = (256, 2_048, 8_192)


@dataclass(frozen=True)
class Size:
    """The number of seeds, and the length of a training in background events and in steps."""

    seeds: int
    events: int
    steps: int


FULL, QUICK = Size(5, 12 * TRAINING, 7_200), Size(1, TRAINING, 300)


@dataclass(frozen=True)
class Task:
    """One training."""

    method: str
    batch: int
    steps: int
    seed: int


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name."""
    return {
        f"{method}; {batch}; seed {seed}": Task(method, batch, min(size.events // batch, size.steps), seed)
        for seed in range(1, size.seeds + 1)
        for batch in BATCHES
        for method in METHODS
    }


def measured(task: Task) -> dict[str, Any]:
    """Trains once, and returns what results.json holds of it."""
    one_thread()
    return trained(**asdict(task))


if __name__ == "__main__":
    command(
        "abcd.study",
        __doc__,
        tasks,
        measured,
        lambda task: 3 + task.steps * (4e-3 + 4e-6 * task.batch),
        (FULL, QUICK),
        RESULTS,
    )
