"""What the loss of the events of several processes costs: ``python -m bench.gather``.

Processes of one thread each that gloo joins, each with its part of the events, all background. In turns:
the loss and gradient of all events in each process, without an exchange; that of its part alone; the exchange of
the bytes alone, once to all and once to the first and back; and ``MoDeLoss(gather=True)``, forward and backward, where
the first process computes for all. Processes wait for each other before each call, and a call
takes as long as in the slowest of them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

EVENTS, PROCESSES, ROUNDS = 400_000, (2, 4), 15


def measure(processes: int, events: int = EVENTS, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds of each, medians over the rounds."""
    import torch.multiprocessing as mp

    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_measure, (processes, events, rounds, folder), nprocs=processes)
        found: dict[str, float] = json.loads((Path(folder) / "found.json").read_text())
    return found


def table(measured: dict[str, float], processes: int, events: int) -> str:
    """The result as text."""
    rows = [f"{name:<42}{1e3 * seconds:8.2f} ms" for name, seconds in measured.items()]
    alone, exchange, gathered = (measured[name] for name in ("loss of all", "bytes to all", "gather=True"))
    rows.append(f"(gather=True - bytes to all) / loss of all: {(gathered - exchange) / alone:.2f}")
    return f"{events:,} events on {processes} processes\n" + "\n".join(rows)


def _measure(rank: int, count: int, events: int, rounds: int, folder: str) -> None:
    import libmode
    import torch
    import torch.distributed as dist
    from libmode.torch import MoDeLoss

    torch.set_num_threads(1)
    libmode.set_threads(1)
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=count, timeout=timedelta(seconds=60))
    generator = torch.Generator().manual_seed(1)
    score, mass = torch.rand(2, events, generator=generator)
    mass, target = 50 - 60 * mass.log(), torch.zeros(events)
    part = slice(rank * events // count, (rank + 1) * events // count)
    leaf, own = score.clone().requires_grad_(), score[part].clone().requires_grad_()
    sent = torch.zeros(8 * len(own), dtype=torch.uint8)
    received = [torch.empty_like(sent) for _ in range(count)]
    alone, gathered = MoDeLoss(order=1, monitor=False), MoDeLoss(order=1, monitor=False, gather=True)
    own_grad = torch.empty(len(own))
    grads = [torch.empty_like(own_grad) for _ in range(count)] if rank == 0 else None

    def to_first_and_back() -> None:
        dist.gather(sent, received if rank == 0 else None)
        dist.scatter(own_grad, grads)

    calls: dict[str, Callable[[], Any]] = {
        "loss of all": lambda: alone(leaf, target, mass).backward(),
        "loss of the own part": lambda: alone(own, target[part], mass[part]).backward(),
        "bytes to all": lambda: dist.all_gather(received, sent),
        "bytes to the first and back": to_first_and_back,
        "gather=True": lambda: gathered(own, target[part], mass[part]).backward(),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds + 2):
        for name, call in calls.items():
            leaf.grad = own.grad = None
            dist.barrier()
            start = time.perf_counter()
            call()
            took = torch.tensor(time.perf_counter() - start, dtype=torch.float64)
            dist.all_reduce(took, dist.ReduceOp.MAX)
            if turn >= 2:
                seconds[name].append(took.item())
    if rank == 0:
        medians = {name: statistics.median(each) for name, each in seconds.items()}
        (Path(folder) / "found.json").write_text(json.dumps(medians))
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gather", description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=EVENTS, help="of all processes together")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    for count in PROCESSES:
        print(table(measure(count, chosen.events, chosen.rounds), count, chosen.events))


if __name__ == "__main__":
    main()
