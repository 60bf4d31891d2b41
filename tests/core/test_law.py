"""The push of a constraint: the core against the law in NumPy, and each property that spec.md has of it."""

import numpy as np
import pytest
from law import Core, Law, defaults
from libmode import BatchError

N = 900
ONE_MASS = {
    "order 0": {},
    "bounds": {"order": 2, "max_slope": 0.6, "monotonic": True},
    "uniform": {"order": 1, "bins": 6, "binning": "uniform"},
}
ONE_MASS |= {"edges": {"order": 1, "edges": (0.0, 20, 50, 90, 200)}, "range": {"order": 2, "mass_range": (10, 150)}}
ONE_MASS |= {"plain": {"order": 1, "unbiased": False, "moments": "quadrature", "bins": 8, "slope_penalty": 1}}
SEVERAL = {"one by one": {"order": 1, "bins": 6}, "joint": {"order": 1, "joint": True, "bins": 3}}
SEVERAL |= {"grid": {"order": 0, "joint": True}, "alike": {"order": 2, "bins": 6}}
WEIGHTS = ["none", "positive", "signed", "falling"]


def batch(seed, variables=1, weights="none", n=N, absent=0.0, ties=True, alike=0.0):
    """Logit, label, mass and weight of events with a score that follows the mass. Masses are multiples of 1/1024.

    Half of the logits are tied. No logit lies beyond 8.
    """
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    mass = np.round(1024 * rng.exponential(40, (n, variables)).clip(max=199)) / 1024
    mass[label == 1] = np.round(1024 * rng.normal(60, 15, (label.sum(), variables)).clip(0, 199)) / 1024
    mass += alike * (mass[:, :1] - mass)
    logit = (rng.normal(label) + mass[:, 0] / 60 - 1).clip(-8, 8)
    if ties:
        logit[::2] = np.round(4 * logit[::2]) / 4
    weight = {"none": None, "positive": rng.uniform(0.5, 2, n), "falling": np.exp(-mass[:, 0] / 40)}.get(
        weights, rng.uniform(0.5, 2, n) * np.where(rng.random(n) < 0.1, -0.4, 1)
    )
    if absent:
        mass[rng.random((n, variables)) < absent] = np.nan
        mass[np.isnan(mass).all(1), 0] = 50
    return logit, label, mass[:, 0] if variables == 1 else mass, weight


def incoming(seed, n=N):
    return np.random.default_rng(100 + seed).normal(size=n)


def by_the_law(law, logit, label, mass, weight):
    """Push and multiplier of all events of a batch with the background label 0."""
    weight, mass = np.ones(len(logit)) if weight is None else weight, mass.reshape(len(mass), -1)
    push, multiplier, own = np.zeros(len(logit)), np.ones(len(logit)), label == 0
    push[own], multiplier[own] = law.forward(logit[own], mass[own], weight[own], mass[~own], weight[~own])
    return push, multiplier


CASES = [(1, name, options, weights) for name, options in ONE_MASS.items() for weights in WEIGHTS]
CASES += [
    (variables, name, options, weights)
    for variables in (2, 3)
    for name, options in SEVERAL.items()
    for weights in ("none", "signed")
]


def close(found, want, digits=1e-9):
    np.testing.assert_allclose(found, want, rtol=0, atol=digits * np.abs(want).max())


@pytest.mark.parametrize("variables, name, options, weights", CASES, ids=[f"{c[0]} {c[1]} {c[3]}" for c in CASES])
def test_it_is_the_law_of_the_text(variables, name, options, weights):
    """Over batches of several sizes: the first and the third, a large one, have no signal, and the last sets new cells."""
    options = {"order": 0, "missing": "ignore", "unbiased": weights != "signed"} | options
    if name == "grid":
        options["edges"] = [(0, 20, 50, 200)] * variables
    layer, law = Core(**options), Law(**options)
    for step, n in enumerate((N, N - 100, 4 * N, N, 2 * N)):
        absent, alike = 0.1 * (variables > 1 and not options.get("joint")), 0.99 * (name == "alike")
        events = batch(step, variables, weights, n, absent, alike=alike)
        if step in (0, 2):
            events = tuple(None if a is None else a[events[1] == 0] for a in events)
        gradient = incoming(step, len(events[0]))
        push, multiplier = by_the_law(law, *events)
        close(layer.forward(*events)[:2], [push, multiplier])
        own = layer.rows[2] == 1  # the slope of those that take part
        want = np.where(own, law.backward(np.where(own, gradient, 0), push, multiplier), gradient)
        close(layer.backward(gradient), want)


# ------------------------------------------------------------- what the push does not see

RANDOM = pytest.mark.parametrize("seed", range(6))


