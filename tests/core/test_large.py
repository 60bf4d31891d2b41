"""At millions of events loss and gradient keep their digits: compared with J recounted in extended precision."""

import golden
import libmode
import numpy as np
import pytest
from oracle import Oracle
from reference import Binned, Reference, bin_of

N = 1_000_000
SAMPLED = 1_000

PLAIN = dict(order=2, moments="quadrature", unbiased=False)
ALL = dict(order=2, max_slope=0.5, monotonic=True, unbiased=True, moments="projection", slope_penalty=0.3)
SETS = {
    "order 2": PLAIN,
    "projection": PLAIN | dict(moments="projection"),
    "max slope": PLAIN | dict(max_slope=0.5),
    "monotonic": PLAIN | dict(monotonic=True),
    "unbiased": PLAIN | dict(unbiased=True),
    "all": ALL,
    "weights": PLAIN,
    "weights, all": ALL,
    "ties, all": ALL | dict(slope_of="selected"),
}


@pytest.fixture(scope="module")
def sample():
    """Scores independent of falling masses, and signed weights whose sums float64 holds exactly."""
    rng = np.random.default_rng(20101)
    score, mass = rng.random(N), 50 + rng.exponential(100, N)
    weight = rng.integers(1, 33, N) / 16
    weight[rng.random(N) < 0.1] *= -1
    return score, mass, weight, rng.choice(N, SAMPLED, replace=False)


def sums_at(at, inclusive, score, bins, n_bins, weight):
    """Per element of ``at``: sums over each bin of weights and their squares with scores < at (or <= at)."""
    order = np.argsort(at)
    interval = np.searchsorted(at[order], score, side="left" if inclusive else "right")
    cell = interval * n_bins + bins
    sums = np.empty((len(at), 2, n_bins))
    for k, power in enumerate((weight, weight**2)):  # multiples of 1/256: exact in any order
        counts = np.bincount(cell, power, minlength=(len(at) + 1) * n_bins).reshape(-1, n_bins)
        sums[order, k] = np.cumsum(counts, axis=0)[:-1]
    return sums


@pytest.mark.parametrize("name", SETS)
def test_sampled_gradient_elements_keep_nine_digits(sample, name):
    score, mass, weight, chosen = sample
    options = SETS[name]
    if "ties" in name:  # in float32 one score in 17 occurs twice
        score = score.astype(np.float32).astype(float)
    given = weight if "weights" in name else None
    used = np.ones(N) if given is None else given

    # Fewer bins than the default where the reference has most to do.
    count = 12 if options.get("unbiased") else 32
    edges = libmode.mode_edges(mass, bins=count)
    bins, n_bins = bin_of(mass, edges), len(edges) - 1
    binned = Binned.of(mass, used, edges, options["order"], np.longdouble)
    reference = Reference(binned, **options)
    below, up_to = (sums_at(score[chosen], side, score, bins, n_bins, used) for side in (False, True))
    want = [reference.derivative(*sums, bins[i], used[i]) for *sums, i in zip(below, up_to, chosen, strict=True)]

    _, grad = libmode.mode_loss_and_grad(score, mass, weight=given, bins=count, **options)
    golden.assert_close(grad[chosen], want, 1e-9, floor=1e-9 * np.abs(grad).max())


def squeezed(rng, n):
    """Scores that differ in the fourth digit, as those of a network that learns to be flat."""
    return 0.5 + 0.001 * (rng.random(n) - 0.5)


def half_squeezed_half_zero(rng, n):
    """The same, behind a sigmoid that was saturated for half the events."""
    return np.where(rng.random(n) < 0.5, 0.0, squeezed(rng, n))


CONCENTRATED = {
    "order 1": (squeezed, dict(order=1, moments="quadrature", unbiased=False)),
    "unbiased": (half_squeezed_half_zero, dict(order=0, moments="quadrature", unbiased=True)),
    "bounds": (
        half_squeezed_half_zero,
        dict(order=2, moments="projection", unbiased=False, max_slope=0.3, monotonic=True),
    ),
}


@pytest.mark.parametrize("name", CONCENTRATED)
def test_rounding_does_not_grow_where_millions_of_scores_lie_close_together(name):
    n, rng = 4_000_000, np.random.default_rng(4)
    scores, options = CONCENTRATED[name]
    score, mass = scores(rng, n), rng.random(n)
    edges = [0, 0.3, 0.6, 0.8, 1]
    chosen = np.append(rng.choice(n, SAMPLED // 5, replace=False), [score.argmin(), score.argmax()])
    want = Oracle(score, mass, None, edges, **options).evaluate(chosen)
    loss, grad = libmode.mode_loss_and_grad(score, mass, edges=edges, **options)
    golden.assert_close(loss, want.loss, 1e-9)
    # The oracle leaves out (as NaN) the tied events that were not chosen.
    golden.assert_close(grad[chosen], want.gradient[chosen], 0, floor=1e-9 * np.nanmax(np.abs(want.gradient)))
