"""Push, multiplier and state of the core against the definition, over some batches."""

import ctypes

import numpy as np
import pytest
from libmode import _native, mode_evaluate
from libmode._arrays import address
from libmode._evaluate import direction
from libmode._events import Events
from libmode._options import check
from push import Group, Law

BATCHES = 3


def batch(rng, dtype, variables, what, n=600):
    """Score, mass and weight."""
    mass = rng.exponential(60, (n, variables)).astype(dtype)
    score = (1 / (1 + np.exp(-rng.normal(0, 1, n) - mass[:, 0] / 40))).astype(dtype)
    weight = np.ones(n, dtype) if what == "ties" else rng.uniform(0.5, 1, n).astype(dtype)
    if what == "weights that fall with the mass":
        weight *= np.exp(-mass[:, 0] / 40)
    if what == "signed weights":
        weight[rng.random(n) < 0.05] *= -0.3
    if what == "ties":
        score, mass = np.round(score, 2), np.round(mass / 3)
    if what == "absent masses" and variables > 1:
        mass[rng.random((n, variables)) < 0.1] = np.nan
        mass[np.isnan(mass).all(axis=1), 0] = 50
    return score, mass, weight


def direction_of(options, state, tolerance, score, mass, weight, label=None, category=None):
    """What the core finds, and the state after the batch."""
    steering = _native.ModeSteering(
        ctypes.sizeof(_native.ModeSteering),
        tolerance=tolerance,
        state=address(state),
        n_state=state.size,
        logits=True,
        categories=0 if category is None else 2,
    )
    with np.errstate(divide="ignore"):
        logit = np.log(score / (1 - score)).clip(-40, 40)  # also of 0 and 1
    return direction(check("mode", options), steering, Events(logit, label, mass, weight, category), state)


def compare(found, want, state, law, dtype):
    """Push and multiplier to the precision of the type, the state to that of its sums."""
    digits = 1e-9 if dtype == np.float64 else 1e-5
    push, multiplier = (np.concatenate(arrays) for arrays in zip(*want, strict=True))
    np.testing.assert_allclose(found.push, push, rtol=0, atol=digits * np.abs(push).max())
    np.testing.assert_allclose(found.multiplier, multiplier, rtol=digits, atol=digits * np.abs(multiplier).max())
    expected = law.state()
    assert state.size == expected.size
    np.testing.assert_allclose(state, expected, rtol=1e-6, atol=digits * np.abs(expected[10:335]).max())


OF_EACH = ["plain", "weights that fall with the mass", "signed weights", "ties", "absent masses"]
KINDS = [
    *[(variables, what) for variables in (1, 2, 3) for what in OF_EACH],
    *[(variables, what) for variables in (2, 3) for what in ("joint", "joint grid")],
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("variables", "what"), KINDS)
def test_direction_is_the_one_of_the_definition(dtype, variables, what):
    rng = np.random.default_rng(variables)
    options = {"order": 1, "bins": 3 if "joint" in what else 8, "missing": "ignore", "binning": "quantile"}
    if "joint" in what:
        options |= {"joint": True, "unbiased": False, "binning": "quantile" if what == "joint" else "uniform"}
    state, tolerance = np.zeros(_native.state_size(1)), 1000.0 if what == "plain" else 0.0
    law = Law(variables, tolerance)
    for _ in range(BATCHES):
        score, mass, weight = batch(rng, dtype, variables, what)
        given = mass[:, 0] if variables == 1 else mass
        loss = mode_evaluate(score, given, weight=weight, **({"order": 0} | options))
        found = direction_of(options, state, tolerance, score, given, weight)
        group = Group(loss.grad.astype(float), score.astype(float), mass.astype(float), weight.astype(float), options)
        want = law.direction([(0, group)], (found.loss, found.bias, found.events))
        compare(found, want, state, law, dtype)
        assert found.slope.tolist() == [1.0] * len(score)
    assert np.ptp(found.multiplier) > 1e-3


def test_groups_of_labels_and_categories():
    rng, n = np.random.default_rng(9), 1800
    options = {"order": 1, "bins": 6, "background_label": [2, 0]}
    state, law = np.zeros(_native.state_size(2, 2)), Law(1, labels=2, categories=2)
    label, category = (rng.permutation(np.arange(n) % parts) for parts in (3, 2))
    for _ in range(BATCHES):
        score, mass, weight = batch(rng, np.float64, 1, "weights that fall with the mass", n)
        loss = mode_evaluate(
            score, mass[:, 0], weight=weight, label=label, category=category, **({"order": 0} | options)
        )
        found = direction_of(options, state, 0.0, score, mass[:, 0], weight, label, category)
        of = {"binning": "quantile", **options}
        subsets = [(2 * k + c, (label == value) & (category == c)) for k, value in enumerate([2, 0]) for c in range(2)]
        groups = [(k, Group(loss.grad[own], score[own], mass[own], weight[own], of)) for k, own in subsets]
        want = law.direction(groups, (found.loss, found.bias, found.events))
        places = np.concatenate([np.flatnonzero(own) for _, own in subsets])
        signal = label == 1
        assert not found.push[signal].any() and (found.multiplier[signal] == 1).all()
        found.push, found.multiplier = found.push[places], found.multiplier[places]
        compare(found, want, state, law, np.float64)
