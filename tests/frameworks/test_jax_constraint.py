"""libmode.jax.mode_constraint: what is added to a gradient, under jit, vmap and scan; its state."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from law import assert_law
from libmode import BatchError, TrainingWarning
from libmode._constraint import NUMBERS
from libmode.jax import Events, State, mode_constraint
from libmode.jax.constraint import _backward
from torch_layer import N, assert_close, events, layered

WAYS = pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])


def entropy(score, label):
    return -jnp.mean(jnp.where(label == 1, jnp.log(score), jnp.log1p(-score)))


def of_logit(logit, label):
    return entropy(jax.nn.sigmoid(logit), label)


def gradient(way=lambda f: f, loss=entropy, **arguments):
    """Of the cross entropy after the layer, as a function of score, label, mass and weight."""

    def of_constrained(score, label, mass, weight=None, reference=None):
        return loss(
            mode_constraint(score, label, mass, weight, reference=reference, **({"order": 1} | arguments)), label
        )

    return way(jax.grad(of_constrained))


def stepping(way=jax.jit, loss=entropy, **arguments):
    """The same of a layer with a state: a function that also takes the state, and returns the gradient and the next state."""

    def of_constrained(score, label, mass, weight, state, reference=None):
        same, after = mode_constraint(
            score, label, mass, weight, state=state, reference=reference, **({"order": 1} | arguments)
        )
        return loss(same, label), after

    return way(jax.grad(of_constrained, has_aux=True))


SCORE, LABEL, MASS, WEIGHT = events()
# Of each: arguments, and arrays that differ from those above.
CASES = {
    "defaults": ({}, {}),
    "tolerance": ({"tolerance": 100.0}, {}),
    "monotonic": ({"order": 2, "monotonic": True, "strength": 3.0}, {"weight": WEIGHT}),
    "logits": ({"from_logits": True}, {"score": np.log(SCORE / (1 - SCORE))}),
    "variables": (
        {"bins": 4, "categories": 2},
        {"mass": np.stack([MASS, MASS**2], axis=1), "category": np.arange(N) // 2 % 2},
    ),
    "float64": ({}, {"score": SCORE.astype(float), "mass": MASS.astype(float)}),
    "reference": ({}, {"weight": WEIGHT, "reference": [events(1, 2000)[place] for place in range(4)]}),
}
STEPS = 4


def begun(steps):
    """A state after so many batches without a residual."""
    return State.start()._replace(version=1.0, steps=float(steps), factor=1.0, masses=1.0)


def incoming(name, score):
    with jax.enable_x64(name == "float64"):
        return np.asarray(jax.grad(of_logit if name == "logits" else entropy)(jnp.asarray(score), LABEL))


@pytest.fixture(scope="module")
def of_torch(tmp_path_factory):
    """What the layer of PyTorch makes of the cases."""
    cases = {}
    for name, (arguments, other) in CASES.items():
        given = {"score": SCORE, "label": LABEL, "mass": MASS} | other
        cases[name] = arguments, [(incoming(name, given["score"]), dict(given)) for _ in range(STEPS)]
    return layered(cases, tmp_path_factory.mktemp("layered"))


def test_a_resumed_training_equals_one_that_went_on(tmp_path):
    """With the state from a file."""
    step, went_on, again = stepping(jax.jit, entropy), State(), State()
    for k in range(4):
        if k == 2:
            np.savez(tmp_path / "state", *again)
            again = State(*np.load(tmp_path / "state.npz").values())
        grads, states = zip(*(step(SCORE, LABEL, MASS, None, state) for state in (went_on, again)), strict=True)
        went_on, again = states
        np.testing.assert_array_equal(*grads)
    jax.tree.map(np.testing.assert_array_equal, went_on, again)
    assert went_on.steps == 4


@WAYS
@pytest.mark.parametrize("name", CASES)
def test_gradients_and_state_are_those_of_pytorch(way, name, of_torch):
    arguments, other = CASES[name]
    given = {"score": SCORE, "label": LABEL, "mass": MASS, "weight": None, "reference": None} | other
    reference, category = given.pop("reference"), given.pop("category", None)
    reference = reference and Events(*reference)
    loss, (want, numbers), state = of_logit if name == "logits" else entropy, of_torch[name], State()
    with jax.enable_x64(name == "float64"):
        step = stepping(way, loss, category=category, **arguments)
        for theirs in want:
            grad, state = step(*given.values(), state, reference)
            assert grad.dtype == given["score"].dtype and grad.shape == (N,)
            assert_close(grad, theirs, rtol=1e-8 if name == "float64" else 2e-5)
            assert not np.allclose(grad, incoming(name, given["score"]))
    assert_same(state, [numbers], rtol=1e-4)
    assert (float(state.factor) < 1) == (name == "tolerance")


def assert_same(state, want, rtol=1e-6):
    """All numbers but those of the sum to a relative precision, and those to one of the largest."""
    state, want = (np.concatenate([np.ravel(number) for number in numbers]) for numbers in (state, want))
    np.testing.assert_allclose(state[:NUMBERS], want[:NUMBERS], rtol=rtol)
    assert_close(state[NUMBERS:], want[NUMBERS:], rtol=10 * rtol)


@WAYS
def test_without_a_state_the_strength_is_10(way):
    grad = gradient(way)(SCORE, LABEL, MASS, WEIGHT)
    with_state, _ = stepping(way, strength=10.0)(SCORE, LABEL, MASS, WEIGHT, State())
    assert_close(grad, with_state, rtol=1e-6)


@WAYS
@pytest.mark.parametrize("shape", [(N,), (N, 1)])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_the_scores_are_unchanged(way, shape, dtype):
    score = jnp.asarray(SCORE, dtype).reshape(shape)
    same, pullback = jax.vjp(way(lambda s: mode_constraint(s, LABEL, MASS, order=1)), score)
    assert same.dtype == dtype and same.shape == shape and (same == score).all()
    (grad,) = pullback(same)
    assert grad.dtype == dtype and grad.shape == shape and jnp.isfinite(grad).all()
    assert (grad != same).any()


def test_vmap_over_batches_of_equal_size():
    batches = [events(seed) for seed in range(3)]
    grads = jax.jit(jax.vmap(gradient()))(*(jnp.stack(arrays) for arrays in zip(*batches, strict=True)))
    for grad, batch in zip(grads, batches, strict=True):
        assert_close(grad, gradient()(*batch), rtol=1e-6)


@WAYS
def test_a_second_derivative_is_a_clear_error(way):
    with pytest.raises(RuntimeError, match="no second derivative"):
        way(jax.hessian(lambda s: entropy(mode_constraint(s, LABEL, MASS, order=1), LABEL)))(jnp.asarray(SCORE))


@WAYS
@pytest.mark.parametrize("from_logits", [True, False])
def test_outputs_of_a_softmax_get_the_push_of_their_log_odds(way, from_logits):
    logits = np.log(SCORE / (1 - SCORE))
    two = np.stack([0 * logits, logits], 1)
    reference = [events(1, 2000)[place] for place in (0, 1, 2)]
    odds = np.log(reference[0] / (1 - reference[0]))

    def of_classes(z, label):
        return -jnp.mean(jax.nn.log_softmax(z)[jnp.arange(N), label])

    def step_of_two(z, state):
        make = (lambda z: z) if from_logits else jax.nn.softmax
        others = Events(make(jnp.stack([0 * odds, odds], 1)), *reference[1:])
        same, after = mode_constraint(
            make(z), LABEL, MASS, order=1, state=state, from_logits=from_logits, reference=others
        )
        return of_classes(same if from_logits else jnp.log(same), LABEL), after

    want, state = stepping(way, of_logit, from_logits=True)(
        logits, LABEL, MASS, None, State(), Events(odds, *reference[1:])
    )
    got, after = way(jax.grad(step_of_two, has_aux=True))(two, State())
    assert_close(got, np.stack([-want, want], 1), rtol=1e-4)
    assert_same(after, state, rtol=1e-3)
    three = jax.nn.softmax(np.random.default_rng(1).normal(size=(N, 3)).astype("f4"))
    named, label = {"order": 1, "signal": 1, "background_label": (0, 2)}, np.arange(N) % 3
    same, pullback = jax.vjp(way(lambda p: mode_constraint(p, label, MASS, **named)), three)
    assert (same == three).all()
    (grad,) = pullback(jnp.log(three))
    changed = jnp.abs(grad - jnp.log(three)).max(axis=1)
    assert changed[label != 1].min() > 1e-3 and changed[label == 1].max() < 1e-4


# ------------------------------------------------------- bad input


@WAYS
def test_a_batch_without_background_adds_nothing_and_is_said_once(way):
    signal, step = np.ones(N), stepping(way)
    _, state = step(SCORE, LABEL, MASS, None, State())
    with pytest.warns(RuntimeWarning, match="mode_constraint gives a batch no gradient of MoDe: no event") as caught:
        for _ in range(3):
            found, after = step(SCORE, signal, MASS, None, state)
            assert_close(found, jax.grad(entropy)(SCORE, signal), rtol=1e-7)
    assert len(caught) == 1
    jax.tree.map(np.testing.assert_array_equal, state, after)


@WAYS
def test_bad_batches_of_one_training_do_not_count_in_another(way):
    with pytest.warns(RuntimeWarning, match="mode_constraint gives a batch no gradient of MoDe"):
        for training in range(3):
            step = stepping(way)
            for _ in range(9):
                found, state = step(SCORE, np.ones(N), MASS, None, State())
                jax.block_until_ready(found)
            assert state.steps == 0, training
    for _ in range(2):  # a later training says it again
        with pytest.warns(RuntimeWarning, match="mode_constraint gives a batch no gradient of MoDe"):
            jax.block_until_ready(step(SCORE, np.ones(N), MASS, None, State()))
    with pytest.raises(jax.errors.JaxRuntimeError if way is jax.jit else BatchError, match="on_bad_batch='skip' gives"):
        jax.block_until_ready(stepping(way, on_bad_batch="raise")(SCORE, np.ones(N), MASS, None, State()))


def test_logits_that_look_like_scores_are_said_of_a_training_not_of_the_process():
    """By the steps of its state; equal arguments had made it one object."""
    step = stepping(from_logits=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            step(SCORE, LABEL, MASS, None, State())
    with pytest.warns(TrainingWarning, match="all predictions of 20 batches are from 0 to 1"):
        step(SCORE, LABEL, MASS, None, begun(19))


def test_bad_scores_are_an_error():
    score = np.where(np.arange(N) == 16, np.nan, SCORE)
    with pytest.raises(ValueError, match=r"^score\[16\] = NaN: every score of a selected event must be finite"):
        gradient()(score, LABEL, MASS)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"score\[16\] = NaN"):
        jax.block_until_ready(gradient(jax.jit)(score, LABEL, MASS))
    with pytest.raises(ValueError, match=r"score\[16\] = NaN.* \(in training step 3\)"):
        gradient(loss=lambda s, y: entropy(s[0], y), state=begun(3))(score, LABEL, MASS)


BAD = [
    (r"tolerance = 1000 and state = None.*State", {"tolerance": 1000}),
    (r"state is tuple: give libmode.jax.State\(\)", {"state": (0.0,)}),
    (r"unknown option 'orders'", {"orders": 1}),
    (r"on_bad_batch = 'pass'", {"on_bad_batch": "pass"}),
    (r"category has dtype float..: expected integers", {"category": np.ones(N)}),
    (r"state.sums has shape \(7430,\): expected \(3715,\) for 1 background labels", {"state": State.start(2)}),
    (r"\(7430,\) for 2 background labels", {"state": State.start(), "background_label": (0, 1)}),
    (r"score\[16\] = \+Inf: every score", {"score": np.where(np.arange(N) == 16, np.inf, SCORE), "from_logits": True}),
    (r"'weights' of mode_constraint: did you mean weight", {"weights": MASS}),
    (r"reference.mass has length 511, but score has length 512", {"reference": Events(SCORE, None, MASS[1:])}),
    (r"reference.label holds \d+ values, from 0.* are these masses", {"reference": Events(SCORE, MASS, LABEL)}),
    ("of a softmax with a class 2", {"score": np.stack([SCORE, SCORE], 1), "signal": 2}),
    ("background_label = 1 and signal = -1", {"score": np.stack([SCORE, SCORE], 1), "background_label": 1}),
    (r"reference\.score has dtype int", {"reference": Events(SCORE.astype(int), None, MASS)}),
    (r"score\[512\] = NaN.*512 on are reference events", {"reference": Events(SCORE * np.nan, None, MASS)}),
    (r"category and weight have different indexes", {"category": pd.Series(LABEL)[::-1], "weight": pd.Series(MASS)}),
]


@pytest.mark.parametrize("message, arguments", BAD, ids=[message for message, _ in BAD])
def test_bad_arguments(message, arguments):
    with pytest.raises((TypeError, ValueError), match=message):
        others = {name: value for name, value in arguments.items() if name != "score"}
        jax.grad(lambda s: mode_constraint(s, LABEL, MASS, **({"order": 1} | others)).sum())(
            arguments.get("score", SCORE)
        )


# ------------------------------------------------------- state


@pytest.mark.parametrize("variables", [1, 3])
def test_a_state_of_its_final_size_changes_nothing(variables):
    masses = np.stack([MASS**k for k in range(1, variables + 1)], axis=1)
    step = stepping(bins=3, background_label=(0, 1))
    grad, state = step(SCORE, LABEL, masses, None, State())
    other, other_state = step(SCORE, LABEL, masses, None, State.start(labels=2))
    assert (grad == other).all()
    jax.tree.map(np.testing.assert_array_equal, state, other_state)
    again, state = step(SCORE, LABEL, masses, None, state)
    assert (again != grad).any() and state.steps == 2


def test_the_state_in_a_scan():
    step = stepping(tolerance=1e6)
    batches = [events(seed, 4000)[:3] for seed in range(4)]

    def scanned(state, batch):
        grad, after = step(*batch, None, state)
        return after, grad

    stacked = [jnp.stack(arrays) for arrays in zip(*batches, strict=True)]
    state, grads = jax.jit(lambda stacked: jax.lax.scan(scanned, State.start(), stacked))(stacked)
    want = State()
    for batch, grad in zip(batches, grads, strict=True):
        alone, want = step(*batch, None, want)
        assert_close(grad, alone, rtol=1e-6)
    assert_same(state, want)
    with pytest.raises(TypeError, match="carry"):  # a sum of no length yet
        jax.lax.scan(scanned, State(), stacked)


def test_a_state_says_whether_the_response_is_flat():
    rng = np.random.default_rng(1)
    for bend, flat in ((0.0, True), (1.5, False)):
        state = State.start()
        for _ in range(40):
            mass, label = rng.random(1000), rng.integers(0, 2, 1000)
            score = 1 / (1 + np.exp(-rng.normal(size=1000) - bend * np.sin(6 * mass)))

            def loss(score, state, mass=mass, label=label):
                same, state = mode_constraint(score, label, mass, order=1, state=state)
                return same.sum(), state

            _, state = jax.grad(loss, has_aux=True)(score, state)
        found = state.convergence(training_events=20_000)
        assert found.flat is flat and found.batches == 40


def test_the_law_of_the_outgoing_gradient():
    def outgoing(incoming, rows, size):
        kept = jnp.float32(size), jnp.array(rows, jnp.float32)
        return _backward(None, kept, (jnp.array(incoming, jnp.float32),))[0]

    assert_law(outgoing)
