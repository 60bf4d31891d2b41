"""The hess of the loss, for trees: its bound against second differences of the loss, and against densities known in closed form."""

import libmode
import numpy as np
import pytest
from libmode import mode_evaluate

STEP = 1 / 16  # the default smoothing


def sample(seed, n, dependent=True):
    """Scores in (0, 1) that depend on a falling mass, or not; with the mass as x in [0, 1]."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    bend = x if dependent else 0 * x
    return rng, rng.beta(2 + 3 * bend, 4 - 2 * bend), 50 - 60 * np.log(1 - 0.95 * x), x


def bent(score, mass, v, **options):
    """The second difference of the loss along v; scores may leave the range, which then reaches further."""

    def loss(t):
        return libmode.mode_loss(score + t * v, mass, **options, score_range=(-1, 2))

    return loss(1) + loss(-1) - 2 * loss(0)


def directions(rng, score, x):
    """Smooth functions of score, mass and a feature, of rms 1; and those of the mass alone that bend most."""
    feature = rng.normal(size=len(x))
    for _ in range(3):
        terms = (
            rng.normal()
            * np.cos(rng.normal() * 6 * score + rng.normal() * 6 * x + rng.normal() * 3 * (feature > 0) + phase)
            for phase in rng.uniform(0, 6, 4)
        )
        v = sum(terms)
        yield v / np.sqrt(np.mean(v**2))
    for parts in (2, 3, 4, 8):
        yield 0.5 * (-1.0) ** np.floor(parts * x)  # neighbors move by 1 from each other


CASES = {
    "order 0": {"order": 0},
    "order 2": {"order": 2},
    "quadrature": {"moments": "quadrature", "order": 1},
    "penalty": {"slope_penalty": 5.0, "order": 1},
    "negative": {"weighted": 0.15, "order": 1},
    "labels": {"label": 3, "background_label": [0, 2], "order": 1},
    "categories": {"category": 3, "order": 1},
    "one by one": {"variables": 2, "order": 1},
    "joint": {"variables": 2, "order": 1, "joint": True},
}


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_hess_bounds_what_moves_of_many_events_bend(name, unbiased):
    n = 100_000
    rng, score, mass, x = sample(1, n)
    options = CASES[name] | {"unbiased": unbiased}
    weighted, variables = options.pop("weighted", None), options.pop("variables", 1)
    sign = np.ones(n)
    if weighted is not None:
        sign = np.where(rng.random(n) < weighted, -1, 1)
        options["weight"] = sign * rng.uniform(0.5, 1.5, n)
    for key in ("label", "category"):
        if key in options:
            options[key] = rng.integers(0, options[key], n)
    if variables == 2:
        mass = np.stack([mass, rng.normal(score)], axis=1)
    hess = mode_evaluate(score, mass, grad=False, hess=True, **options).hess
    largest = 0
    for v in directions(rng, score, x):
        for signed in (v, v * sign):
            v = STEP * signed
            share = bent(score, mass, v, **options) / np.sum(hess * v**2)
            assert share < 1.03
            largest = max(largest, share)
    assert largest > 0.2  # some come near it
