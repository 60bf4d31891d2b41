"""Whether ``unbiased`` removes what a finite batch adds to the loss: a statistical test with a fixed seed.

Where no bound is active it removes all of it. Under ``monotonic`` it does so to
leading order only, and independence is where the bound bends most: 1 % of what
a batch adds is left here, and up to 10 % with quantile bins over an endless
tail, whose last bin is wide; that would be 3 to 5 standard errors.
"""

import libmode
import numpy as np
import pytest

BATCHES, EVENTS = 400, 500
# Ten bins over what 89 % of the masses fall into: 14 events in the last, more in all others.
BINS = dict(bins=10, binning="uniform", mass_range=(0, 2.2))
SETS = {
    "order 0": dict(order=0),
    "order 1": dict(order=1),
    "order 2, projection": dict(order=2, moments="projection"),
    "order 2, monotonic, projection": dict(order=2, monotonic=True, moments="projection"),
}


def pull(options):
    """The mean loss of batches in which score and mass are independent, in standard errors."""
    rng = np.random.default_rng(20201019)
    losses = [
        libmode.mode_loss(rng.random(EVENTS), rng.exponential(size=EVENTS), **BINS, **options) for _ in range(BATCHES)
    ]
    return np.mean(losses) / (np.std(losses, ddof=1) / np.sqrt(BATCHES))


@pytest.mark.parametrize("name", SETS)
def test_mean_loss_of_independent_batches_is_zero_only_if_unbiased(name):
    assert abs(pull(SETS[name] | {"unbiased": True})) < 3
    assert pull(SETS[name]) > 3
