"""Loss and gradient against J recounted at every score, for every option and every kind of sample.

The golden cases have 80 events at most. What goes wrong only where thousands of
small steps follow one another, as rounding that is carried along does, shows here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import golden
import libmode
import numpy as np
import oracle
import pytest
from oracle import Oracle
from reference import quantile_edges

TOLERANCE = 1e-9
# ``unbiased`` subtracts one integral from another that is nearly equal to it for
# independent score and mass; what the difference can keep are digits of these.
# What sets the scale is u R M of docs/how-it-works.md, the rounding of J times the range of the scores: of 300 samples one,
# with slope_penalty and scores in a third of a wide score_range, has a plain loss that is off by 3e-15 and 1.4e-11 of these.
OF_WHAT_IS_REMOVED = 1e-12


class Sample(NamedTuple):
    """Events of a test, and what the loss is asked of them."""

    n: int
    scores: str
    masses: str
    weights: str
    binning: str
    bins: int
    dtype: type
    threads: int
    options: dict[str, Any]

    def __str__(self) -> str:
        words = [f"{name}={value}" for name, value in self.options.items()]
        words += [f"{self.n} {self.scores}", self.masses, self.weights, f"{self.bins} {self.binning}"]
        return " ".join([*words, self.dtype.__name__, f"{self.threads} threads"]).replace("/", "")

    def events(self, seed: int):
        """Score, mass and weight in the type asked for, and the edges of the bins."""
        rng = np.random.default_rng(seed)
        mass = {"flat": rng.random, "falling": rng.exponential}[self.masses](size=self.n)
        position = mass.argsort().argsort() / self.n  # from 0 to 1 along the masses
        score = SCORES[self.scores](rng.normal(size=self.n), position)
        weight = WEIGHTS[self.weights](rng, self.n)
        score, mass = score.astype(self.dtype), mass.astype(self.dtype)
        weight = None if weight is None else weight.astype(self.dtype)
        if self.binning == "quantile":
            return score, mass, weight, quantile_edges(mass, self.bins), dict(bins=self.bins, binning="quantile")
        # The ends leave events out, and no bin empty; the type of the masses has them, so that they are not rounded.
        low, high = np.quantile(mass, [0.02, 0.9]).astype(self.dtype).astype(float)
        if self.binning == "uniform":
            given = dict(bins=self.bins, binning="uniform", mass_range=(low, high))
            return score, mass, weight, np.linspace(low, high, self.bins + 1), given
        edges = low + (high - low) * np.linspace(0, 1, self.bins + 1) ** 1.5  # widths that differ
        return score, mass, weight, edges, dict(edges=edges.tolist())


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SCORES = {
    "independent": lambda noise, x: sigmoid(noise),
    "weakly sculpted": lambda noise, x: sigmoid(noise + 0.3 * (x - 0.5)),
    "strongly sculpted": lambda noise, x: sigmoid(6 * (x - 0.5) - noise),
    "nearly the mass": lambda noise, x: sigmoid(5 * (0.5 - x) + 0.01 * noise),
    "of the mass's square": lambda noise, x: sigmoid(noise + 9 * (x - 0.4) ** 2),
    "squeezed": lambda noise, x: 0.5 + 0.001 * (sigmoid(noise + 2 * x) - 0.5),
    "saturated": lambda noise, x: np.clip(3 * sigmoid(noise + x) - 1, 0, 1),  # a third exactly 0, a third 1
    "tied": lambda noise, x: np.round(64 * sigmoid(noise + x)) / 64,
}
WEIGHTS = {
    "unweighted": lambda rng, n: None,
    "weights over decades": lambda rng, n: rng.lognormal(sigma=2, size=n),
    "signed weights": lambda rng, n: rng.lognormal(sigma=0.5, size=n) * np.where(rng.random(n) < 0.1, -1, 1),
}
BINNINGS = "quantile", "uniform", "edges"


def valid(options: dict[str, Any], bins: int) -> dict[str, Any]:
    """These options without those that their order does not know, and an order that leaves residuals."""
    order = options["order"] = min(options["order"], bins - 2)
    known = {"max_slope": 1, "slope_of": 1, "slope_penalty": 1, "monotonic": 2}
    return {name: value for name, value in options.items() if order >= known.get(name, 0)}


def drawn(count: int) -> list[Sample]:
    """Anything with anything, by a fixed seed."""
    rng = np.random.default_rng(17)

    def one(choices):
        return choices[rng.integers(len(choices))]

    found = []
    for _ in range(count):
        bins = one([3, 5, 11, 16, 32, 64])
        options = dict(
            order=one([0, 1, 1, 2, 2, 3, 4, 5, 8]),
            moments=one(["quadrature", "projection"]),
            unbiased=one([False, True]),
            max_slope=one([None, *np.geomspace(1e-3, 10, 9).tolist()]),
            slope_of=one(["rejected", "selected"]),
            monotonic=one([False, True]),
            slope_penalty=one([0.0, 0.0, 2.0]),
            reduction=one(["mean", "sum"]),
            score_range=one([(0, 1), (-0.5, 2), None]),
        )
        arrays = [one(list(SCORES)), one(["flat", "falling"]), one(list(WEIGHTS))]
        rest = [one(BINNINGS), bins, one([np.float64, np.float32]), one([1, 2, 5])]
        n = int(max(3000, 200 * bins) * 10 ** rng.random())
        found.append(Sample(n, *arrays, *rest, valid(options, bins)))
    return found


def large() -> list[Sample]:
    """At 100,000 events, with all bounds, what is carried along is carried farthest."""
    every = dict(order=2, unbiased=False, max_slope=0.1, monotonic=True)
    chosen = [
        ("strongly sculpted", "unweighted", dict(order=1, moments="projection", unbiased=False, max_slope=0.1)),
        ("strongly sculpted", "weights over decades", every | dict(moments="projection", unbiased=True)),
        ("weakly sculpted", "unweighted", every | dict(moments="quadrature", unbiased=True)),
        ("squeezed", "signed weights", every | dict(moments="projection", slope_of="selected", max_slope=1e-3)),
        ("saturated", "unweighted", every | dict(moments="projection", order=4, max_slope=10.0)),
        ("independent", "unweighted", dict(order=5, moments="projection", unbiased=True)),
    ]
    return [
        Sample(100_000, scores, "falling", weights, "quantile", 32, np.float64, 1 + i % 2, options)
        for i, (scores, weights, options) in enumerate(chosen)
    ]


SAMPLES = drawn(200) + large()


def agrees(got, oracle: Oracle, dtype) -> None:
    """Compares a loss and a gradient of this type with the oracle's."""
    (loss, gradient), want = got, oracle.evaluate()
    assert abs(loss - want.loss) <= max(TOLERANCE * abs(want.loss), OF_WHAT_IS_REMOVED * abs(want.removed)), (
        f"loss: got {loss!r}, want {want.loss!r}; unbiased takes {want.removed!r} away"
    )
    assert gradient.dtype == dtype
    largest = np.abs(want.gradient).max()
    own_rounding = (0 if dtype == np.float64 else 2.0**-24) * np.abs(want.gradient)
    allowed = TOLERANCE * largest + own_rounding
    error = np.abs(gradient - want.gradient)
    worst = int(np.argmax(error - allowed))
    assert error[worst] <= allowed[worst], (
        f"element {worst}: got {gradient[worst]!r}, want {want.gradient[worst]!r}: "
        f"off by {float(error[worst] / largest):.3g} of the largest element"
    )


