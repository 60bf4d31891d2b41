"""Events a second and peak memory of libmode.Accumulator: python -m bench.accumulator [EVENTS] [--weights].

10^9 events by default, in chunks of 10^6 and float32, of order 1 in 32 quantile bins and 2^20 cells of score. They are
made of a block of 10^7, whose scores and masses are shifted apart from round to round; making them is not counted.
Memory is the peak of the resident memory of the process, of which the block is a part.
"""

import argparse
import time

import numpy as np
from libmode import Accumulator

from .memory import status

CHUNK, BLOCK = 10**6, 10**7


def block(weights: bool) -> tuple[np.ndarray, ...]:
    """Scores, masses and weights, of which a tenth is negative."""
    rng = np.random.default_rng(0)
    mass = (50 + rng.exponential(60, BLOCK)).astype(np.float32)
    score = rng.beta(2, 4, BLOCK).astype(np.float32)
    weight = np.where(rng.random(BLOCK) < 0.1, -1, 1) * rng.exponential(1, BLOCK)
    return (score, mass, weight.astype(np.float32)) if weights else (score, mass)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", nargs="?", type=float, default=1e9)
    parser.add_argument("--weights", action="store_true", help="a tenth of them negative")
    given = parser.parse_args()
    score, mass, *weight = block(given.weights)
    own = status("VmRSS")
    edges = Accumulator.edges_of(np.split(mass, BLOCK // CHUNK), bins=32)
    accumulator = Accumulator(order=1, edges=edges)
    wall = processor = 0.0
    for number in range(round(given.events) // CHUNK):
        turn, start = divmod(number * CHUNK, BLOCK)
        score_of = (score[start : start + CHUNK] + np.float32(turn * 0.618034 % 1)) % np.float32(1)
        mass_of = np.roll(mass[start : start + CHUNK], turn)
        weight_of = weight[0][start : start + CHUNK] if weight else None
        begun = time.perf_counter(), time.process_time()
        accumulator.add(score_of, mass_of, weight=weight_of)
        wall, processor = wall + time.perf_counter() - begun[0], processor + time.process_time() - begun[1]
    begun = time.perf_counter(), time.process_time()
    found = accumulator.evaluate()
    ended = time.perf_counter() - begun[0], time.process_time() - begun[1]
    n = accumulator.added
    print(f"{n:,} events: {n / wall:.3g} a second, {n / processor:.3g} a second of one processor")
    print(f"evaluate: {ended[0]:.1f} s, {ended[1]:.1f} s of processors; {found}")
    print(
        f"peak memory {status('VmHWM') / 2**20:.0f} MiB, of which the sums {accumulator.nbytes / 2**20:.0f}, "
        f"and Python, NumPy and the block of events {own / 2**20:.0f}"
    )


if __name__ == "__main__":
    main()
