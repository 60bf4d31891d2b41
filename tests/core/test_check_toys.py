"""Rates of the verdicts of metrics.check over some thousand toys, for ./build.sh test-full."""

import numpy as np
import pytest
from libmode import metrics
from test_check import FLAT, SITUATIONS, events, toy

pytestmark = pytest.mark.full
TOYS = 200


@pytest.mark.parametrize("name", SITUATIONS)
def test_bumps_and_flat_toys(name):
    """Of bumps of 5 errors one in 15 may be flat, of 7 errors none; of flat toys 1 % are False, and few not known."""
    rng, found = np.random.default_rng(7), {}
    for errors in (0, 5, 7):
        found[errors] = [toy(rng, name, errors).flat for _ in range(TOYS)]
    assert found[5].count(True) <= TOYS / 15 and found[7].count(True) == 0
    assert found[0].count(False) <= 6  # more have a chance of .5 %
    many = SITUATIONS[name][1] in (None, "wrong pairings") or SITUATIONS[name][0] == "two"  # widths in the range
    assert found[0].count(None) <= (0.25 if many else 0.1) * TOYS


@pytest.mark.parametrize("kind", FLAT, ids=str)
def test_flat_toys_with_weights_and_few_masses(kind):
    rng, found = np.random.default_rng(8), []
    for _ in range(2 * TOYS):
        score, label, mass, weight = events(rng, 20_000, 4_000, **kind)
        found.append(metrics.check(score, label, mass, weight=weight, order=0).flat)
    assert found.count(False) <= 10 and found.count(None) <= 0.12 * len(found)
