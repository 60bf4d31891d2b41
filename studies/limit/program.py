"""The best of all selections with an allowed response: a linear or a second-order cone program over events.

Each event gets a share 0 <= s <= 1 of being selected. Efficiencies are sums over events: a for signal, b in 20 bins of
mass. Few events have a share between 0 and 1. Multipliers decide on all others: an event is selected where

    p_S(z) > sum_k multiplier_k p_B(z | bin k)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from .densities import Sample

MAX_SLOPE = 0.5
ROUNDING = 1e-6  # of the solution of a cone program, relative
Array = NDArray[Any]


@dataclass(frozen=True)
class Response:
    """Conditions on b: ``least @ b >= 0``, and ``rest @ b`` has at most the length of residual * mean(b) * sqrt(20).

    ``rest`` leaves over what no polynomial of the order describes, as spectra.residual does.
    """

    rest: Array
    least: Array


def responses(kind: str, terms: Array) -> list[Response]:
    """What a kind of constraint allows, by programs of which the best counts.

    kind : an order; "2, monotonic"; or "1, max_slope 0.5", a line with a slope of at most half of its mean
    terms : (20, 3), of a Sample
    """
    order = int(kind[0])
    basis = terms[:, : order + 1]
    rest = np.linalg.svd(basis.T)[2][order + 1 :]
    c = np.linalg.pinv(basis)  # c @ b: coefficients of the polynomial of least squares
    if kind == "2, monotonic":
        rising = np.stack([c[1] - 3 * c[2], c[1] + 3 * c[2]])  # slopes at both ends of the range
        return [Response(rest, rising), Response(rest, -rising)]
    if kind == "1, max_slope 0.5":
        return [Response(rest, np.stack([MAX_SLOPE * c[0] - c[1], MAX_SLOPE * c[0] + c[1]]))]
    return [Response(rest, np.empty((0, len(terms))))]


@dataclass(frozen=True)
class Cut:
    """A working point: the signal efficiency, or the background efficiency, is this."""

    of_signal: bool
    efficiency: float


@dataclass(frozen=True)
class Selection:
    """The best selection.

    signal, background : its efficiencies
    efficiency : (20,), of background in each bin
    multipliers : (20,), of p_B in each bin, where p_S has 1
    price : background for a bit more signal; of a cut on background the reverse
    """

    signal: float
    background: float
    efficiency: Array
    multipliers: Array
    price: float


def unconstrained(sample: Sample, cut: Cut) -> Selection:
    """What a likelihood ratio selects."""
    total = sample.background @ sample.share
    return _ordered(sample, cut, sample.signal / np.maximum(total, 1e-300), sample.share)


def _ordered(sample: Sample, cut: Cut, ratio: Array, share: Array) -> Selection:
    """Selects by a ratio of weights from above, until the cut is full."""
    order = np.argsort(-ratio)
    filled = sample.signal if cut.of_signal else sample.background @ share
    sums = np.cumsum(filled[order])
    last = int(np.searchsorted(sums, cut.efficiency))
    shares = np.zeros(len(order))
    shares[order[:last]] = 1
    at = order[last]
    shares[at] = 1 - (sums[last] - cut.efficiency) / filled[at]
    efficiency = shares @ sample.background
    threshold = ratio[at]
    price = 1 / threshold if cut.of_signal else threshold
    return Selection(shares @ sample.signal, efficiency @ share, efficiency, share * threshold, price)


def best(sample: Sample, kind: str, residual: float, cut: Cut) -> Selection:
    """The best selection of a kind, see :func:`responses`; ``residual`` as spectra.residual measures it."""
    free = unconstrained(sample, cut)
    allowed = responses(kind, sample.terms)
    if any(_is_allowed(free.efficiency, response, residual) for response in allowed):
        return free
    found = [_program(sample, response, residual, cut, free.background) for response in allowed]
    return min(found, key=lambda one: one.background if cut.of_signal else -one.signal)


def bound(sample: Sample, found: Selection, cut: Cut) -> float:
    """What the multipliers of a selection prove with other events: no more signal, or no less background, is possible.

    For any multipliers l that a program allows, b of an allowed selection is at least price * (a - sum_i s_i r_i), with
    r_i = p_S - sum_k l_k p_B(bin k) of event i, and s_i = 1 where r_i > 0 makes the sum largest. The reverse holds
    for signal. (Duality; a sample's own optimum has no such proof, since its shares fit its chances.)
    """
    ratio = sample.signal - sample.background @ found.multipliers
    most = float(ratio[ratio > 0].sum())
    return found.price * (cut.efficiency - most) if cut.of_signal else most + found.price * cut.efficiency


def _is_allowed(b: Array, response: Response, residual: float) -> bool:
    off = np.linalg.norm(response.rest @ b) / np.sqrt(len(b)) / b.mean()
    return bool(off <= residual and np.all(response.least @ b >= 0))


def residual_of(b: Array, kind: str, terms: Array) -> float:
    """The residual of efficiencies, as spectra.residual measures it."""
    rest = responses(kind, terms)[0].rest
    return float(np.linalg.norm(rest @ b) / np.sqrt(len(b)) / b.mean())


def _program(sample: Sample, response: Response, residual: float, cut: Cut, background: float) -> Selection:
    """The program; its variables are the shares of events and, in a unit that solvers like, the efficiencies b."""
    (n, bins), unit = sample.background.shape, 1 / background

    def of_b(rows: Array) -> Any:
        return sparse.hstack([sparse.csr_matrix((len(rows), n)), sparse.csr_matrix(rows)], "csr")

    def of_shares(rows: Array) -> Any:
        return sparse.hstack([sparse.csr_matrix(rows), sparse.csr_matrix((len(rows), bins))], "csr")

    definition = of_b(np.eye(bins)) - of_shares(unit * sample.background.T)
    if cut.of_signal:
        filled, value, cost = of_shares(sample.signal[None]), cut.efficiency, np.r_[np.zeros(n), sample.share]
    else:
        filled, value, cost = of_b(sample.share[None]), unit * cut.efficiency, np.r_[-sample.signal, np.zeros(bins)]
    rows = sparse.vstack([definition, filled], "csr"), of_b(response.least), of_b(response.rest)
    x, dual = (_linear if residual == 0 else _cone)(cost, *rows, value, residual)
    b, multipliers, price = x[n:] / unit, unit * dual[:bins], dual[bins]
    if cut.of_signal:
        multipliers, price = multipliers / price, price / unit
    else:
        price = -unit * price
    return Selection(float(x[:n] @ sample.signal), float(b @ sample.share), b, multipliers, float(price))


def _linear(cost: Array, equal: Any, least: Any, rest: Any, value: float, _: float) -> tuple[Array, Array]:
    """The solution, and the multipliers of ``equal @ x = (0, ..., 0, value)``."""
    bins = equal.shape[0] - 1
    bounds = [(0, 1)] * (len(cost) - bins) + [(None, None)] * bins
    above = (-least, np.zeros(least.shape[0])) if least.shape[0] else (None, None)
    right = np.r_[np.zeros(bins), value, np.zeros(rest.shape[0])]
    found = linprog(cost, *above, sparse.vstack([equal, rest], "csr"), right, bounds, method="highs")
    if found.status != 0:
        raise RuntimeError(f"the linear program has no solution: {found.message}")
    return found.x, found.eqlin.marginals


def _cone(cost: Array, equal: Any, least: Any, rest: Any, value: float, residual: float) -> tuple[Array, Array]:
    """The same, where ``rest @ x`` may have a length."""
    size, bins = len(cost), equal.shape[0] - 1
    n = size - bins
    shares = sparse.eye(n, size, format="csr")
    length = sparse.csr_matrix(np.r_[np.zeros(n), np.full(bins, residual / np.sqrt(bins))])
    rows = sparse.vstack([equal, shares, -shares, -least, -length, -rest], "csc")
    right = np.r_[np.zeros(bins), value, np.ones(n), np.zeros(n + least.shape[0] + 1 + rest.shape[0])]
    cones = [
        clarabel.ZeroConeT(bins + 1),
        clarabel.NonnegativeConeT(2 * n + least.shape[0]),
        clarabel.SecondOrderConeT(1 + rest.shape[0]),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ROUNDING
    found = clarabel.DefaultSolver(sparse.csc_matrix((size, size)), cost, rows, right, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):  # the latter to 1e-4
        raise RuntimeError(f"the cone program has no solution: {found.status}")
    return np.array(found.x), -np.array(found.z[: bins + 1])
