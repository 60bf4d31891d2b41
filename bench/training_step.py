"""The share of a training step that MoDe costs: ``python -m bench.training_step``.

The paper's network (2 inputs, 3 x 64 SiLU, sigmoid; arXiv:2010.09745, section 4),
forward + backward + Adam, with binary cross entropy alone and with
MoDe(order 2) added, in turns. About half of a batch is background, which MoDe sees,
in random order.
Steps vary by more than MoDe takes; what it takes is the median of the
differences between neighbouring steps with and without it, either first.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from itertools import cycle

import torch
from libmode.torch import MoDeLoss
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy
from tqdm import tqdm

from .events import number_of_sets
from .timing import sampler

BATCHES = (1_000, 10_000, 100_000)


def draw(batch: int) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, labels and masses."""
    mass = 50 + 60 * torch.empty(batch, 1).exponential_()
    return torch.randn(batch, 2), torch.randint(0, 2, (batch, 1)).float(), mass


def step(batch: int, mode: MoDeLoss | None):
    """Training steps, one a call, each with the next batch."""
    torch.manual_seed(1)
    batches = cycle([draw(batch) for _ in range(number_of_sets(batch))])
    network = nn.Sequential(
        nn.Linear(2, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 64), nn.SiLU(),
        nn.Linear(64, 1), nn.Sigmoid(),
    )  # fmt: skip
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def call() -> Tensor:
        inputs, label, mass = next(batches)
        optimizer.zero_grad()
        score = network(inputs)
        loss = binary_cross_entropy(score, label)
        if mode is not None:
            loss = loss + mode(score, label, mass)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return call


@dataclass(frozen=True)
class Share:
    """Seconds of a step, and the part of a step with MoDe that is due to MoDe."""

    plain: float
    with_mode: float
    share: float
    steps: int


def measure(batches: tuple[int, ...] = BATCHES, budget: float = 20.0) -> dict[int, Share]:
    """The times of both steps for each size of batch, in about ``budget`` seconds each."""
    return {batch: _measure(batch, budget) for batch in tqdm(batches, desc="training steps", leave=False)}


def _measure(batch: int, budget: float) -> Share:
    steps = [sampler(step(batch, None)), sampler(step(batch, MoDeLoss(order=2)))]
    for sample in steps:
        sample(3)
    pairs = []
    end = time.perf_counter() + budget
    while len(pairs) < 10 or time.perf_counter() < end and len(pairs) < 1_000:
        first = len(pairs) % 2
        seconds = {k: steps[k](1)[0] for k in (first, 1 - first)}
        pairs.append((seconds[0], seconds[1]))
    plain, with_mode = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    more = statistics.median(b - a for a, b in pairs)
    return Share(plain, with_mode, more / with_mode, len(pairs))


def table(measured: dict[int, Share]) -> str:
    """The result as text."""
    lines = [f"{'batch':>10} {'BCE [ms]':>12} {'BCE + MoDe [ms]':>16} {'share of MoDe':>14} {'steps':>6}"]
    for batch, m in measured.items():
        lines.append(f"{batch:>10,} {1e3 * m.plain:>12.3f} {1e3 * m.with_mode:>16.3f} {m.share:>13.1%} {m.steps:>6}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measure()))
