"""The flow of the studies of maps finds distributions that are known."""

import numpy as np
import pytest

from studies import flow
from studies.methods import one_thread

pytestmark = pytest.mark.usefixtures("threads_afterwards")


def toy(n, seed):
    """Scores that are normal at each mass after a known shift and stretch, taken through a curved function."""
    rng = np.random.default_rng(seed)
    mass, normal = rng.uniform(50, 200, n), rng.normal(size=n)
    center, width = np.sin((mass - 50) / 40), 0.6 + (mass - 50) / 200
    return 1 / (1 + np.exp(-3 * (center + width * normal))), mass, normal


def test_a_flow_finds_the_normal_that_the_scores_were_made_of():
    one_thread()
    score, mass, _ = toy(40_000, 1)
    mapped = flow.fitted(score, mass, steps=300, batch=1_000, seed=1)
    score, mass, normal = toy(20_000, 2)
    found = mapped(score, mass)
    center = np.abs(normal) < 2
    assert np.sqrt(np.mean((found - normal)[center] ** 2)) < 0.06
    order = np.argsort(score)
    assert (np.diff(mapped(score[order], np.full(len(score), 120.0))) >= 0).all()  # monotone at one mass
    same = mapped(score[:5], np.full(5, 300.0)), mapped(score[:5], np.full(5, mass.max()))
    np.testing.assert_allclose(*same, atol=1e-2)  # beyond those of the fit, as at the last of them
