"""Rounding errors of loss and gradient at many events: python -m bench.many_events [EVENTS...].

10^6, 10^7 and 10^8 events by default, which take 8 GB; the plain loss of order 1 in eight bins, without weights and
with weights of 31 bits, whose sums int64 holds and float64 does not. The loss is compared with that of many_events.c,
which computes J anew at every event in long double, and the gradient of 300 events, drawn and extreme ones, with
differences of J in 40 digits. Writes many_events.json into bench/results: errors in the units of docs/how-it-works.md.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import libmode
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from reference import Binned, Reference  # noqa: E402

U = 2.0**-53
EDGES = np.array([0, 0.125, 0.25, 0.5, 1, 1.5, 2, 3, 8])
OPTIONS = {"order": 1, "unbiased": False, "moments": "projection"}
BLOCK = 10**7
SAMPLED = 300


def events(n: int, weighted: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores that depend on the masses, which fall, in the order of the scores; and weights, as integers."""
    rng = np.random.default_rng(n)
    score, mass, weight = rng.random(n), np.empty(n), np.ones(n, np.int64)
    score.sort()
    for k in range(0, n, BLOCK):
        part = slice(k, k + BLOCK)
        mass[part] = np.minimum(rng.exponential(1 + 0.2 * score[part]), 8)
        if weighted:
            weight[part] = rng.integers(2**29, 2**31, len(weight[part]))
    return score, mass, weight


def bins_of(mass: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, Binned]:
    """The bin of each event, the sums of weights of the bins, and what the reference needs, in long double."""
    bins, total = np.empty(len(mass), np.uint8), np.zeros(len(EDGES) - 1, np.int64)
    x_sums = np.zeros(len(total), np.longdouble)
    for k in range(0, len(mass), BLOCK):
        part, w = mass[k : k + BLOCK], weight[k : k + BLOCK]
        own = np.minimum(np.searchsorted(EDGES, part, side="right") - 1, len(total) - 1)
        bins[k : k + BLOCK] = own
        total += sums(own, w)
        products = (part.astype(np.longdouble) / 4 - 1) * w
        x_sums += [products[own == b].sum() for b in range(len(total))]
    totals = total.astype(np.longdouble)
    return bins, total, Binned(EDGES, totals, totals, totals, np.array([np.ones(len(total)), x_sums / totals]))


def sums(bins: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The integers added up in each bin."""
    return np.array([weight[bins == b].sum() for b in range(len(EDGES) - 1)], np.int64)


def exact_loss(
    score: np.ndarray, bins: np.ndarray, weight: np.ndarray, reference: Reference, total: np.ndarray
) -> float:
    """By the program in C."""

    def long(rows: np.ndarray) -> np.ndarray:
        high = rows.astype(float)
        return np.ascontiguousarray(high.astype(np.longdouble) + (rows - high).astype(float))

    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "many_events.so"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run([*compiler, "-O2", "-shared", "-fPIC", ROOT / "bench/many_events.c", "-o", library], check=True)
        function = ctypes.CDLL(str(library)).plain_loss
    function.restype = ctypes.c_longdouble
    P, A = long(reference.P), long(reference.A)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (score, bins, weight, P, A, total)]
    return float(function(ctypes.c_int64(len(score)), *pointers[:3], len(total), len(P), *pointers[3:]))


def measure(n: int, weighted: bool) -> dict[str, float]:
    """The errors at n events."""
    score, mass, weight = events(n, weighted)
    bins, total, binned = bins_of(mass, weight)
    given = np.ldexp(weight.astype(float), -30) if weighted else None
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=given, edges=EDGES.tolist(), **OPTIONS)
    del mass, given
    reference = Reference(binned, **OPTIONS)
    off = abs(loss - exact_loss(score, bins, weight, reference, total))

    # Along the sorted scores the sums up to each chosen event are sums of integers.
    chosen = np.unique(np.append(np.random.default_rng(0).choice(n, SAMPLED), [0, n - 1, grad.argmin(), grad.argmax()]))
    below, last, worst = np.zeros(len(total), np.int64), 0, 0.0
    largest = max(
        np.abs(grad[k : k + BLOCK] / weight[k : k + BLOCK] * total[bins[k : k + BLOCK]]).max()
        for k in range(0, n, BLOCK)
    )
    for i in chosen:
        below, last = below + sums(bins[last:i], weight[last:i]), i
        up_to = below + weight[i] * (np.arange(len(below)) == bins[i])
        lower, upper = (np.array([each, each]).astype(np.longdouble) for each in (below, up_to))
        want = reference.derivative(lower, upper, bins[i], np.longdouble(weight[i]))
        unit = U * max(1 / len(below), largest) * float(weight[i]) / float(total[bins[i]])
        worst = max(worst, abs(float(want - float(grad[i]))) / unit)
    kind = "weighted" if weighted else "unweighted"
    return {"events": n, "kind": kind, "loss": float(off / (U * (score[-1] - score[0]))), "gradient": worst}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("events", nargs="*", type=float, default=[1e6, 1e7, 1e8])
    found = []
    for n in parser.parse_args().events:
        for weighted in (False, True):
            found.append(measure(round(n), weighted))
            print(found[-1], flush=True)
    (ROOT / "bench/results/many_events.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
