"""The time that each framework adds to the call from NumPy: ``python -m bench.bindings``.

Forward and backward of MoDe(order 2), compiled where the framework compiles, less the
NumPy call; beside it the binary cross entropy of the same scores, the sum of both, and
the sum of the scores, which is what any step of the framework costs. All are timed in
turns. Each framework runs in a process of its own: TensorFlow and PyTorch's compiler do
not share one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial, reduce
from itertools import cycle
from operator import add

import libmode
import numpy as np
from numpy.typing import NDArray

from .events import number_of_sets
from .timing import interleaved, sampler

SIZES = (1_000, 10_000, 100_000)
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}

Array = NDArray[np.float32]
Sets = Sequence[tuple[Array, Array, Array]]  #: scores, labels and masses; every call has the next of them
Steps = Mapping[str, Callable[[], object]]


@dataclass(frozen=True)
class Cost:
    """Seconds of a call."""

    mode: float
    numpy: float
    step: float  # the sum of the scores
    cross_entropy: float
    both: float

    @property
    def binding(self) -> float:
        """Seconds above the call from NumPy."""
        return self.mode - self.numpy


def in_torch(sets: Sets) -> Steps:
    """Eager calls of PyTorch."""
    import torch
    from libmode.torch import mode_loss
    from torch.nn.functional import binary_cross_entropy

    tensors = [tuple(map(torch.from_numpy, events)) for events in sets]

    def step(*losses: Callable) -> Callable[[], object]:
        endless = cycle(tensors)

        def call() -> object:
            score, label, mass = next(endless)
            leaf = score.detach().requires_grad_()
            reduce(add, (loss(leaf, label, mass) for loss in losses)).backward()
            return leaf.grad

        return call

    return _steps(
        step, lambda x, label, mass: x.sum(), lambda x, label, mass: binary_cross_entropy(x, label), mode_loss
    )


def in_tensorflow(sets: Sets) -> Steps:
    """Calls in a tf.function."""
    import tensorflow as tf
    from libmode._events import Events
    from libmode._options import check
    from libmode._tensorflow.loss import core_loss

    tensors = [tuple(map(tf.constant, events)) for events in sets]

    def step(*losses: Callable) -> Callable[[], object]:
        endless = cycle(tensors)

        @tf.function
        def call(x, label, mass):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = reduce(add, (loss(x, label, mass) for loss in losses))
            return tape.gradient(loss, x)

        return lambda: call(*next(endless)).numpy()

    def entropy(x, label, mass):
        return -tf.reduce_mean(label * tf.math.log(x) + (1 - label) * tf.math.log(1 - x))

    def mode_loss(x, mass, **options):
        return core_loss(check("mode", options), Events(x, None, mass))

    return _steps(step, lambda x, label, mass: tf.reduce_sum(x), entropy, mode_loss)


def in_jax(sets: Sets) -> Steps:
    """Calls under jit."""
    import jax
    import jax.numpy as jnp
    from libmode.jax import mode_loss

    arrays = [tuple(map(jnp.asarray, events)) for events in sets]

    def step(*losses: Callable) -> Callable[[], object]:
        endless = cycle(arrays)
        call = jax.jit(jax.value_and_grad(lambda *events: reduce(add, (loss(*events) for loss in losses))))
        return lambda: jax.block_until_ready(call(*next(endless)))

    def entropy(x, label, mass):
        return -jnp.mean(label * jnp.log(x) + (1 - label) * jnp.log(1 - x))

    return _steps(step, lambda x, label, mass: jnp.sum(x), entropy, mode_loss)


def _steps(step: Callable[..., Callable[[], object]], total: Callable, entropy: Callable, mode_loss: Callable) -> Steps:
    """The calls of a framework. Its losses have scores, labels and masses."""

    def mode(x, label, mass):
        return mode_loss(x, mass, order=2)

    return {"mode": step(mode), "step": step(total), "cross_entropy": step(entropy), "both": step(entropy, mode)}


FRAMEWORKS = {"torch": in_torch, "tensorflow": in_tensorflow, "jax": in_jax}


def measure_here(framework: str, n: int, budget: float) -> Cost:
    """The times in this process, measured for about ``budget`` seconds."""
    rng = np.random.default_rng(0)
    sets = [
        tuple(
            column.astype(np.float32)
            for column in (rng.uniform(0.01, 0.99, n), rng.integers(2, size=n), 50 + 60 * rng.exponential(size=n))
        )
        for _ in range(number_of_sets(n))
    ]
    samplers = {name: sampler(call) for name, call in FRAMEWORKS[framework](sets).items()}
    samplers["numpy"] = sampler(*(partial(libmode.mode_loss_and_grad, score, mass, order=2) for score, _, mass in sets))
    timings = interleaved(samplers, budget, limit=30, title=framework)
    return Cost(**{name: timing.median for name, timing in timings.items()})


def measure(sizes: tuple[int, ...] = SIZES, budget: float = 10.0) -> dict[str, dict[int, Cost]]:
    """The times for each framework and number of events, measured for about ``budget`` seconds each."""
    costs: dict[str, dict[int, Cost]] = {}
    for framework in FRAMEWORKS:
        command = [sys.executable, "-m", "bench.bindings", "--one", framework, "--budget", str(budget), "--sizes"]
        done = subprocess.run(
            [*command, *map(str, sizes)], env=os.environ | QUIET, stdout=subprocess.PIPE, text=True, check=True
        )
        costs[framework] = {int(n): Cost(**cost) for n, cost in json.loads(done.stdout).items()}
    return costs


def table(costs: dict[str, dict[int, Cost]]) -> str:
    """The result as text."""
    titles = ("MoDe [us]", "NumPy", "binding", "any step", "BCE", "both")
    lines = [f"{'':<12}{'n':>9} {' '.join(f'{title:>10}' for title in titles)} {'MoDe / BCE':>11}"]
    for framework, by_size in costs.items():
        for n, c in by_size.items():
            times = " ".join(f"{1e6 * t:>10.0f}" for t in (c.mode, c.numpy, c.binding, c.step, c.cross_entropy, c.both))
            lines.append(f"{framework:<12}{n:>9,} {times} {c.mode / c.cross_entropy:>11.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bindings", description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--budget", type=float, default=10.0, metavar="S", help="seconds for each line of the table")
    parser.add_argument("--one", choices=FRAMEWORKS, help="in this process, as JSON")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps({n: asdict(measure_here(chosen.one, n, chosen.budget)) for n in chosen.sizes}))
    else:
        print(table(measure(tuple(chosen.sizes), chosen.budget)))


if __name__ == "__main__":
    main()
