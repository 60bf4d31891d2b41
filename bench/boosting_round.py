"""What a round of XGBoost costs with MoDe: ``python -m bench.boosting_round``.

A million events with 20 features, trees of depth 6, 256 bins of each feature, two threads: rounds with XGBoost's own
``binary:logistic`` and with :func:`libmode.xgboost.objective` in turns, on the same matrix. Half of the events are
background, which MoDe sees. As in :mod:`bench.training_step` what MoDe takes is the median of the differences between
neighboring rounds. :func:`measure` has a process of its own, where PyTorch's threads are not beside XGBoost's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

EVENTS, FEATURES, THREADS, ROUNDS = 1_000_000, 20, 2, 20
PARAMETERS = {"objective": "binary:logistic", "base_score": 0.5, "max_depth": 6, "max_bin": 256, "nthread": THREADS}


@dataclass(frozen=True)
class Round:
    """Seconds of a round: medians; ``ratio`` is how many times as long one with MoDe takes."""

    plain: float
    with_mode: float
    ratio: float
    rounds: int


def measure(events: int = EVENTS, rounds: int = ROUNDS) -> Round:
    """The times of so many rounds of both kinds."""
    command = [sys.executable, "-m", "bench.boosting_round", "--events", str(events), "--rounds", str(rounds), "--json"]
    return Round(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))


def table(measured: Round) -> str:
    """The result as text."""
    return (
        f"{1e3 * measured.plain:.0f} ms, with MoDe {1e3 * measured.with_mode:.0f} ms: {measured.ratio:.2f} times as "
        f"long, {measured.rounds} rounds"
    )


def _measure(events: int, rounds: int) -> Round:
    import libmode
    import xgboost
    from libmode.xgboost import objective

    libmode.set_threads(THREADS)
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, events).astype(np.float32)
    mass = (50 + rng.exponential(60, events)).astype(np.float32)
    features = rng.normal(size=(events, FEATURES)).astype(np.float32)
    features[:, :5] += 0.5 * label[:, None]
    features[:, 5] += mass / 60
    data = xgboost.QuantileDMatrix(features, label, max_bin=PARAMETERS["max_bin"])
    # MoDe has nothing to see before the first tree, and pages are touched for the first time.
    kinds = [(xgboost.Booster(PARAMETERS, [data]), own) for own in (None, objective(mass))]
    pairs = []
    for number in range(rounds + 2):
        first = number % 2
        seconds = {k: _timed(*kinds[k], data, number) for k in (first, 1 - first)}
        pairs.append((seconds[0], seconds[1]))
    pairs = pairs[2:]
    plain, with_mode = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    more = statistics.median(b - a for a, b in pairs)
    return Round(plain, with_mode, 1 + more / plain, rounds)


def _timed(booster, own, data, number: int) -> float:
    start = time.perf_counter()
    booster.update(data, number, own)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.boosting_round", description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true", help="print numbers for a program")
    chosen = parser.parse_args()
    measured = _measure(chosen.events, chosen.rounds)
    print(json.dumps(asdict(measured)) if chosen.json else table(measured))


if __name__ == "__main__":
    main()
