"""Trainings of the zoo: ``./build.sh studies zoo``.

Each problem is trained with MoDeConstraint as it comes, with fixed strengths, with DisCo and without a constraint; two
of them also with other batches, learning rates, weights of signal and three times as long. Writes results.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..command import command
from ..methods import one_thread
from .problems import PROBLEMS
from .train import judged, trained

RESULTS = Path(__file__).with_name("results.json")
STRENGTHS = (1, 3, 10, 30, 100)
DISCO = (1, 3, 10)
LONG = (3, 10, 30)  # fixed strengths of trainings that are three times as long
VARIED = ("simple, order 1", "scan, order 1")
VARIATIONS: dict[str, dict[str, float]] = {
    "batch 256 and reference": {"batch": 256},
    "batch 8,192": {"batch": 8_192},
    "a third of the rate": {"rate": 1 / 3},
    "three times the rate": {"rate": 3},
    "signal weighted by 30": {"signal": 30},
    "three times as long": {"epochs": 3},
}


@dataclass(frozen=True)
class Size:
    """The numbers of seeds for the default, the others and the variations, and a factor on the epochs."""

    seeds: int
    others: int
    varied: int
    epochs: float


FULL, QUICK = Size(5, 1, 2, 1), Size(1, 1, 0, 0.25)


@dataclass(frozen=True)
class Task:
    """One training."""

    problem: str
    method: str
    strength: float | None
    seed: int
    batch: int = 1_024
    epochs: float = 1
    rate: float = 1
    signal: float = 1


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name: problem; method; seed."""
    found = {}

    def add(problem: str, name: str, method: str, strength: float | None, seeds: int, **other: Any) -> None:
        for seed in range(1, seeds + 1):
            other.setdefault("epochs", 1)
            task = Task(problem, method, strength, seed, **{**other, "epochs": size.epochs * other["epochs"]})
            found[f"{problem}; {name}; {seed}"] = task

    for problem in PROBLEMS:
        add(problem, "default", "constraint", None, size.seeds)
        add(problem, "none", "none", None, size.others)
        for strength in STRENGTHS:
            add(problem, f"fixed {strength}", "constraint", strength, size.others)
        for strength in DISCO:
            add(problem, f"DisCo {strength}", "disco", strength, size.others)
    for problem in VARIED:
        for name, other in VARIATIONS.items():
            add(problem, f"default, {name}", "constraint", None, size.varied, **other)
            add(problem, f"none, {name}", "none", None, min(1, size.varied), **other)
        for strength in LONG:
            add(
                problem, f"fixed {strength}, three times as long", "constraint", strength, min(1, size.varied), epochs=3
            )
    return found


def measured(task: Task) -> dict[str, Any]:
    one_thread()
    settings = {"batch": task.batch, "epochs": task.epochs, "rate": task.rate, "signal": task.signal}
    network = trained(task.problem, task.method, task.strength, seed=task.seed, **settings)
    return judged(task.problem, network, task.seed)


def seconds(task: Task) -> float:
    """The approximate time of a training on one core."""
    events = {"scan, order 1": 190_000, "fine-tuned, order 1": 190_000, "few events, order 1": 50_000}
    problem = PROBLEMS[task.problem]
    batches = events.get(task.problem, 100_000) / task.batch * (problem.epochs * task.epochs + problem.before)
    return batches * (2e-3 + 1.7e-6 * task.batch) * (1.5 if task.method == "constraint" else 1) + 1


def main() -> None:
    command("zoo.study", __doc__.split("\n")[0], tasks, measured, seconds, (FULL, QUICK), RESULTS)


if __name__ == "__main__":
    main()
