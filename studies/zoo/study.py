"""Trainings of the zoo: ``./build.sh studies zoo [--only REGEX]``.

Each problem is trained with MoDeConstraint as it comes, with cross entropy alone, with planing, and with MoDeLoss and
DisCo at a scan of strengths, also on planed background. A scan ends at the first strength that is flat or useless
(compare.py), and the best flat strength of each rival then trains as often as the layer. Two problems are also trained
with other batches, learning rates and weights of signal, and three times as long; three are trained in batches of
4,096, and some with a map of the scores.

DisCo divides by the spread of the scores. An untrained network has hardly any, so that there the gradient of DisCo is
some hundred times that of cross entropy, and on some problems the scores never spread. DisCo is also "warm" on these:
it starts after two epochs of cross entropy.

results.jsonl gets a line for each training as it ends, and a training that has a line does not run again. The lines
know nothing of the code's version. After a change of the layer, delete its lines and run the study again:

    sed -i '/"key": "[^"]*; default/d' studies/zoo/results.jsonl

After a change of a problem, delete its lines by its name. --only matches "problem; method; seed" anywhere:
'tagger.*; default' or '; DisCo .*; 1$'.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..methods import one_thread
from ..runner import Piece, compute
from .compare import best, ends, of_method
from .judge import bump, judged
from .problems import PROBLEMS, beside_of, events_of
from .train import mapped, scores, trained

RESULTS = Path(__file__).with_name("results.jsonl")
STRENGTHS = {"MoDeLoss": (3, 10, 30, 100, 300), "DisCo": (1, 3, 10, 30, 100, 300, 1000)}
ON_PLANED = {"MoDeLoss": (10, 30, 100), "DisCo": (10, 30, 100, 300)}
WARM = (10, 30, 100, 300, 1000)
ON_WARM = ("simple", "modified", "toy")  # where the scores of DisCo do not spread
VARIED = ("simple, order 0", "tagger, order 1")
VARIATIONS: dict[str, dict[str, float]] = {
    "batch 256 and reference": {"batch": 256},
    "batch 8,192": {"batch": 8_192},
    "a third of the rate": {"rate": 1 / 3},
    "three times the rate": {"rate": 3},
    "signal weighted by 30": {"signal": 30},
    "three times as long": {"epochs": 3},
}
LARGE, IN_LARGE = "batch 4,096, twice as long", {"batch": 4_096, "epochs": 2}
ON_LARGE = {  # the flattest rivals too
    "toy, order 0": {},
    "dijet, order 2, monotonic": {"DisCo 30": ("DisCo", 30)},
    "dijet in log m, order 1": {"MoDeLoss 100, planed": ("MoDeLoss", 100), "DisCo 100": ("DisCo", 100)},
}
OF_RIVALS = "tagger, order 0", "steep, order 0"
RIVALS = {"signal at background masses": "spectrum", "near the peak": "window"}
MAPPED = ("simple, order 0", *(f"{name}, order {order}" for name in ("tagger", "steep", "slices") for order in (0, 1)))


@dataclass(frozen=True)
class Size:
    """The numbers of seeds for the layer and rivals, the others and the variations, and a factor on the epochs."""

    seeds: int
    others: int
    varied: int
    epochs: float


FULL, QUICK = Size(3, 1, 1, 1), Size(1, 1, 0, 0.25)


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
    rival: str = ""
    planed: bool = False
    warm: bool = False
    mapped: bool = False


def tasks(size: Size) -> dict[str, Task]:
    """All trainings by name: problem; method; seed."""
    found = {}

    def add(problem: str, name: str, method: str, strength: float | None, seeds: int, **other: Any) -> None:
        for seed in range(1, seeds + 1):
            other.setdefault("epochs", 1)
            task = Task(problem, method, strength, seed, **{**other, "epochs": size.epochs * other["epochs"]})
            found[f"{problem}; {name}; {seed}"] = task

    for problem in PROBLEMS:
        add(problem, "default", "MoDeConstraint", None, size.seeds)
        add(problem, "none", "none", None, size.others)
        add(problem, "none, planed", "none", None, size.seeds, planed=True)
        for method, strengths in STRENGTHS.items():
            for strength in strengths:
                add(problem, f"{method} {strength}", method, strength, size.seeds)
            for strength in ON_PLANED[method]:
                add(problem, f"{method} {strength}, planed", method, strength, size.seeds, planed=True)
        for strength in WARM if problem.startswith(ON_WARM) else ():
            add(problem, f"DisCo {strength}, warm", "DisCo", strength, size.seeds, warm=True)
    for problem in VARIED:
        for name, other in VARIATIONS.items():
            add(problem, f"default, {name}", "MoDeConstraint", None, size.varied, **other)
            add(problem, f"none, {name}", "none", None, min(1, size.varied), **other)
    for problem, rivals in ON_LARGE.items():
        for name, (method, strength) in {"default": ("MoDeConstraint", None), **rivals}.items():
            seeds, planed = size.others if strength else size.seeds, name.endswith("planed")
            add(problem, f"{name}, {LARGE}", method, strength, seeds, planed=planed, **IN_LARGE)
    for problem in OF_RIVALS:
        for name, rival in RIVALS.items():
            add(problem, f"default, {name}", "MoDeConstraint", None, min(3, size.seeds), rival=rival)
            add(problem, f"none, {name}", "none", None, min(3, size.seeds), rival=rival)
    for problem in MAPPED:
        for method, name in (("MoDeConstraint", "default"), ("none", "none")):
            add(problem, f"{name}, then a map", method, None, size.others, mapped=True)
    return found


def due(named: dict[str, Task], found: dict[str, dict[str, Any]]) -> dict[str, Task]:
    """Those of the trainings to do next: of each scan one strength, or at the end more seeds of the best."""
    scans: dict[Task, list[str]] = {}
    for key, task in named.items():
        if task.strength is not None and task.seed == 1:
            scans.setdefault(replace(task, strength=None), []).append(key)
    of_problem = {problem: of_method(found, problem) for problem in PROBLEMS}
    now = set()
    for scan, keys in scans.items():
        for key in keys:  # by rising strength
            if key not in found:
                now.add(key)
            if key not in found or ends(found[key], of_problem[scan.problem]):
                break
    if not now:
        for problem in PROBLEMS:
            chosen = [one[0] for kind in STRENGTHS if (one := best(of_problem[problem], kind))]
            now |= {key for key in named if key.rpartition("; ")[0] in {f"{problem}; {name}" for name in chosen}}
    return {key: task for key, task in named.items() if key not in found and (task.strength is None or key in now)}


def measured(task: Task) -> dict[str, Any]:
    """What the judge finds of a training."""
    one_thread()
    settings = {name: getattr(task, name) for name in ("batch", "epochs", "rate", "signal", "rival", "planed", "warm")}
    network = trained(task.problem, task.method, task.strength, seed=task.seed, **settings)
    problem, (training, test) = PROBLEMS[task.problem], events_of(task.problem, task.seed)
    score = scores(network, test.features)
    if task.mapped:
        score = mapped(problem, training, scores(network, training.features), test, score)
    found = judged(problem, training, test, score)
    if (beside := beside_of(task.problem, task.seed)) is not None:
        found |= bump(problem, test, score, beside, scores(network, beside.features))
    return found


def seconds(task: Task) -> float:
    """The approximate time of a training on one core."""
    problem = PROBLEMS[task.problem]
    batches = problem.events / task.batch * (problem.epochs * task.epochs + problem.before)
    return batches * (2e-3 + 1.7e-6 * task.batch) * (1.5 if task.method == "MoDeConstraint" else 1) + 5


def stored(path: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """The results by the names of the trainings; of two lines with one name the later counts."""
    lines = path.read_text().splitlines() if path.exists() else []
    results = [json.loads(line) for line in lines if line]
    return {one.pop("key"): one for one in results}


def append(path: Path, key: str, result: dict[str, Any]) -> None:
    """Adds a line to a file of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({"key": key, **result}) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.zoo.study", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small: a look in minutes; the committed results stay")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", metavar="REGEX", default="", help="of the trainings, those whose name matches")
    chosen = parser.parse_args(arguments)
    size, path = (QUICK, Path("build/studies/zoo-quick.jsonl")) if chosen.quick else (FULL, RESULTS)
    try:
        named = {key: task for key, task in tasks(size).items() if re.search(chosen.only, key)}
    except re.error as error:
        parser.error(f"--only {chosen.only!r} is no regular expression: {error}")
    if not named:
        parser.error(f'--only {chosen.only!r} matches no training: their names are "problem; method; seed"')
    print(f"{len(stored(path))} trainings lie in {path}")
    while left := due(named, stored(path)):
        pieces = [Piece(key, {}, task, seconds(task)) for key, task in left.items()]
        compute(pieces, measured, lambda piece, result: append(path, piece.key, result), chosen.processes)


if __name__ == "__main__":
    main()
