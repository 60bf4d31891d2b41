"""The averages over batches in the state of a constraint, and their errors."""

import math

import numpy as np
import pytest
from libmode._constraint import State


def shares(steps):
    """Of each batch in an average: a batch enters with 1/n, and with 1/200 from the two hundredth on."""
    found = np.zeros(0)
    for n in range(1, steps + 1):
        share = max(1 / n, 1 / 200)
        found = np.append(found * (1 - share), share)
    return found


@pytest.mark.parametrize("steps", [2, 17, 199, 200, 201, 250, 500, 1_000, 5_000])
def test_the_error_of_the_dependence_is_that_of_an_average_with_these_shares(steps):
    """Of independent batches with variance v, the average has v times s = sum of shares^2, and scatters by v (1 - s)."""
    of_batches = shares(steps)
    assert of_batches.sum() == pytest.approx(1)
    share = np.sum(of_batches**2)
    state = State(steps=float(steps), loss=0.3, bias=2.0, events=5.0, square=0.3**2 + 0.7)
    rho, error = state.dependence(50.0)
    assert rho == pytest.approx(0.3 / (2.0 * 5.0 / 50.0))
    assert error == pytest.approx(math.sqrt(0.7 * share / (1 - share)) / (2.0 * 5.0 / 50.0), rel=1e-9)
