"""Whether ``unbiased`` removes what a finite batch adds to the loss: statistical tests with fixed seeds."""

import numpy as np
import pytest
from libmode import mode_evaluate


def signs(share):
    """Weights of 1, of which this share is -1."""
    return lambda rng, n: np.where(rng.random(n) < share, -1.0, 1.0)


WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "20 % negative": signs(0.2),
}
# Events, bins and batches: 31 events in a bin, so that a wrong factor of the variance shows.
BATCHES_OF = {"many bins": (1000, 32, 1000), "few bins": (125, 4, 5000)}
MOMENTS = [{"order": 0}, {"order": 2}, {"order": 1, "moments": "quadrature"}]


def few(weight, square, count):
    """Whether a bin with these sums of weights and of squares, and so many events, has canceled or is an error."""
    return ((weight < count / 4) | (weight**2 < 1.05 * square)).any()


@pytest.mark.parametrize("layout", BATCHES_OF)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_mean_unbiased_loss_is_zero_for_weights_of_any_size_and_sign(weights, layout):
    """The mean of the loss over batches is 0 where score and mass are independent, whatever the number of events in a batch.

    What `unbiased` subtracts is an unbiased estimate of what the variances of the F_b add to the squares, for the given
    masses and weights. So weights are drawn again until no bin has canceled or has too few effective events.
    """
    # With the factor 1 - T / W^2 it was off by 6 to 15 % of what is taken away, for all weights but equal ones.
    n, bins, batches = BATCHES_OF[layout]
    edges = np.linspace(0, 1, bins + 1)
    rng = np.random.default_rng(17)
    losses, removed = np.empty((2, batches, len(MOMENTS)))
    for k in range(batches):
        mass = rng.random(n)
        bin_ = (mass * bins).astype(int)
        count = np.bincount(bin_, minlength=bins)
        weight = WEIGHTS[weights](rng, n)
        while few(np.bincount(bin_, weight, bins), np.bincount(bin_, weight**2, bins), count):
            weight = WEIGHTS[weights](rng, n)
        score = rng.random(n)
        for j, options in enumerate(MOMENTS):
            losses[k, j], removed[k, j], *_ = mode_evaluate(
                score, mass, weight=weight, edges=edges, grad=False, **options
            )
    mean, error = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(batches)
    assert (np.abs(mean) < 4 * error).all(), mean / error
    assert (4 * error < 0.06 * removed.mean(axis=0)).all(), "too few batches to tell"
