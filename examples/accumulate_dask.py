"""The loss of events that many processes hold, as a map and a reduction of Dask: python accumulate_dask.py

Each task makes an accumulator of its part of the events, here of made-up ones in place of a file, and the
accumulators are added two by two. The result does not depend on which worker does what, to the last bit.
"""

import operator

import dask.bag
import numpy as np
from dask.distributed import Client, LocalCluster
from libmode import Accumulator

PARTS, EVENTS = 8, 100_000  # of each part
EDGES = np.linspace(50, 250, 21)  # known beforehand; examples/accumulate.py finds them in a first pass


def part(number):
    """The sums of one part."""
    rng = np.random.default_rng(number)
    mass = rng.uniform(50, 250, EVENTS)
    score = 1 / (1 + np.exp(-rng.normal(0.004 * mass)))
    accumulator = Accumulator(order=1, edges=EDGES, scores=2**16)  # of 2^20 scores each part has 176 MiB
    accumulator.add(score, mass)
    return accumulator


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        total = dask.bag.from_sequence(range(PARTS), npartitions=PARTS).map(part).fold(operator.add).compute()
    alone = part(0)
    for number in range(1, PARTS):
        alone.merge(part(number))
    found = total.evaluate()
    print(f"{total.added} events of {PARTS} parts")
    print(f"loss {found.loss:.3e}, known to {found.error:.0e}; expected of the plain loss {found.bias:.1e}")
    print(f"of one process {alone.loss():.3e}, {'the same' if alone.evaluate() == found else 'another'}")


if __name__ == "__main__":
    main()
