"""At millions of events loss and gradient keep their digits: compared with J recounted in extended precision."""

import golden
import libmode
import numpy as np
import pytest
from oracle import Oracle

SAMPLED = 200


def spread(rng, n):
    return rng.random(n)


def tied(rng, n):
    """In float32 one score in 17 occurs twice."""
    return rng.random(n).astype(np.float32).astype(float)


def squeezed(rng, n):
    """Scores that differ in the fourth digit, as those of a network that learns to be flat."""
    return 0.5 + 0.001 * (rng.random(n) - 0.5)


def half_squeezed_half_zero(rng, n):
    """The same, behind a sigmoid that was saturated for half the events."""
    return np.where(rng.random(n) < 0.5, 0.0, squeezed(rng, n))


PLAIN = dict(order=2, moments="quadrature", unbiased=False)
BOUNDS = dict(order=2, moments="projection", unbiased=False, max_slope=0.3, monotonic=True)
ALL = dict(order=2, max_slope=0.5, monotonic=True, unbiased=True, moments="projection", slope_penalty=0.3)
SETS = {
    "spread": (1, spread, PLAIN),
    "signed weights, all": (1, spread, ALL),
    "ties, all": (1, tied, ALL | dict(slope_of="selected")),
    "squeezed": (4, squeezed, PLAIN | dict(order=1)),
    "squeezed, unbiased": (4, half_squeezed_half_zero, PLAIN | dict(order=0, unbiased=True)),
    "squeezed, bounds": (4, half_squeezed_half_zero, BOUNDS),
}


@pytest.mark.parametrize("name", SETS)
def test_loss_and_gradient_of_millions_keep_nine_digits(name):
    millions, scores, options = SETS[name]
    n, rng = millions * 1_000_000, np.random.default_rng(4)
    score, mass, weight = scores(rng, n), rng.random(n), None
    if "weights" in name:
        weight = rng.integers(1, 33, n) / 16 * np.where(rng.random(n) < 0.1, -1, 1)
    edges = [0, 0.3, 0.6, 0.8, 1] if "squeezed" in name else np.linspace(0, 1, 13).tolist()
    chosen = np.append(rng.choice(n, SAMPLED, replace=False), [score.argmin(), score.argmax()])
    want = Oracle(score, mass, weight, edges, **options).evaluate(chosen)
    loss, grad = libmode.mode_loss_and_grad(score, mass, weight=weight, edges=edges, **options)
    # Independent events have a loss near 0, whose scale is u R M of docs/how-it-works.md.
    golden.assert_close(loss, want.loss, 1e-9, floor=0 if "squeezed" in name else 2.0**-53)
    # The oracle leaves out (as NaN) the tied events that were not chosen.
    golden.assert_close(grad[chosen], want.gradient[chosen], 0, floor=1e-9 * np.nanmax(np.abs(want.gradient)))
