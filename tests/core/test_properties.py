"""Properties of every call: whose events it reads, and which responses cost nothing. A docstring gives the reason."""

import libmode
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libmode import mode_moments
from numpy.polynomial.legendre import legval

#: Generators of random numbers.
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def test_events_of_other_labels_are_never_looked_at(golden_case):
    """To the last bit, whatever their score, mass, weight and category."""
    events = {name: array for name, array in golden_case.events().items() if array is not None}
    n, bad, rng = len(events["score"]), np.array([np.nan, np.inf, -np.inf, 7.0]), np.random.default_rng(1)
    events["label"] = events.get("label", np.zeros(n)).astype(float)
    at = rng.integers(0, n + 1)
    of = {
        "mass": bad if events["mass"].ndim == 1 else bad[:, None],
        "label": [9, -1, 0.5, 2.0**40],
        "category": [5, 6, 0, 1],
    }
    more = {name: np.insert(array, at, of.get(name, bad), axis=0) for name, array in events.items()}
    want, found = (libmode.mode_loss_and_grad(**each, **golden_case.options) for each in (events, more))
    assert found[0] == want[0]
    np.testing.assert_array_equal(found[1], np.insert(want[1], at, [0] * 4))


KINDS = {
    "edges": {"edges": [0, 0.05, 0.1, 0.3, 0.35, 0.6, 0.8, 1]},
    "quantile": {"bins": 9},
    "uniform": {"binning": "uniform", "bins": 6},
    "joint": {"joint": True, "binning": "uniform", "bins": (4, 4)},
    "joint, quantile": {"joint": True, "bins": (4, 4)},
}


def allowed(kind, order, mass):
    """The functions of the mass, in [0, 1], that cost nothing: a row for each."""
    if "joint" in kind:
        (x, y), degrees = 2 * mass.T - 1, np.ndindex(order + 1, order + 1)
        return np.array([x**a * y**b for a, b in degrees if a + b <= order])
    return np.array([(2 * mass - 1) ** a for a in range(order + 1)])


def cost(kind, degree, rng, order):
    """The loss at an order of a response that is a function of the mass of some degree, at each of a few scores."""
    mass = (np.arange(60) + rng.random(60)) / 60  # so that no bin is empty
    if "joint" in kind:
        mass = np.column_stack([mass, rng.random(60)])
    mass[0], mass[-1] = 0, 1
    rows = allowed(kind, degree, mass)
    functions = rng.uniform(-1, 1, (rng.integers(1, 5), len(rows))) @ rows
    functions /= np.abs(functions).max()
    size = rng.choice([0.25, 1.0, 3.0], len(mass))
    steps = np.diff(np.vstack([0 * size, functions, 1 + 0 * size]), axis=0)
    score = np.repeat(np.arange(1, len(steps) + 1) / (len(steps) + 1), len(mass))
    masses, weight = np.concatenate([mass] * len(steps)), (size * steps).ravel()
    return libmode.mode_loss(score, masses, weight=weight, order=order, unbiased=False, **KINDS[kind])


@settings(max_examples=200)
@given(st.sampled_from(list(KINDS)), st.integers(0, 3), seeds)
def test_a_response_of_the_order_costs_nothing(kind, order, rng):
    """With projection moments the polynomials are averaged over the events of each bin as the response is.

    So the fit meets it, whatever the bins, the density inside them and the signs of the weights.
    """
    assert abs(cost(kind, order, rng, order)) < 1e-13


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_of_a_higher_order_costs_something(kind):
    assert cost(kind, 2, np.random.default_rng(4), order=1) > 1e-6


FINE = np.linspace(-1, 1, 2001)


@settings(max_examples=100)
@given(st.integers(2, 16), st.sampled_from([{}, {"max_slope": 0.1}, {"max_slope": 1.0, "slope_of": "selected"}]), seeds)
def test_a_monotonic_response_has_no_extremum_inside(order, bound, rng):
    """|P_l'| is at most l (l + 1)/2 on [-1, 1], and |c~_l| at most |c~_1| over that and over order - 1."""
    score, mass, weight = rng.integers(1, 400, 400) / 400, rng.exponential(size=400), rng.choice([0.5, 1.0, 3.0], 400)
    options = {
        "bins": order + 3,
        "moments": "projection" if order <= 8 else "quadrature",
        "monotonic": True,
    }  # few events
    found = mode_moments(score, mass, at=np.unique(score), weight=weight, order=order, **options, **bound)
    steps = np.diff(legval(FINE, found.bounded.T), axis=1)
    sign = np.sign(found.bounded[:, 1:2])
    assert (steps * sign >= -1e-15 * np.abs(found.bounded).sum(axis=1, keepdims=True)).all()
    assert (np.abs(steps).max(axis=1, where=sign == 0, initial=0) == 0).all()