def drawn(seed):
    """A batch of some size and kind, and options with which it has a loss; seeds take turns."""
    variables, weights = 1 + seed % 3 // 2, WEIGHTS[seed % 4]
    options = [*ONE_MASS.values()][seed % 6] if variables == 1 else [*SEVERAL.values()][seed % 2]
    options = {"order": 0, "unbiased": weights != "signed"} | options
    return batch(seed, variables, weights, int(np.random.default_rng(seed).integers(500, 2000))), options


def rows(events, options, **more):
    """Of one batch without a memory, which has no warm-up."""
    core = Core(**options | more)
    core.state = None
    return core.forward(*events)


@RANDOM
def test_signal_changes_no_push_and_its_number_no_start(seed):
    (logit, label, mass, weight), options = drawn(seed)
    want, signal, rng = rows((logit, label, mass, weight), options), label == 1, np.random.default_rng(seed)
    others = logit.copy(), mass.copy(), None if weight is None else weight.copy()
    others[0][signal], others[1][signal] = np.nan, rng.uniform(0, 199, mass[signal].shape)
    np.testing.assert_array_equal(rows((others[0], label, *others[1:]), options)[[0, 2, 3]], want[[0, 2, 3]])
    twice = np.repeat(np.arange(len(logit)), 1 + label)
    close(rows([None if a is None else a[twice] for a in (logit, label, mass, weight)], options)[:, :1], want[:, :1])
    alone = rows([None if a is None else a[~signal] for a in (logit, label, mass, weight)], options)
    close(alone[0], want[0, ~signal])
    assert (alone[1] == 1).all() and not (want[1, ~signal] == 1).all()


@RANDOM
def test_scores_have_the_push_of_logits_by_their_slope(seed):
    (logit, *events), options = drawn(seed)
    want, score = rows((logit, *events), options), 1 / (1 + np.exp(-logit))
    for low, high in ((0, 1), (-3, 5)):
        found = rows((low + (high - low) * score, *events), options, from_logits=False, score_range=(low, high))
        close(found[0] * found[2], want[0])
        np.testing.assert_array_equal(found[[1, 3]], want[[1, 3]])
        np.testing.assert_allclose(found[2], want[2] * (high - low) * score * (1 - score), rtol=1e-9)
    close(rows((logit, *events), options, from_logits=False, score_range=None), want)


@pytest.mark.parametrize("kind, scale", [(np.float32, 1), (np.float16, 1), (np.float16, 8), (np.float32, 1e-30)])
def test_types_round_the_rows_alone(kind, scale):
    """Logits and masses that a type holds exactly have the push of double precision."""
    logit, label, mass, weight = batch(5, weights="positive", ties=False)
    logit, mass, weight = np.round(16 * logit) / 16 * scale, np.round(mass), np.round(64 * weight) / 64
    logit = logit.astype(kind).astype(float)
    found = rows((logit.astype(kind), label, mass.astype(np.float32), weight.astype(np.float32)), {"order": 1})
    assert found.dtype == np.float32
    close(found, rows((logit, label, mass, weight), {"order": 1}), 1e-6)


def test_a_score_at_an_end_has_no_push_and_leaves_all_others_theirs():
    logit, label, mass, _ = batch(3, ties=False)
    score = 1 / (1 + np.exp(-logit))
    first, last = np.where(label == 0, score, 0.5).argsort()[[0, -1]]
    want = rows((score, label, mass), {"order": 0}, from_logits=False)
    score[first], score[last] = 0, 1
    found = rows((score, label, mass), {"order": 0}, from_logits=False)
    assert not found[0, [first, last]].any() and not found[2, [first, last]].any()
    others = np.delete(np.arange(N), [first, last])
    np.testing.assert_array_equal(found[:, others], want[:, others])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -50.0, 1e300])
def test_a_signal_mass_that_is_no_mass_in_range_is_skipped(bad):
    logit, label, mass, weight = batch(1, weights="positive")
    known = np.arange(N) % 14 != 1  # some of signal
    options = {"order": 1, "mass_range": (0, 200)}
    want = rows([a[known] for a in (logit, label, mass, weight)], options)
    close(rows((logit, label, np.where(known, mass, bad), weight), options)[:, known], want)


@RANDOM
def test_events_that_take_no_part_have_no_push_and_the_multiplier_1(seed):
    (logit, label, mass, _), options = batch(seed, weights="none"), {"order": 1, "mass_range": (20, 100)}
    weight = np.where(np.arange(N) % 11, 1.0, 0)
    rest = (label == 1) | (mass < 20) | (mass > 100) | (weight == 0)
    layer, gradient = Core(**options), incoming(seed).astype(np.float32)
    out = layer(gradient, logit.astype(np.float32), label, mass.astype(np.float32), weight.astype(np.float32))
    np.testing.assert_array_equal(layer.rows[:, rest].T, [[0, 1, 0, 0]] * rest.sum())
    np.testing.assert_array_equal(out[rest], gradient[rest])
    assert np.count_nonzero(layer.rows[0, ~rest]) > 0.98 * np.count_nonzero(~rest)


