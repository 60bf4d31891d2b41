"""Makes the sample of jets: ``python -m studies.w_tagging.generate``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..runner import Piece, run
from . import detector, events, jets
from .features import features
from .sample import FEATURES, LARGE, MASS, PT, Sample, testing, write

PROCESSES = tuple(events.PROCESSES)
JETS_PER_PIECE = 500
FIRST_FOR_TESTING = 1_000_000  # number of a part; those before it, 5 x 10^8 jets, are of the sample to train with
EVENTS_PER_BATCH = 100
JETS_PER_SECOND = {"W": 21.0, "QCD": 19.0}  # on one of two busy threads of a Xeon at 2.5 GHz
BYTES_PER_JET = 300  # in the pieces, and in the sample
SETTING = {
    "versions": {package: version(package) for package in ("pythia8mc", "fastjet")},
    "pythia": {name: [*events.COMMON, *settings] for name, settings in events.PROCESSES.items()},
    "preselection": [events.PARTON_SCALE, *events.PARTON_PT, events.PARTON_MASS, events.PARTON_RAPIDITY],
    "detector": [detector.ETA_MAX, detector.ETA_BINS, detector.PHI_BINS, detector.NOISE]
    + [*detector.STOCHASTIC, *detector.CONSTANT],
    "jets": [jets.RADIUS, jets.SUBJET_RADIUS, jets.SUBJET_FRACTION, jets.RAPIDITY_MAX, jets.W_DISTANCE] + [*PT, *MASS],
}


@dataclass(frozen=True)
class Part:
    """The first jets of a process from its own generator."""

    process: str
    seed: int
    number: int
    jets: int


def generate(part: Part) -> dict[str, Any]:
    """The jets of a part, as rows of ten features, mass and pT in single precision, and the cost."""
    seed, smearing = np.random.SeedSequence([part.seed, PROCESSES.index(part.process), part.number]).spawn(2)
    rng = np.random.default_rng(smearing)
    start = time.process_time()
    generator = events.Generator(part.process, 1 + int(seed.generate_state(1)[0]) % 900_000_000)
    rows: list[np.ndarray] = []
    tried = 0
    while sum(map(len, rows)) < part.jets:
        batch = generator.batch(EVENTS_PER_BATCH)
        tried += len(batch)
        rows.append(_rows(_jets(batch, rng)))
    table = np.concatenate(rows)[: part.jets].astype(np.float32)
    return {"events": tried, "seconds": time.process_time() - start, "jets": table.tolist()}


def _jets(batch: events.Events, rng: np.random.Generator) -> jets.Jets:
    energy = detector.smear(detector.deposit(batch.particles), rng)
    found = jets.select(jets.cluster(detector.towers(energy)))
    return found if batch.quarks is None else jets.match(found, batch.quarks)


def _rows(found: jets.Jets) -> np.ndarray:
    total = found.constituents.sum(axis=1)
    return np.column_stack([features(found.constituents), jets.mass(total), jets.pt(total)])


def pieces(number: int, seed: int, processes: Sequence[str] = PROCESSES, first: int = 0) -> list[Piece]:
    """The pieces of ``number`` jets of each process. A larger number contains the jets of a smaller one.

    first : the number of the first part
    """
    return [
        Piece(
            key=f"{process}-{k:04}",
            setting=SETTING | {"process": process, "seed": seed, "jets": min(JETS_PER_PIECE, left)},
            argument=Part(process, seed, k, min(JETS_PER_PIECE, left)),
            seconds=min(JETS_PER_PIECE, left) / JETS_PER_SECOND[process],
        )
        for process in processes
        for k, left in enumerate(range(number, 0, -JETS_PER_PIECE), first)
    ]


def sample(results: dict[str, dict[str, Any]], seed: int) -> Sample:
    """The jets of all pieces, by their keys, in random order."""
    keys = sorted(results)
    rows = np.concatenate([np.array(results[key]["jets"], np.float32) for key in keys])
    is_w = np.concatenate([np.full(len(results[key]["jets"]), key.startswith("W"), np.float32) for key in keys])
    order = np.random.default_rng(seed).permutation(len(rows))
    return Sample(FEATURES, rows[order, :10], rows[order, 10], rows[order, 11], is_w[order])


def report(results: dict[str, dict[str, Any]]) -> str:
    """Prints the cost of each process."""
    lines = []
    for process in PROCESSES:
        of_process = [result for key, result in results.items() if key.startswith(f"{process}-")]
        if not of_process:
            continue
        found, tried = (sum(len(r["jets"]) for r in of_process), sum(r["events"] for r in of_process))
        rate = found / sum(r["seconds"] for r in of_process)
        lines.append(f"{process}: {found:,} jets from {tried:,} events, {rate:.1f} jets/s on one process")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.w_tagging.generate",
        description=__doc__.split(":")[0],
    )
    parser.add_argument("--jets", type=int, default=100_000, help="of each class, by default %(default)s")
    parser.add_argument(
        "--test-jets", type=int, help="of QCD alone, none of them among those of --jets; in place of these"
    )
    parser.add_argument("--seed", type=int, default=1, help="by default %(default)s")
    parser.add_argument(
        "--processes",
        type=int,
        default=2,
        help="to run side by side, by default %(default)s; they do not change the jets",
    )
    parser.add_argument("--output", type=Path, help=f"by default {LARGE}, of --test-jets {testing(1)}")
    chosen = parser.parse_args()
    for option, value in (("--jets", chosen.jets), ("--test-jets", chosen.test_jets)):
        if value is not None and value < 1:
            parser.error(f"{option} = {value} is not 1 or more")
    if chosen.seed < 0:
        parser.error(f"--seed = {chosen.seed} is negative")
    if chosen.output and chosen.output.suffix != ".npz":
        parser.error(f"--output = {chosen.output} does not end in .npz")
    if chosen.test_jets:
        wanted = pieces(chosen.test_jets, chosen.seed, ("QCD",), FIRST_FOR_TESTING)
        kind, labels, output = "QCD jets for testing", (0,), chosen.output or testing(chosen.seed)
    else:
        wanted = pieces(chosen.jets, chosen.seed)
        kind, labels, output = "jets of both classes", (0, 1), chosen.output or LARGE
    jets_wanted = sum(piece.argument.jets for piece in wanted)
    print(f"{jets_wanted:,} {kind}, about {jets_wanted * BYTES_PER_JET / 1e6:.0f} MB on disk")
    results = run(wanted, generate, Path("build/studies/w_tagging"), chosen.processes)
    print(report(results))
    write(sample(results, chosen.seed), output, labels)
    print("wrote", output)


if __name__ == "__main__":
    main()