@pytest.mark.parametrize("table", [1, 40, 10_000])
@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case.name)
def test_the_oracle_finds_the_golden_losses_and_gradients_however_it_divides_its_tables(monkeypatch, case, table):
    monkeypatch.setattr(oracle, "TABLE", table)
    binning = {name: case.options[name] for name in ("bins", "binning", "edges", "mass_range")}
    options = {name: value for name, value in case.options.items() if name not in binning}
    edges = binning["edges"]
    if binning["binning"] == "uniform":
        edges = np.linspace(*binning["mass_range"], binning["bins"] + 1)
    elif binning["binning"] == "quantile":
        edges = quantile_edges(case.mass, binning["bins"], binning["mass_range"])
    found = Oracle(case.score, case.mass, case.weight, edges, **options).evaluate()
    golden.assert_close(found.loss, case.loss, 1e-13)
    golden.assert_close(found.gradient, case.grad, 1e-13)


@pytest.mark.parametrize("index", range(len(SAMPLES)), ids=lambda index: str(SAMPLES[index]))
def test_loss_and_gradient_are_those_of_J_recounted_at_every_score(threads, index):
    sample = SAMPLES[index]
    score, mass, weight, edges, binning = sample.events(index)
    threads(sample.threads)
    got = libmode.mode_loss_and_grad(score, mass, weight=weight, **binning, **sample.options)
    agrees(got, Oracle(score, mass, weight, edges, **sample.options), sample.dtype)
