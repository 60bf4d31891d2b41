"""Times a training step in PyTorch for several numbers of threads: ``python -m bench.training_step``.

The settings take turns, round after round, so that what else a machine does hits all; the fastest of each counts.
"""

from __future__ import annotations

import argparse
import itertools
import time

import libmode
import torch
from libmode.torch import MoDeLoss


def step_of(batch: int):
    """A training step of a network of 3 x 64 with cross entropy and the loss, half of the events background."""
    generator = torch.Generator().manual_seed(1)
    features, mass = torch.randn(batch, 10, generator=generator), torch.rand(batch, generator=generator)
    label = (torch.rand(batch, generator=generator) < 0.5).float()
    widths = [10, 64, 64, 64]
    layers = [part for a, b in itertools.pairwise(widths) for part in (torch.nn.Linear(a, b), torch.nn.SiLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(64, 1), torch.nn.Sigmoid())
    optimizer = torch.optim.Adam(model.parameters())
    mode, entropy = MoDeLoss(order=1), torch.nn.BCELoss()

    def step() -> None:
        optimizer.zero_grad()
        score = model(features)[:, 0]
        (entropy(score, label) + 10 * mode(score, label, mass)).backward()
        optimizer.step()

    return step


def main() -> None:
    """Prints a table in ms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batches", type=int, nargs="+", default=[5_000, 100_000, 1_000_000])
    given = parser.parse_args()
    settings = list(itertools.product([1, 2, 0], [1, 2]))
    print("| batch | " + " | ".join(f"libmode {own or 'default'}, torch {torchs}" for own, torchs in settings) + " |")
    print("|---" * (len(settings) + 1) + "|")
    for batch in given.batches:
        step, best = step_of(batch), dict.fromkeys(settings, float("inf"))
        for _ in range(given.rounds):
            for own, torchs in settings:
                libmode.set_threads(own)
                torch.set_num_threads(torchs)
                step()
                start = time.perf_counter()
                step()
                best[own, torchs] = min(best[own, torchs], 1e3 * (time.perf_counter() - start))
        print(f"| {batch:,} | " + " | ".join(f"{best[setting]:.1f}" for setting in settings) + " |", flush=True)


if __name__ == "__main__":
    main()
