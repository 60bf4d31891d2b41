"""Push, multiplier and state of the core against the definition, over some batches."""

import ctypes

import numpy as np
import pytest
from law import assert_law
from libmode import _native, mode_evaluate
from libmode._constraint import outgoing
from libmode._evaluate import NUMPY, direction
from libmode._events import Events
from libmode._native import address
from libmode._options import check
from libmode._problems import IN_LINES
from push import NUMBER, Group, Law

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


def signal(rng, dtype, variables, what, n):
    """Masses and weights of signal, in and out of the range of background, some without a mass or with a negative weight."""
    mass = rng.normal(60, 30, (n, variables)).astype(dtype)
    if what == "ties":
        mass = np.round(mass / 3)
    mass[rng.random((n, variables)) < 0.1] = np.nan
    mass[::40] = np.inf
    weight = rng.uniform(0.5, 1, n).astype(dtype) * np.where(rng.random(n) < 0.1, -1, 1)
    return mass, weight.astype(dtype)


def direction_of(options, state, tolerance, score, mass, weight, label=None, category=None, training=0.0):
    """What the core finds, and the state after the batch."""
    steering = _native.ModeSteering(
        ctypes.sizeof(_native.ModeSteering),
        tolerance=tolerance,
        training_events=training,
        state=address(state),
        n_state=state.size,
        logits=True,
        categories=0 if category is None else 2,
    )
    with np.errstate(divide="ignore"):
        logit = np.log(score / (1 - score)).clip(-40, 40)  # also of 0 and 1
    events = Events(logit, label, mass[:, 0] if mass.shape[1:] == (1,) else mass, weight, category)
    pushed = direction(check("mode", options), steering, events, state, IN_LINES, NUMPY)
    pushed.push, pushed.multiplier, pushed.slope = pushed.rows
    return pushed


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
    training = 700.0 if what == "weights that fall with the mass" else 0.0  # as 1.2 batches
    law = Law(variables, tolerance, training=training or np.inf)
    for k in range(BATCHES):
        score, mass, weight = batch(rng, dtype, variables, what)
        loss = mode_evaluate(score, mass, weight=weight, **options)
        masses, weights = signal(rng, dtype, variables, what, 150 if k else 0)  # the first batch has none
        pairs = (score, np.full(len(weights), 0.5, dtype)), (mass, masses), (weight, weights)
        label = np.repeat([0, 1], [len(score), len(weights)])
        found = direction_of(options, state, tolerance, *map(np.concatenate, pairs), label, training=training)
        assert not found.push[len(score) :].any() and (found.multiplier[len(score) :] == 1).all()
        found.push, found.multiplier = found.push[: len(score)], found.multiplier[: len(score)]
        group = Group(loss.grad.astype(float), score.astype(float), mass.astype(float), weight.astype(float), options)
        of = {0: (masses.astype(float), weights.astype(float))} if k else None
        want = law.direction([(0, group)], (found.loss, found.bias, found.events), of)
        compare(found, want, state, law, dtype)
        assert found.slope.tolist() == [1.0] * len(score) + [0.0] * len(weights)
    assert np.ptp(found.multiplier) > 1


def test_groups_of_labels_and_categories():
    rng, n = np.random.default_rng(9), 1800
    options = {"order": 1, "bins": 6, "background_label": [2, 0]}
    state, law = np.zeros(_native.state_size(2, 2)), Law(1, labels=2, categories=2)
    label, category = (rng.permutation(np.arange(n) % parts) for parts in (3, 2))
    for _ in range(BATCHES):
        score, mass, weight = batch(rng, np.float64, 1, "weights that fall with the mass", n)
        loss = mode_evaluate(score, mass[:, 0], weight=weight, label=label, category=category, **options)
        found = direction_of(options, state, 0.0, score, mass[:, 0], weight, label, category)
        of = {"binning": "quantile", **options}
        subsets = [(2 * k + c, (label == value) & (category == c)) for k, value in enumerate([2, 0]) for c in range(2)]
        groups = [(k, Group(loss.grad[own], score[own], mass[own], weight[own], of)) for k, own in subsets]
        others = label == 1
        alike = {c: (mass[others & (category == c)], weight[others & (category == c)]) for c in range(2)}
        want = law.direction(groups, (found.loss, found.bias, found.events), {k: alike[k % 2] for k, _ in subsets})
        places = np.concatenate([np.flatnonzero(own) for _, own in subsets])
        assert not found.push[others].any() and (found.multiplier[others] == 1).all()
        found.push, found.multiplier = found.push[places], found.multiplier[places]
        compare(found, want, state, law, np.float64)


@pytest.mark.parametrize("weights", ["none", "of each slice of the mass"])
def test_the_multiplier_starts_from_the_ratio_of_known_densities(weights):
    """Background is uniform, signal has the density 2m; weights that fall with the mass give background the density w/3."""
    rng, n = np.random.default_rng(4), 200_000
    mass = np.concatenate([rng.random(n), np.sqrt(rng.random(n))])
    label, score = np.repeat([0, 1], n), rng.random(2 * n)
    weight, density = np.ones(2 * n), np.ones(n)
    if weights != "none":
        weight = np.where(label == 1, 7, 5 - 4 * mass)
        density = weight[:n] / 3
    state = np.zeros(_native.state_size(1))
    found = direction_of({"order": 0}, state, 0.0, score, mass, weight, label)
    other = np.zeros(_native.state_size(1))
    alone = direction_of({"order": 0}, other, 0.0, score[:n], mass[:n], weight[:n])
    seen = found.multiplier[:n] / alone.multiplier
    start = NUMBER["floor"] + (1 - NUMBER["floor"]) * 2 * mass[:n] / density
    cell = 1 / 16  # twice the width, over which a mean is taken
    np.testing.assert_allclose(seen, start, atol=0.02, rtol=0.05 + cell * 1.5)
    assert weight[:n] @ seen == pytest.approx(weight[:n].sum(), rel=0.01)
    assert found.size == alone.size
    by = found.push[:n] / alone.push  # the root, where the multiplier is above 1
    np.testing.assert_allclose(by, np.sqrt(np.maximum(seen, 1)), rtol=1e-6)


def test_the_law_of_the_outgoing_gradient():
    with np.errstate(invalid="ignore"):
        assert_law(lambda incoming, rows, size: outgoing(np.where, np.linalg.norm, incoming, rows, size)[0])
