"""The command line of a study."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .runner import Piece, run


def command(
    module: str,
    title: str,
    tasks: Callable[[Any], dict[str, Any]],
    measured: Callable[[Any], dict[str, Any]],
    seconds: Callable[[Any], float],
    sizes: tuple[Any, Any],
    path: Path,
    samples: bool = False,
) -> dict[str, dict[str, Any]]:
    """Runs a study from the command line: all its trainings, as ``tasks`` names them, each through ``measured``.

    module : that is run, inside studies
    seconds : about what a training takes on one core
    sizes : in full, and with --quick
    path : of the JSON file of results in full; those of --quick, or of another sample, go to build/studies
    samples : whether the sizes have a sample, and so the command line --sample

    Returns the results by the names of the trainings.
    """
    parser = argparse.ArgumentParser(prog=f"python -m studies.{module}", description=title)
    parser.add_argument("--quick", action="store_true", help="small: a look in minutes; the committed results stay")
    parser.add_argument("--processes", type=int, default=2)
    if samples:
        parser.add_argument("--sample", type=Path, help="a file of events; the committed results stay")
    chosen = parser.parse_args()
    size, name = sizes[chosen.quick], module.rpartition(".")[2]
    another = ""
    if samples and chosen.sample:
        size, another = replace(size, sample=str(chosen.sample)), f"-{chosen.sample.stem}"
    if chosen.quick:
        another += "-quick"
    work = Path("build/studies", name + another)
    pieces = [Piece(key, asdict(task), task, seconds(task)) for key, task in tasks(size).items()]
    results = run(pieces, measured, work, chosen.processes)
    path = work.with_name(f"{work.name}.json") if another else path  # a sample's name may have a dot
    path.write_text(json.dumps({"size": asdict(size), "results": results}, separators=(",", ":")) + "\n")
    print("wrote", path)
    return results
