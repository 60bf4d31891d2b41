"""How far loss and gradient are from exact ones, in the units of docs/how-it-works.md.

Exact is what oracle.py finds from the definition with 64 bits of mantissa, and reference.py with 40 digits. Where
numbers are at the ends of what float64 holds, the oracle is given them times a power of 2, which changes no digit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import libmode
import numpy as np
from oracle import Oracle

U = 2.0**-53  # the rounding of float64
U32 = 2.0**-24  # the rounding of float32, to which the gradient of float32 scores is rounded at the end
SMALLEST = 2.0**-1074
CLEAR = 1e-6  # of events with a smaller |e_i| the oracle's differences of J have too few digits


class Events(NamedTuple):
    """The arguments of a call. ``powers`` of 2 are what the oracle multiplies scores, masses and weights by."""

    score: np.ndarray
    mass: np.ndarray
    weight: np.ndarray | None
    edges: np.ndarray
    options: dict[str, Any]
    powers: tuple[int, int, int] = (0, 0, 0)


class Errors(NamedTuple):
    """What is measured: the errors in units of their bounds, without the constants C."""

    loss: float
    gradient: float


def errors(events: Events) -> Errors:
    """The error of the loss, and the largest of the gradient's elements.

    In units of u kappa (R M + |plain loss| + |bias|) and of u kappa |e_i| max(scale, max_j |g_j/e_j|): docs/how-it-works.md.
    """
    score, mass, weight, edges, options, powers = events
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, edges=edges.tolist(), **options)
    scaled = [None if a is None else np.ldexp(a.astype(float), k) for a, k in zip(events[:3], powers, strict=True)]
    ends = options.get("score_range", (0, 1))
    ends = None if ends is None else tuple(np.ldexp(np.array(ends, dtype=np.longdouble), powers[0]))
    oracle = Oracle(*scaled, np.ldexp(edges, powers[1]), **{"moments": "projection"} | options | {"score_range": ends})
    want = oracle.evaluate()

    used = scaled[0][oracle.inside].astype(np.longdouble)
    w, bins = oracle.weight[oracle.inside], oracle.bins[oracle.inside]
    absolute = np.array([np.abs(w[bins == b]).sum() for b in range(len(oracle.reference.totals))])
    kappa = (absolute / oracle.reference.totals).max()
    off = abs(np.ldexp(np.longdouble(loss), powers[0]) - want.loss)
    spare = np.ldexp(len(score) * np.longdouble(SMALLEST), powers[0]) / 256
    size = (used.max() - used.min()) * largest_square(oracle, used, bins, w) + abs(want.loss + want.removed)
    of_loss = max(off - spare, 0) / (U * kappa * (size + abs(want.removed)))

    e = np.abs(w) / oracle.reference.totals[bins]
    exact, got = want.gradient[oracle.inside], grad[oracle.inside].astype(np.longdouble)
    clear = e > CLEAR
    steepest = max(oracle.reference.scale, (np.abs(exact)[clear] / e[clear]).max())
    allowed = U32 * np.abs(exact) if grad.dtype == np.float32 else 0 * e
    of_gradient = np.max((np.abs(got - exact) - allowed)[clear] / (U * kappa * e[clear] * steepest))
    return Errors(float(of_loss), float(of_gradient))


def largest_square(oracle: Oracle, score, bins, weight) -> np.longdouble:
    """M: the largest over the scores of the sum over the bins of F_b^2, times the factor of ``reduction``; 1 at least."""
    if (weight >= 0).all():
        return np.longdouble(1)
    order, rows = np.argsort(score, kind="stable"), np.zeros((len(score), len(oracle.reference.totals)))
    rows[np.arange(len(score)), bins[order]] = weight[order] / oracle.reference.totals[bins[order]]
    return max(np.longdouble(1), (np.cumsum(rows, axis=0) ** 2).sum(axis=1).max() * oracle.reference.scale)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


EDGES = np.array([0, 0.125, 0.25, 0.5, 1, 1.5, 2, 8])
PLAIN = [{"order": 0}, {"order": 1}, {"order": 2}, {"order": 3}, {"order": 2, "moments": "quadrature"}]
LINEAR = [options | {"unbiased": unbiased} for options in PLAIN for unbiased in (False, True)]
BOUNDS = [
    bounds | {"unbiased": unbiased}
    for bounds in (
        {"order": 1, "max_slope": 0.3},
        {"order": 2, "monotonic": True},
        {"order": 2, "max_slope": 0.3, "monotonic": True},
        {"order": 3, "max_slope": 1.0, "slope_of": "selected", "monotonic": True, "moments": "quadrature"},
    )
    for unbiased in (False, True)
]
FEW, FEW_BOUNDS = LINEAR[3:5], BOUNDS[4:6]
# Of bins that cancel, which ``unbiased`` refuses.
FEW_BIASED, FEW_BIASED_BOUNDS = ([options | {"unbiased": False} for options in few] for few in (FEW, FEW_BOUNDS))


def masses(rng: np.random.Generator, n: int) -> np.ndarray:
    """Falling, in multiples of 1/1024."""
    return np.minimum(np.ceil(rng.exponential(size=n) * 1024) / 1024, 8)


def ordinary(options: dict[str, Any], rng: np.random.Generator, n: int) -> Events:
    mass = masses(rng, n)
    return Events(sigmoid(rng.normal(size=n) + 0.3 * mass), mass, None, EDGES, options)


#: What replaces some of ordinary events.
Change = Callable[[Events, np.random.Generator], dict[str, Any]]


def signs(events: Events, rng: np.random.Generator) -> np.ndarray:
    n = len(events.mass)
    return rng.lognormal(size=n) * np.where(rng.random(n) < 0.1, -1, 1)


def saturated(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    """Half of the scores behind a sigmoid at its ends, in ties of thousands."""
    ends = [0, 1e-300, SMALLEST, 1e-16, 2.0**-53, 1 - 2.0**-53, 1 - 1e-16, 1 - 1e-10, 1]
    n = len(events.mass)
    return {"score": np.where(rng.random(n) < 0.5, rng.choice(ends, n), sigmoid(40 * rng.normal(size=n)))}


def half_zero(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    """Scores that differ in the fourth digit, behind a sigmoid that was saturated for half the events."""
    n = len(events.mass)
    return {"score": np.where(rng.random(n) < 0.5, 0.0, 0.5 + 0.001 * (rng.random(n) - 0.5))}


def decades(events: Events, rng: np.random.Generator) -> np.ndarray:
    """Numbers over 300 decades, of which a few matter."""
    return 10.0 ** rng.uniform(-300, 0, len(events.mass))


def denormal_scores(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    """Multiples of the smallest number, integrated from the lowest to the highest."""
    score = np.floor(events.score * 2**45) * SMALLEST
    return {"score": score, "options": events.options | {"score_range": None}, "powers": (1074, 0, 0)}


def decades_of_masses(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    """Over 300 decades: seen from the widest bin, all other masses are at one place."""
    edges = np.array([0, 1e-100, 1e-50, 1, 1e50, 1e100, 1e149, 1e150])
    return {"mass": 10.0 ** rng.uniform(-150, 150, len(events.mass)), "edges": edges}


def scaled_masses(power: int, shift: float) -> Change:
    """Masses and edges times a power of 2."""
    return lambda events, rng: {
        "mass": np.ldexp(events.mass - shift, power), "edges": np.ldexp(EDGES - shift, power), "powers": (0, -power, 0),
    }  # fmt: skip


def canceling(kappa: float) -> Change:
    """Weights of which the sum in each bin is so many times smaller than that of their absolute values."""

    def change(events: Events, rng: np.random.Generator) -> dict[str, Any]:
        weight, bins = rng.lognormal(size=len(events.mass)), np.searchsorted(EDGES[:-1], events.mass, side="right") - 1
        for b in range(len(EDGES) - 1):
            mine = np.flatnonzero(bins == b)
            plus, minus = mine[::2], mine[1::2]
            weight[minus] *= -weight[plus].sum() / weight[minus].sum() * (1 - 2 / kappa)
        return {"weight": weight}

    return change


def high_order(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    bins = 64 if events.options.get("moments") == "quadrature" else 32
    mass = rng.integers(0, 2**20, len(events.mass)) / 2**20
    return {"score": sigmoid(rng.normal(size=len(mass)) + mass), "mass": mass, "edges": np.linspace(0, 1, bins + 1)}


def single(events: Events, rng: np.random.Generator) -> dict[str, Any]:
    weight = (rng.random(len(events.mass)) + 0.5).astype(np.float32)
    return {"score": events.score.astype(np.float32), "mass": events.mass.astype(np.float32), "weight": weight}


class Row(NamedTuple):
    """What is changed of ordinary events, the options it is tried with, the bounds of the errors, the number of events."""

    change: Change
    options: list[dict[str, Any]]
    of_loss: float
    of_gradient: float
    n: int = 10_000


SIXTEEN = [{"order": 16, "unbiased": True}, {"order": 16, "unbiased": False, "moments": "quadrature"}]
NOTHING: Change = lambda events, rng: {}  # noqa: E731
SIGNED: Change = lambda events, rng: {"weight": signs(events, rng)}  # noqa: E731
WIDE: Change = lambda events, rng: {"score": decades(events, rng)}  # noqa: E731
TINY: Change = lambda e, rng: {"weight": rng.integers(-10, 100, len(e.mass)) * SMALLEST, "powers": (0, 0, 1074)}  # noqa: E731
HUGE: Change = lambda e, rng: {"weight": np.ldexp(signs(e, rng) / 64, 1020), "powers": (0, 0, -1020)}  # noqa: E731
ROWS = {
    "any": Row(NOTHING, LINEAR, 50, 5_000),
    "any, bounds": Row(NOTHING, BOUNDS, 500, 500_000),
    "weights of both signs": Row(SIGNED, LINEAR, 5, 500),
    "weights of both signs, bounds": Row(SIGNED, BOUNDS, 100, 1_000_000),
    "saturated sigmoids": Row(saturated, FEW, 100, 5_000),
    "saturated sigmoids, bounds": Row(saturated, FEW_BOUNDS, 200, 1_000_000),
    "scores over 300 decades": Row(WIDE, FEW, 300, 5_000),
    "scores over 300 decades, bounds": Row(WIDE, FEW_BOUNDS, 1_000, 500_000),
    "denormal scores": Row(denormal_scores, FEW, 1, 5_000),
    "denormal weights of both signs": Row(TINY, FEW, 10, 1_000),
    "weights up to 1e307": Row(HUGE, FEW, 5, 500),
    "weights over 300 decades": Row(lambda events, rng: {"weight": decades(events, rng)}, FEW, 10, 10_000),
    "denormal masses": Row(scaled_masses(-1064, 0), FEW, 50, 5_000),
    "masses of +-4e307": Row(scaled_masses(1020, 4), FEW, 50, 5_000),
    "masses over 300 decades": Row(decades_of_masses, FEW, 50, 5_000),
    "weights that cancel, kappa 1e2": Row(canceling(1e2), FEW_BIASED, 1, 50),
    "weights that cancel, kappa 1e8": Row(canceling(1e8), FEW_BIASED, 1, 10),
    "weights that cancel, kappa 1e5, bounds": Row(canceling(1e5), FEW_BIASED_BOUNDS, 1, 2_000),
    "order 16": Row(high_order, SIXTEEN, 20, 2_000, 5_000),
    "float32": Row(single, FEW, 5, 500),
    "1,000,000 events": Row(NOTHING, FEW[:1], 1, 5_000, 1_000_000),
    "1,000,000 events, weights of both signs, bounds": Row(SIGNED, FEW_BOUNDS[:1], 100, 1_000_000, 1_000_000),
    "1,000,000 events, half of score 0": Row(half_zero, FEW[1:], 1, 5_000, 1_000_000),
    "1,000,000 events, half of score 0, bounds": Row(half_zero, FEW_BOUNDS[1:], 200, 1_000_000, 1_000_000),
}


def worst(name: str) -> Errors:
    """The largest errors of a row, over its options."""
    row, found = ROWS[name], []
    for k, options in enumerate(row.options):
        rng = np.random.default_rng(k)
        events = ordinary(options, rng, row.n)
        found.append(errors(events._replace(**row.change(events, rng))))
    return Errors(*(max(each) for each in zip(*found, strict=True)))
