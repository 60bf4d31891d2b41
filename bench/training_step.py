"""The share of a training step that MoDe costs: ``python -m bench.training_step``.

The paper's network (2 inputs, 3 x 64 SiLU, sigmoid; arXiv:2010.09745, section 4),
forward + backward + Adam, with binary cross entropy alone and with
MoDe(order 2) added, in turns. Half of a batch is background, which MoDe sees.
"""

from __future__ import annotations

import torch
from libmode.torch import MoDeLoss
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy

from .timing import Timing, interleaved, sampler

BATCHES = (1_000, 10_000, 100_000)
PLAIN, WITH_MODE = "BCE", "BCE + MoDe"


def step(batch: int, mode: MoDeLoss | None):
    """One training step, as a call."""
    torch.manual_seed(1)
    inputs, label = torch.randn(batch, 2), (torch.arange(batch) % 2).float()[:, None]
    mass = 50 + 60 * torch.empty(batch, 1).exponential_()
    network = nn.Sequential(
        nn.Linear(2, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1), nn.Sigmoid(),
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def call() -> Tensor:
        optimizer.zero_grad()
        score = network(inputs)
        loss = binary_cross_entropy(score, label)
        if mode is not None:
            loss = loss + mode(score, label, mass)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


def measure(batches: tuple[int, ...] = BATCHES, budget: float = 10.0) -> dict[int, dict[str, Timing]]:
    """The times of both steps for each size of batch."""
    return {
        batch: interleaved(
            {
                PLAIN: sampler(step(batch, None)),
                WITH_MODE: sampler(step(batch, MoDeLoss(order=2))),
            },
            budget,
            limit=60,
            title=f"training step, batch {batch:,}",
        )
        for batch in batches
    }


def share(timings: dict[str, Timing]) -> float:
    """The part of a step with MoDe that is due to MoDe."""
    return 1 - timings[PLAIN].median / timings[WITH_MODE].median


def table(measured: dict[int, dict[str, Timing]]) -> str:
    """The result as text."""
    lines = [f"{'batch':>10} {PLAIN + ' [ms]':>12} {WITH_MODE + ' [ms]':>16} {'share of MoDe':>14}"]
    for batch, timings in measured.items():
        plain, with_mode = (1e3 * timings[name].median for name in (PLAIN, WITH_MODE))
        lines.append(f"{batch:>10,} {plain:>12.3f} {with_mode:>16.3f} {share(timings):>13.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measure()))
