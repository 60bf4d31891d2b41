"""The exact limit of separation for problems of the zoo: ``./build.sh studies limit``.

results.json gets for each problem, constraint and cut the best selection at each residual, its background efficiency in
each bin, and the multipliers that define it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..command import command
from ..methods import one_thread
from .densities import PROBLEMS, Sample, sample
from .program import Cut, best, bound, residual_of, unconstrained

RESULTS = Path(__file__).with_name("results.json")
KINDS = ("0", "1", "2", "2, monotonic")
CUTS = {
    "50 %": Cut(True, 0.5),
    "80 %": Cut(True, 0.8),
    "20 %": Cut(True, 0.2),
    "1e-2": Cut(False, 1e-2),
    "1e-3": Cut(False, 1e-3),
}
RESIDUALS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
FINE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # at 50 %, where the zoo has R50


@dataclass(frozen=True)
class Size:
    """A third of the events of a program."""

    third: int


@dataclass(frozen=True)
class Task:
    """Programs at all residuals."""

    problem: str
    kind: str
    cut: str
    third: int


def tasks(size: Size) -> dict[str, Task]:
    """All by name: problem; constraint; cut."""
    kinds = [(problem, kind) for problem in PROBLEMS for kind in KINDS]
    kinds.append(("modified", "1, max_slope 0.5"))
    every = [Task(problem, kind, cut, size.third) for cut in CUTS for problem, kind in kinds]
    return {f"{task.problem}; {task.kind}; {task.cut}": task for task in every}


@lru_cache(maxsize=2 * len(PROBLEMS))
def _sample(problem: str, third: int, seed: int) -> Sample:
    return sample(problem, third, seed)


def measured(task: Task) -> dict[str, Any]:
    """The best selections: "of" a residual, and "free" of a constraint.

    Each has its ``signal`` and ``background`` efficiency, its ``residual``, and the bound ``again`` of the one that
    is not given, by other events. At half of the signal it also has ``bins`` and ``multipliers``, by bin of mass.
    """
    one_thread()
    events, others = (_sample(task.problem, task.third, seed) for seed in (1, 2))
    cut = CUTS[task.cut]
    free = unconstrained(events, cut)
    found = {}
    for residual in FINE if task.cut == "50 %" else RESIDUALS:
        one = best(events, task.kind, residual, cut)
        found[f"{residual:g}"] = {
            "signal": _short(one.signal),
            "background": _short(one.background),
            "again": _short(bound(others, one, cut)),
            "residual": _short(residual_of(one.efficiency, task.kind, events.terms)),
        }
        if task.cut == "50 %":
            of_bins = {"bins": one.efficiency, "multipliers": one.multipliers}
            found[f"{residual:g}"] |= {name: [_short(value) for value in values] for name, values in of_bins.items()}
    rest = residual_of(free.efficiency, task.kind, events.terms)
    values = {"signal": free.signal, "background": free.background, "residual": rest}
    return {"of": found, "free": {name: _short(value) for name, value in values.items()}}


def _short(value: float) -> float:
    """With five digits, for a file of results."""
    return float(f"{value:.5g}") if np.isfinite(value) else value


def seconds(task: Task) -> float:
    """The approximate time on one core."""
    programs = (len(FINE) if task.cut == "50 %" else len(RESIDUALS)) * (2 if "monotonic" in task.kind else 1)
    return programs * task.third / 5_000


def main() -> None:
    command(
        "limit.study", "The exact limit of separation.", tasks, measured, seconds, (Size(4_096), Size(1_024)), RESULTS
    )


if __name__ == "__main__":
    main()
