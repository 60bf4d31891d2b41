"""Time and memory of an epoch with each method: ``python -m studies.w_tagging.cost``, on an idle machine.

Each method has a process of its own, with one thread, which trains the same network with and
without what the method adds, in turns, batch by batch. Writes cost.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..adversary import AdversaryLoss
from ..methods import Classifier, one_thread, penalty
from .classifiers import METHODS, PAPER_FRACTION, PAPER_RECIPE
from .paper import FULL, QUICK, RESULTS
from .sample import load
from .study import Size, split
from .train import OF_ADVERSARY, Jets, in_epoch, loss_of, new_network, one_cycle, prepared, shuffled

COST = RESULTS.with_name("cost.json")
EPOCHS = 10


def measured(classifier: Classifier, size: Size, epochs: int, fraction: float = 0.0) -> dict[str, Any]:
    """Seconds of an epoch with the method and without it, and the peak memory of the process.

    Planing adds only weights to an epoch.

    fraction : as of a Task
    """
    one_thread()
    sample = load(size.sample)
    parts = split(sample.label, 1)
    training = prepared(sample, parts[:1])[0]
    weighted = prepared(sample, parts[:1], planed=True)[0] if classifier.method == "planing" else training
    batch = round(fraction * len(training)) or size.batch
    step = {"without": step_of(training, Classifier("unconstrained"))}
    if classifier.method != "none":
        step["with"] = step_of(weighted, classifier)
    took: dict[str, list[float]] = {name: [] for name in step}
    for turn in range(epochs + 1):
        in_this = dict.fromkeys(step, 0.0)
        for chosen in shuffled(training, in_epoch(training, batch)):
            for name, run in step.items():
                start = time.perf_counter()
                run(chosen)
                in_this[name] += time.perf_counter() - start
        if turn:  # the first one warms up
            for name, seconds in in_this.items():
                took[name].append(seconds)
    return {
        "jets": len(training),
        "batch": batch,
        "seconds": {name: [round(t, 4) for t in times] for name, times in took.items()},
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def step_of(training: Jets, classifier: Classifier) -> Callable[[Tensor], None]:
    """A function that trains on one batch of these indices."""
    torch.manual_seed(1)
    network = new_network(training.inputs.shape[1])
    optimizer, _ = one_cycle(network, 1000)
    optimizers: list[torch.optim.Optimizer] = [optimizer]
    added = penalty(classifier)
    if classifier.method == "adversary":
        added = AdversaryLoss(**classifier.options)
        optimizers.append(torch.optim.Adam(added.parameters(), OF_ADVERSARY, fused=True))

    def run(chosen: Tensor) -> None:
        for each in optimizers:
            each.zero_grad()
        loss_of(network, training[chosen], added, classifier.strength).backward()
        for each in optimizers:
            each.step()

    return run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.w_tagging.cost", description=__doc__.split(":")[0])
    parser.add_argument("--quick", action="store_true", help="the committed sample; the committed results stay")
    parser.add_argument("--processes", type=int, help="for build.sh: it is always one at a time")
    parser.add_argument("--sample", type=Path, help="a file of jets; the committed results stay")
    chosen = parser.parse_args()
    found = {}
    timed = [(scan[len(scan) // 2], 0.0) for scan in METHODS.values()]
    timed += [(classifier, PAPER_FRACTION) for classifier in PAPER_RECIPE]
    size, epochs = (QUICK, 3) if chosen.quick else (FULL, EPOCHS)
    if chosen.sample:
        size = replace(size, sample=str(chosen.sample))
    for classifier, fraction in timed:
        name = classifier.name
        # A process for each, since the peak of memory is of a whole process.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            found[name] = pool.submit(measured, classifier, size, epochs, fraction).result()
        seconds = {which: float(np.median(times)) for which, times in found[name]["seconds"].items()}
        print(f"{name}: {', '.join(f'{s:.3f} s {which}' for which, s in seconds.items())}", flush=True)
    path = Path("build/studies/cost-quick.json") if chosen.quick or chosen.sample else COST
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    print("wrote", path)


if __name__ == "__main__":
    main()
