"""The flow of the studies of maps finds distributions that are known, and the fit of biases has the degree that it needs."""

import numpy as np
import pytest
from libmode import metrics
from scipy import stats

from studies import flow
from studies.methods import one_thread
from studies.simple_model import measure
from studies.simple_model.data import SIGNAL_MASS, SIGNAL_WIDTH, simple_model

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


def test_the_degree_of_the_fit_is_that_of_the_spectrum_without_a_selection():
    """And 2 more, for dependences that may be quadratic: the lowest that fits and that one more does not improve."""
    events = simple_model(1_000_000, np.random.default_rng(1))
    mass = events.mass[events.label == 0]
    level, slope = (
        metrics.signal_bias(mass, measure.SPECTRUM, signal_mass=SIGNAL_MASS, signal_width=SIGNAL_WIDTH, degree=degree)
        for degree in (0, 1)
    )
    assert stats.chi2.sf(level.chi2, level.ndof) > 0.001 and level.chi2 - slope.chi2 < 3.84
    assert measure.DEGREE == 0 + 2
