"""libmode.jax.mode_constraint: the gradients and states of the core, under jit, vmap and scan."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from core_layer import N, assert_close, by_the_core, events
from law import Core
from libmode import BatchError
from libmode.jax import Events, State, mode_constraint

WAYS = pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
SCORE, LABEL, MASS, WEIGHT = events()
ODDS = np.log(SCORE / (1 - SCORE))


def entropy(score, label):
    return -jnp.mean(jnp.where(label == 1, jnp.log(score), jnp.log1p(-score)))


def of_logit(logit, label):
    return entropy(jax.nn.sigmoid(logit), label)


def gradient(way=lambda f: f, loss=entropy, **arguments):
    """Of a loss after the layer, as a function of score, label, mass and weight."""
    options = {"order": 1} | arguments
    return way(
        jax.grad(lambda score, label, mass, *more: loss(mode_constraint(score, label, mass, *more, **options), label))
    )


def stepping(way=jax.jit, loss=entropy, **arguments):
    """The same with a state: a function that also takes the state, and returns the gradient and the next state."""

    def of_constrained(score, label, mass, weight, state, reference=None):
        more = {"state": state, "reference": reference, "order": 1} | arguments
        same, after = mode_constraint(score, label, mass, weight, **more)
        return loss(same, label), after

    return way(jax.grad(of_constrained, has_aux=True))


# Of each: arguments, and arrays that differ from those above.
CASES = {
    "defaults": ({}, {}),
    "bounds": ({"order": 2, "monotonic": True, "strength": 3.0, "floor": 0.5}, {"weight": WEIGHT}),
    "logits": ({"from_logits": True}, {"score": ODDS}),
    "variables": (
        {"bins": 4, "categories": 2, "training_events": 1e4},
        {"mass": np.stack([MASS, MASS**2], axis=1), "category": np.arange(N) // 2 % 2},
    ),
    "float64": ({"background_label": (0, 1)}, {"score": SCORE.astype(float), "mass": MASS.astype(float)}),
    "reference": ({}, {"weight": WEIGHT, "reference": events(1, 2000)}),
}


@WAYS
@pytest.mark.parametrize("name", CASES)
def test_gradients_and_state_are_those_of_the_core(way, name):
    arguments, other = CASES[name]
    given = {"score": SCORE, "label": LABEL, "mass": MASS, "weight": None} | other
    loss, state = of_logit if name == "logits" else entropy, State()
    category, reference = given.pop("category", None), given.pop("reference", None)
    with jax.enable_x64(name == "float64"):
        bare = np.asarray(jax.grad(loss)(jnp.asarray(given["score"]), LABEL))
        want, numbers = by_the_core(bare, **given, category=category, reference=reference, forget=True, **arguments)
        step = stepping(way, loss, category=category, **arguments)
        for theirs in want:
            grad, state = step(*given.values(), state, reference and Events(*reference))
            assert grad.dtype == given["score"].dtype and grad.shape == (N,)
            assert_close(grad, theirs, rtol=1e-12 if name == "float64" else 1e-6)
            assert not np.allclose(grad, bare)
        assert_close(state.numbers, numbers, rtol=1e-12 if name == "float64" else 1e-6)


@WAYS
def test_without_a_state_each_batch_is_the_first(way):
    core = Core(order=1, from_logits=False)
    core.state = None
    want = core(np.asarray(jax.grad(entropy)(SCORE, LABEL)), SCORE, LABEL, MASS, WEIGHT)
    for _ in range(2):
        assert_close(gradient(way)(SCORE, LABEL, MASS, WEIGHT), want, rtol=1e-6)


@WAYS
@pytest.mark.parametrize("shape", [(N,), (N, 1)])
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16], ids=["float32", "bfloat16"])
def test_the_scores_are_unchanged(way, shape, dtype):
    score, mass = jnp.asarray(SCORE, dtype).reshape(shape), jnp.asarray(np.minimum(MASS, 0.6), dtype)
    same, pullback = jax.vjp(way(lambda s: mode_constraint(s, LABEL, mass, order=1, mass_range=(0, 0.6))), score)
    assert same.dtype == dtype and same.shape == shape and (same == score).all()
    (grad,) = pullback(same)
    assert grad.dtype == dtype and grad.shape == shape and jnp.isfinite(grad).all()
    assert (grad != same)[LABEL == 0].mean() > 0.95  # also of masses on the limit, which is rounded to their type


def test_vmap_over_batches_of_equal_size():
    batches = [events(seed) for seed in range(3)]
    grads = jax.jit(jax.vmap(gradient()))(*(jnp.stack(arrays) for arrays in zip(*batches, strict=True)))
    for grad, batch in zip(grads, batches, strict=True):
        assert_close(grad, gradient()(*batch), rtol=1e-6)


@pytest.mark.parametrize("from_logits", [True, False])
def test_outputs_of_a_softmax_get_the_push_of_their_log_odds(from_logits):
    make = (lambda z: z) if from_logits else jax.nn.softmax
    further = events(1, 2000)[:3]
    odds = np.log(further[0] / (1 - further[0]))

    def step_of_two(z, state):
        others = Events(make(jnp.stack([0 * odds, odds], 1)), *further[1:])
        more = {"state": state, "from_logits": from_logits, "reference": others}
        same, after = mode_constraint(make(z), LABEL, MASS, order=1, **more)
        logs = jax.nn.log_softmax(same) if from_logits else jnp.log(same)
        return -jnp.mean(logs[jnp.arange(N), LABEL]), after

    step = stepping(loss=of_logit, from_logits=True)
    want, state = step(ODDS, LABEL, MASS, None, State(), Events(odds, *further[1:]))
    got, after = jax.jit(jax.grad(step_of_two, has_aux=True))(np.stack([0 * ODDS, ODDS], 1), State())
    assert_close(got, np.stack([-want, want], 1), rtol=1e-4)
    assert_close(after.numbers, state.numbers, rtol=1e-3)


# ------------------------------------------------------- bad input


@WAYS
def test_a_batch_without_background_adds_nothing_and_is_said_once(way):
    signal, step = np.ones(N), stepping(way)
    _, state = step(SCORE, LABEL, MASS, None, State())
    with pytest.warns(RuntimeWarning, match="mode_constraint gives a batch no gradient of MoDe: no event") as caught:
        for _ in range(12):
            found, after = step(SCORE, signal, MASS, None, state)
            assert_close(found, jax.grad(entropy)(SCORE, signal), rtol=1e-7)
    assert len({str(one.message) for one in caught}) == 1  # which Python says once
    jax.tree.map(np.testing.assert_array_equal, state, after)
    with pytest.warns(
        RuntimeWarning, match="mode_constraint gives a batch no gradient"
    ):  # a later training says it again
        jax.block_until_ready(step(SCORE, signal, MASS, None, State()))
    with pytest.raises(
        jax.errors.JaxRuntimeError if way is jax.jit else BatchError, match="or give on_bad_batch='skip'"
    ):
        jax.block_until_ready(stepping(way, on_bad_batch="raise")(SCORE, signal, MASS, None, State()))


def test_bad_scores_are_an_error():
    score = np.where(np.arange(N) == 16, np.nan, SCORE)
    with pytest.raises(ValueError, match=r"^score\[16\] = NaN: every score of a selected event must be finite"):
        gradient()(score, LABEL, MASS)
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"score\[16\] = NaN"):
        jax.block_until_ready(gradient(jax.jit)(score, LABEL, MASS))
    state = State()
    for _ in range(3):
        _, state = stepping()(SCORE, LABEL, MASS, None, state)
    with pytest.raises(ValueError, match=r"score\[16\] = NaN.* \(in training step 3\)"):
        stepping(lambda f: f)(score, LABEL, MASS, None, state)


SIZE = len(State.start().numbers)
BAD = [
    (r"state is tuple: give libmode.jax.State\(\)", {"state": (0.0,)}),
    (r"category has dtype float..: expected integers", {"category": np.ones(N)}),
    (rf"state.numbers has shape \({2 * SIZE - 4},\): expected \({SIZE},\) for 1 background", {"state": State.start(2)}),
    (rf"\({2 * SIZE - 4},\) for 2 background labels", {"state": State.start(), "background_label": (0, 1)}),
    (r"reference.mass has length 511, but score has length 512", {"reference": Events(SCORE, None, MASS[1:])}),
    ("of a softmax with a class 2", {"score": np.stack([SCORE, SCORE], 1), "signal": 2}),
    (r"score\[512\] = NaN.*512 on are reference events", {"reference": Events(SCORE * np.nan, None, MASS)}),
    (r"category and weight have different indexes", {"category": pd.Series(LABEL)[::-1], "weight": pd.Series(MASS)}),
]


@pytest.mark.parametrize("message, arguments", BAD, ids=[message for message, _ in BAD])
def test_bad_arguments(message, arguments):
    with pytest.raises((TypeError, ValueError), match=message):
        others = {"order": 1} | {name: value for name, value in arguments.items() if name != "score"}

        def total(score):
            same = mode_constraint(score, LABEL, MASS, **others)
            return (same[0] if "state" in others else same).sum()

        jax.grad(total)(arguments.get("score", SCORE))


# ------------------------------------------------------- state


def test_the_state_in_a_scan():
    step = stepping()
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
    assert_close(state.numbers, want.numbers, rtol=1e-6)
    with pytest.raises(TypeError, match="carry"):  # a state of no length yet
        jax.lax.scan(scanned, State(), stacked)


def test_a_resumed_training_equals_one_that_went_on(tmp_path):
    """With the state from a file."""
    step, went_on, again = stepping(), State(), State()
    for k in range(4):
        if k == 2:
            np.save(tmp_path / "state", again.numbers)
            again = State(np.load(tmp_path / "state.npy"))
        grads, (went_on, again) = zip(*(step(*events(k), state) for state in (went_on, again)), strict=True)
        np.testing.assert_array_equal(*grads)
    np.testing.assert_array_equal(went_on.numbers, again.numbers)
    assert went_on.steps == 4
