"""The share of a training step that MoDe costs: ``python -m bench.training_step``.

The paper's network (2 inputs, 3 x 64 SiLU, sigmoid; arXiv:2010.09745, section 4), forward, backward and Adam, with
binary cross entropy alone, with ``MoDeLoss`` and with ``MoDeConstraint``, in turns. About half of a batch is
background. A turn has ten steps, since a training repeats one step, whose code stays in the caches. Turns vary by more
than MoDe takes: what counts is the median of the differences between neighbors.
"""

from __future__ import annotations

import itertools
import statistics
import time
from dataclasses import dataclass

import torch
from libmode.torch import MoDeConstraint, MoDeLoss
from torch import nn
from torch.nn.functional import binary_cross_entropy

from .events import number_of_sets

BATCHES = (1_000, 10_000, 100_000)
TURN = 10  # steps


@dataclass(frozen=True)
class Share:
    """Seconds of a step, and what MoDe takes of them."""

    plain: float
    with_mode: float
    share: float  #: the loss, of a step with it
    constraint: float  #: what a constraint takes more than the loss, of a plain step
    steps: int


def step_of(batch: int, loss: MoDeLoss | None = None, constraint: MoDeConstraint | None = None):
    """Training steps, one a call, each with the next batch."""
    torch.manual_seed(1)
    mass = 50 + 60 * torch.empty(number_of_sets(batch), batch, 1).exponential_()
    batches = itertools.cycle(zip(torch.randn(*mass.shape[:2], 2), torch.rand_like(mass).round(), mass, strict=True))
    widths = 2, 64, 64, 64
    layers = [part for a, b in itertools.pairwise(widths) for part in (nn.Linear(a, b), nn.SiLU())]
    network = nn.Sequential(*layers, nn.Linear(64, 1), nn.Sigmoid())
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def step() -> float:
        """The seconds that it takes."""
        inputs, label, mass = next(batches)
        start = time.perf_counter()
        optimizer.zero_grad()
        score = network(inputs)
        if constraint is not None:
            score = constraint(score, label, mass)
        value = binary_cross_entropy(score, label)
        if loss is not None:
            value = value + loss(score, label, mass)
        value.backward()
        optimizer.step()
        return time.perf_counter() - start

    return step


def measure(batches: tuple[int, ...] = BATCHES, budget: float = 20.0) -> dict[int, Share]:
    """The times of all steps for each size of batch, in about ``budget`` seconds each."""
    return {batch: _measure(batch, budget) for batch in batches}


def _measure(batch: int, budget: float) -> Share:
    steps = (
        step_of(batch),
        step_of(batch, loss=MoDeLoss(order=2, monitor=False)),
        step_of(batch, constraint=MoDeConstraint(order=2, monitor=False)),
    )
    rounds: list[list[float]] = []
    end = time.perf_counter() + budget
    while len(rounds) < 10 or time.perf_counter() < end and len(rounds) < 2_000:
        rounds.append([sum(step() for _ in range(TURN)) / TURN for step in steps])
    plain, with_mode, _ = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    of_loss = statistics.median(b - a for a, b, _ in rounds)
    more = statistics.median(c - b for _, b, c in rounds)
    return Share(plain, with_mode, of_loss / with_mode, more / plain, len(rounds))


def table(measured: dict[int, Share]) -> str:
    """The result as text."""
    lines = [f"{'batch':>10} {'BCE [ms]':>10} {'BCE + MoDe [ms]':>16} {'share of MoDe':>14} {'constraint: more':>17}"]
    for batch, m in measured.items():
        times = f"{1e3 * m.plain:>10.3f} {1e3 * m.with_mode:>16.3f}"
        lines.append(f"{batch:>10,} {times} {m.share:>14.1%} {m.constraint:>17.1%}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measure()))