@RANDOM
def test_any_number_of_threads_has_the_same_bits(seed, threads):
    found = []
    for count in (1, 2, 7):
        threads(count)
        layer = Core(order=1, background_label=(0, 1), categories=2)
        logit, label, mass, weight = batch(seed, weights="signed", n=40_000)
        out = layer(incoming(seed, 40_000), logit, label, mass, weight, np.arange(40_000) // 2 % 2)
        found.append(np.concatenate([out, layer.state, *layer.rows]))
    assert (found[0] == found[1]).all() and (found[0] == found[2]).all()


# ------------------------------------------------------------- the incoming gradient


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 1])
def test_a_gradient_that_is_not_finite_has_no_push_and_leaves_the_state(bad, place):
    layer = Core(order=1)
    layer(incoming(1), *batch(1))
    before, gradient = layer.state.copy(), incoming(2)
    gradient[place] = bad
    out = layer(gradient, *batch(2))
    np.testing.assert_array_equal(out, layer.rows[1] * gradient)
    np.testing.assert_array_equal(layer.state, before)


def test_the_norms_are_averages_over_200_batches():
    """Of a gradient that grows from batch to batch, by less than a factor that is followed at once."""
    layer, law, events = Core(order=0), Law(order=0), batch(1)
    logit, label, mass, _ = events
    gradient = np.where(label == 0, incoming(1), 0)
    for step in range(300):
        push, multiplier = by_the_law(law, logit, label, mass, None)
        want = law.backward((1 + 0.3 * np.sin(step)) * gradient, push, multiplier)
        found = layer((1 + 0.3 * np.sin(step)) * gradient, *events)
    close(found, want)


# ------------------------------------------------------------- the state


def test_forward_changes_no_state_and_backward_counts_each_batch_once():
    layer, again = Core(order=1), Core(order=1)
    for step in range(3):
        for _ in range(step):
            layer.forward(*batch(7))
        assert layer.state[1] == step
        np.testing.assert_array_equal(layer(incoming(step), *batch(step)), again(incoming(step), *batch(step)))
    np.testing.assert_array_equal(layer.state, again.state)
    assert layer.state.shape == (layer.constraint.size,) and layer.state[1] == 3


def test_a_batch_that_fails_leaves_the_state():
    layer = Core(order=1)
    layer(incoming(1), *batch(1))
    before, (logit, label, mass, _) = layer.state.copy(), batch(2)
    logit[4] = np.nan
    with pytest.raises(ValueError, match=r"score\[4\] = NaN"):
        layer.forward(logit, label, mass)
    with pytest.raises(BatchError, match="no event selected"):
        layer.forward(logit, label + 5, mass)
    with pytest.raises(ValueError, match="state is of 1 variables of mass, and these events have 2"):
        layer.forward(*batch(1, variables=2))
    np.testing.assert_array_equal(layer.state, before)


@pytest.mark.parametrize("place, value, said", [
    (0, 7, r"state\[0\] = 7: the version"), (1, np.nan, r"state\[1\] = NaN: must be finite"), (3, 2, "state is of 2 categories"),
    (2, 1.5, r"state\[2\] = 1.5: the number of variables"), (0, 0, "a state without a version must be all zeros"), (5, -1, r"state\[5\] = -1"),
])  # fmt: skip
def test_a_state_that_cannot_be_is_refused(place, value, said):
    layer = Core(order=1)
    layer(incoming(1), *batch(1))
    layer.state[place] = value
    before = layer.state.copy()
    for refused in (lambda: layer.forward(*batch(2)), lambda: layer.constraint.check_state(layer.state)):
        with pytest.raises(ValueError, match=said):
            refused()
    np.testing.assert_array_equal(layer.state, before)


# ------------------------------------------------------------- few events, and none to push


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_rounding_never_makes_a_push(order, equal):
    """With order + 1 bins there is no residual, and equal scores have no order."""
    logit, label, mass, weight = batch(1, weights="signed")
    found = Core(order=order, bins=8 if equal else order + 1).forward(
        0 * logit if equal else logit, label, mass, weight
    )
    assert not found[0].any() and np.isfinite(found).all()


def test_the_defaults_follow_the_events():
    for order, events, n in ((0, 1_000, N), (1, 150_000, 1_024), (2, 10_000_000, 8_000)):
        strength, floor = defaults(order, max(events, n), n // 2)
        found = rows(batch(1, n=n), {"order": order}, training_events=max(events, n))
        close(found, rows(batch(1, n=n), {"order": order, "strength": strength, "floor": floor}))
    core, given = Core(order=0), Core(order=0, strength=defaults(0, batch=2_000)[0])
    of_reference = batch(1, n=4_000)
    close(core.forward(*of_reference, count=N), given.forward(*of_reference, count=N))
    with pytest.raises(ValueError, match="training_events = 20: this batch has 450 background events"):
        rows(batch(1), {"order": 1}, training_events=20)
